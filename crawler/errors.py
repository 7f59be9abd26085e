"""
Errors of the crawler:

* CrawlerError
  + BrowserError            the browser, not the page, is at fault
    - BrowserMissing        there is no Chromium, or it does not start
      . LaunchFailed        Chromium or Playwright's driver did not start; a second launch may succeed
    - BrowserDied           the browser must be replaced (crawler/visit/attempt.py)
  + BoxUnavailable          no box can be made for browsers on this machine
  + EgressUnavailable       the address guard cannot be set up on this machine, or it is not whole
    - GuardEnded            the guard process ended or does not answer: the guard cannot be mended
  + VisitError              the visit did not end well
    - NavigationError       the page never answered
      . DNSError
      . ConnectError
      . TLSError
      . RedirectLoop
      . BadResponse
      . AddressBlocked      the address guard refused the site's address
      . NavigationAborted   a download, a detached frame, or a scheme that the browser does not load
    - VisitTimeout          the budget ran out
    - NetworkChanged        this machine's network changed, and the browser dropped its connections
    - PageCrashed           the renderer died; the browser must be replaced

A visit that ends in a VisitError is still a row: its `outcome` is stored, not lost.
"""

from typing import ClassVar


class CrawlerError(Exception):
    """Base of the crawler's errors."""


class BrowserError(CrawlerError):
    """The browser, not the page, is at fault."""


class BrowserMissing(BrowserError):
    """Chromium is missing or does not start: this machine can crawl nothing."""


class LaunchFailed(BrowserMissing):
    """Chromium is installed and did not start: it was killed, ran out of memory, or is broken."""


class BoxUnavailable(CrawlerError):
    """No box can be made: a compromised browser could reach the crawler's files and processes."""


class EgressUnavailable(CrawlerError):
    """The address guard is missing or not whole: pages could reach refused addresses, or none at all."""


class GuardEnded(EgressUnavailable):
    """The guard process ended or does not answer; browsers can no longer reach anything."""

    def __init__(self, message: str = "the address guard ended under the crawl: run it again") -> None:
        super().__init__(message)


class VisitError(CrawlerError):
    """A visit did not end well; the message is the browser's own error."""

    outcome: ClassVar[str]
    """Id in schema.vocabulary.OUTCOMES."""


class NavigationError(VisitError):
    """The page never answered."""


class DNSError(NavigationError):
    """The host name did not resolve."""

    outcome = "dns"


class ConnectError(NavigationError):
    """No TCP connection was made, or it was reset before an answer."""

    outcome = "connect"


class TLSError(NavigationError):
    """The TLS handshake failed, or the certificate was refused."""

    outcome = "tls"


class RedirectLoop(NavigationError):
    """The browser gave up following redirects."""

    outcome = "redirect_loop"


class BadResponse(NavigationError):
    """The bytes that arrived are no HTTP response, or the connection closed before any arrived."""

    outcome = "bad_response"


class AddressBlocked(NavigationError):
    """The address guard, not the network, refused the site's address."""

    outcome = "blocked"


class NavigationAborted(NavigationError):
    """The browser gave up the navigation."""

    outcome = "aborted"


class VisitTimeout(VisitError):
    """The budget ran out."""

    outcome = "timeout"


class NetworkChanged(VisitError):
    """A network interface of this machine appeared or vanished; the page is not at fault."""

    outcome = "network_changed"


class PageCrashed(VisitError):
    """The renderer died."""

    outcome = "crash"
