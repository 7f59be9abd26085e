"""
What can go wrong in the crawler:

* CrawlerError
  + BrowserError            the machine's side
    - BrowserMissing        there is no Chromium, or it does not start
      . LaunchFailed        it did not start, or its driver did not; a second try may do better
    - BrowserDied           it is gone and must be replaced; carries what the visit had seen
  + BoxUnavailable          no box can be made for browsers on this machine
  + EgressUnavailable       the address guard cannot be set up on this machine, or it is not whole
    - GuardEnded            its process ended or does not answer: it cannot be mended
  + VisitError              the page's side: how a visit ended
    - NavigationError       the page never answered
      . DNSError
      . ConnectError
      . TLSError
      . RedirectLoop
      . BadResponse
      . AddressBlocked      the address guard refused the site's address
      . NavigationAborted   a download, a frame detached, a scheme that leads elsewhere
    - VisitTimeout          the budget ran out
    - NetworkChanged        our own network did, and the browser dropped what it was doing
    - PageCrashed           the renderer died; the browser must be replaced

A visit that ends in a VisitError is still a row: its `outcome` is stored, not lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from crawler.visit.observation import Observation


class CrawlerError(Exception):
    """Anything below."""


class BrowserError(CrawlerError):
    """The browser, not the page, is at fault."""


class BrowserMissing(BrowserError):
    """Chromium is not there or does not start: nothing can be crawled on this machine."""


class LaunchFailed(BrowserMissing):
    """Chromium is there and did not start: killed, out of memory, or broken for good."""


class BrowserDied(BrowserError):
    """The browser must be replaced; `observation` is the visit that it died on."""

    def __init__(self, message: str, observation: Observation) -> None:
        super().__init__(message)
        self.observation = observation


class BoxUnavailable(CrawlerError):
    """A browser that is taken over would have the crawler's files and processes before it."""


class EgressUnavailable(CrawlerError):
    """Browsers would reach addresses that no page may reach, or would reach nothing."""


class GuardEnded(EgressUnavailable):
    """The process that holds the address guard ended or does not answer; browsers reach nothing any more."""

    def __init__(self, said: str = "the address guard ended under the crawl: run it again") -> None:
        super().__init__(said)


class VisitError(CrawlerError):
    """A visit that did not end well; its text is the browser's own error."""

    outcome: ClassVar[str]
    """Id in schema.vocabulary.OUTCOMES."""


class NavigationError(VisitError):
    """The page never answered."""


class DNSError(NavigationError):
    """The host name did not resolve."""

    outcome = "dns"


class ConnectError(NavigationError):
    """No TCP connection, or one that was reset before an answer."""

    outcome = "connect"


class TLSError(NavigationError):
    """The TLS handshake failed, or the certificate was refused."""

    outcome = "tls"


class RedirectLoop(NavigationError):
    """The browser gave up following redirects."""

    outcome = "redirect_loop"


class BadResponse(NavigationError):
    """What arrived is no HTTP response, or nothing arrived before the connection closed."""

    outcome = "bad_response"


class AddressBlocked(NavigationError):
    """The address guard refused the site's address: we, not the network."""

    outcome = "blocked"


class NavigationAborted(NavigationError):
    """The browser gave the navigation up."""

    outcome = "aborted"


class VisitTimeout(VisitError):
    """The budget ran out."""

    outcome = "timeout"


class NetworkChanged(VisitError):
    """An interface of this machine came or went: nothing that the page did."""

    outcome = "network_changed"


class PageCrashed(VisitError):
    """The renderer died."""

    outcome = "crash"
