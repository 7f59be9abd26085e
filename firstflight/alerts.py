"""Sends messages to the operator, by mail or to a webhook, and what Prometheus warns of.

Where they go is one URL: `https://chat.example/hook?token=x` gets a POST with JSON that has a `text`;
`smtp://user:password@mail.example:587/ops@example.org` is a server that takes mail, and whom it is for, with
STARTTLS where the server has it; `smtps:` is the same by TLS from the beginning.
"""

import dataclasses
import email.message
import email.utils
import http.client
import json
import smtplib
import socket
import ssl
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request

WITHIN_S = 30.0

SUBJECT_CHARACTERS = 100

EVERY_S = 60.0
"""Interval of requests to Prometheus, in seconds: the interval in which it evaluates its rules."""

FORMS = "https://HOST/PATH, or smtp://USER:PASSWORD@HOST:PORT/NAME@EXAMPLE.ORG"


class AlertError(Exception):
    """Alerts cannot go to the URL, or the message was refused; the text has no password."""


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """A destination of alerts."""

    url: urllib.parse.SplitResult

    @property
    def name(self) -> str:
        return f"{self.url.scheme}://{self.url.hostname}"

    @property
    def recipient(self) -> str:
        return urllib.parse.unquote(self.url.path.lstrip("/"))

    def send(self, text: str) -> None:
        """Send a message; AlertError if it is not taken within half a minute."""
        try:
            if self.url.scheme.startswith("smtp"):
                self._mail(text)
            else:
                self._post(text)
        except urllib.error.HTTPError as exc:
            exc.close()
            raise AlertError(f"{self.name} did not take the message: status {exc.code}") from exc
        except (OSError, http.client.HTTPException, smtplib.SMTPException) as exc:
            reason = getattr(exc, "reason", None) or exc
            raise AlertError(f"{self.name} did not take the message: {reason}") from exc

    def _post(self, text: str) -> None:
        body = json.dumps({"text": text}).encode()
        headers = {"Content-Type": "application/json", "User-Agent": "firstflight"}
        request = urllib.request.Request(self.url.geturl(), body, headers)  # noqa: S310  # checked by find_place
        urllib.request.urlopen(request, timeout=WITHIN_S).close()  # noqa: S310

    def _mail(self, text: str) -> None:
        message = email.message.EmailMessage()
        message["Subject"] = f"firstflight: {' '.join(text.split())[:SUBJECT_CHARACTERS]}"
        message["From"] = f"firstflight <{self.recipient}>"
        message["To"] = self.recipient
        message["Date"] = email.utils.localtime()
        message["Message-ID"] = email.utils.make_msgid(domain=socket.gethostname() or None)
        message.set_content(text)
        assert self.url.hostname is not None
        context = ssl.create_default_context()
        if self.url.scheme == "smtps":
            server: smtplib.SMTP = smtplib.SMTP_SSL(
                self.url.hostname, self.url.port or 465, timeout=WITHIN_S, context=context
            )
        else:
            server = smtplib.SMTP(self.url.hostname, self.url.port or 587, timeout=WITHIN_S)
        with server:
            if self.url.scheme == "smtp":
                server.ehlo_or_helo_if_needed()
                if server.has_extn("starttls"):
                    server.starttls(context=context)
            if self.url.username:
                user, password = self.url.username, self.url.password or ""
                server.login(urllib.parse.unquote(user), urllib.parse.unquote(password))
            server.send_message(message)


def find_place(url: str) -> Place:
    """Return the destination that a URL names; AlertError, which does not repeat the URL, if none."""
    try:
        place = Place(urllib.parse.urlsplit(url))
        port = place.url.port
    except ValueError as exc:
        raise AlertError(f"FIRSTFLIGHT_ALERTS is no URL: write {FORMS}") from exc
    is_mail = place.url.scheme in ("smtp", "smtps")
    if (
        place.url.scheme not in ("http", "https", "smtp", "smtps")
        or not place.url.hostname
        or port == 0
        or (place.url.username is not None and not is_mail)
    ):
        raise AlertError(f"FIRSTFLIGHT_ALERTS names no place that alerts can go to: write {FORMS}")
    if is_mail and ("@" not in place.recipient or any(character.isspace() for character in place.recipient)):
        raise AlertError(f"FIRSTFLIGHT_ALERTS names nobody whom the mail is for: write {FORMS}")
    return place


def forward_alerts(place: Place, prometheus: str, stop: threading.Event) -> None:
    """Send each alert of a Prometheus once, as long as it fires, until `stop` is set.

    One that could not be sent is sent at the next look; standard error says why.
    """
    sent: set[frozenset[tuple[str, str]]] = set()
    while not stop.wait(EVERY_S):
        try:
            firing = list_firing(prometheus)
            for labels in sorted(firing.keys() - sent, key=sorted):
                place.send(firing[labels])
                sent.add(labels)
            sent &= firing.keys()
        except AlertError as exc:
            print(exc, file=sys.stderr)


def list_firing(prometheus: str) -> dict[frozenset[tuple[str, str]], str]:
    """Return the summary of each firing alert, by its labels; AlertError without an answer."""
    try:
        with urllib.request.urlopen(f"{prometheus.rstrip('/')}/api/v1/alerts", timeout=WITHIN_S) as answer:  # noqa: S310  # the operator's own
            alerts = json.load(answer)["data"]["alerts"]
        return {
            frozenset(
                alert["labels"].items()
            ): f"{alert['labels']['alertname']}: {alert['annotations']['summary']}"
            for alert in alerts
            if alert["state"] == "firing"
        }
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError, AttributeError) as exc:
        raise AlertError(f"{prometheus} names no alerts: {exc or type(exc).__name__}") from exc
