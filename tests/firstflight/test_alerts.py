"""Alerts arrive as a POST at a webhook and as mail at a server, and no message has a password."""

import contextlib
import json
import socketserver
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from click.testing import CliRunner, Result

from firstflight.alerts import AlertError, find_place, forward_alerts
from firstflight.checks import check_alerts
from firstflight.main import main
from firstflight.settings import from_environment


@contextlib.contextmanager
def serving(server: socketserver.TCPServer) -> Iterator[int]:
    with server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.socket.getsockname()[1]
        finally:
            server.shutdown()
            thread.join()


class Webhook(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        posted: list[Any] = self.server.posted  # type: ignore[attr-defined]
        posted.append((self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
        self.send_response(404 if "missing" in self.path else 204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


class MailServer(socketserver.StreamRequestHandler):
    """A server that takes one mail, as RFC 5321 has it, without STARTTLS."""

    def handle(self) -> None:
        taken: list[str] = self.server.taken  # type: ignore[attr-defined]
        self.wfile.write(b"220 ready\r\n")
        in_data = False
        for line in self.rfile:
            taken.append(line.decode().rstrip())
            if in_data:
                in_data = line != b".\r\n"
                if in_data:
                    continue
            in_data = line.upper().startswith(b"DATA")
            if line.upper().startswith(b"QUIT"):
                self.wfile.write(b"221 bye\r\n")
                return
            self.wfile.write(b"354 go on\r\n" if in_data else b"250 fine\r\n")


def alert(place: str, *text: str) -> Result:
    return CliRunner().invoke(main, ["alert", *text], env={"FIRSTFLIGHT_ALERTS": place})


def test_a_webhook_gets_the_text_as_json_and_a_test_message_without_one() -> None:
    server = HTTPServer(("127.0.0.1", 0), Webhook)
    server.posted = []  # type: ignore[attr-defined]
    with serving(server) as port:
        sent = alert(f"http://127.0.0.1:{port}/hook?token=secret", "the release is late")
        assert (sent.exit_code, sent.stdout) == (0, "sent to http://127.0.0.1\n")
        assert alert(f"http://127.0.0.1:{port}/hook").exit_code == 0
        refused = alert(f"http://127.0.0.1:{port}/missing?token=secret")
    first, second, _ = server.posted  # type: ignore[attr-defined]
    assert first == ("/hook?token=secret", {"text": "the release is late"})
    assert second[1]["text"].startswith("This is a test message of firstflight on ")
    assert refused.exit_code == 1
    assert refused.stderr == "Error: http://127.0.0.1 did not take the message: status 404\n"


def test_a_mail_goes_to_its_recipient_with_the_text_as_subject_and_body() -> None:
    server = socketserver.TCPServer(("127.0.0.1", 0), MailServer)
    server.taken = []  # type: ignore[attr-defined]
    with serving(server) as port:
        sent = alert(f"smtp://127.0.0.1:{port}/ops@example.org", "the release\nis late")
    assert sent.exit_code == 0, sent.output
    lines: list[str] = server.taken  # type: ignore[attr-defined]
    assert any(line.lower().startswith("rcpt to:<ops@example.org>") for line in lines)
    assert "Subject: firstflight: the release is late" in lines
    assert lines[lines.index("") + 1 :][:2] == ["the release", "is late"]


def test_a_place_that_does_not_answer_is_one_line_without_its_password() -> None:
    for scheme in ("http", "https", "smtp", "smtps"):
        user = "user:secret@" if "smtp" in scheme else ""
        failed = alert(f"{scheme}://{user}127.0.0.1:9/ops@example.org?token=secret")
        assert failed.exit_code == 1
        assert failed.stderr.startswith(f"Error: {scheme}://127.0.0.1 did not take the message: ")
        assert failed.stderr.count("\n") == 1
        assert "secret" not in failed.stderr


@pytest.mark.parametrize(
    "place",
    [
        "chat.example/hook",
        "ftp://chat.example/",
        "https:///hook",
        "http://chat.example:0/",
        "https://user:secret@chat.example/",
        "http://chat.example:no/",
        "smtp://mail.example/",
        "smtp://mail.example/a@b.test%0aBcc:c@d.test",
    ],
)
def test_what_is_no_place_is_one_line_without_the_url(place: str) -> None:
    with pytest.raises(AlertError, match="FIRSTFLIGHT_ALERTS") as told:
        find_place(place)
    assert place not in str(told.value)


def test_doctor_says_when_alerts_go_nowhere_and_where_they_go(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.delenv("FIRSTFLIGHT_ALERTS", raising=False)
    nowhere = check_alerts(from_environment())
    assert (nowhere.state, nowhere.found) == ("warning", "go nowhere")
    (tmp_path / "alerts").write_text("https://chat.example/hook?token=secret\n")
    monkeypatch.setenv("FIRSTFLIGHT_ALERTS_FILE", str(tmp_path / "alerts"))
    somewhere = check_alerts(from_environment())
    assert (somewhere.state, somewhere.found) == ("ok", "go to https://chat.example")
    monkeypatch.setenv("FIRSTFLIGHT_ALERTS", "chat.example")
    assert check_alerts(from_environment()).state == "warning"
    monkeypatch.delenv("FIRSTFLIGHT_ALERTS")
    (tmp_path / "alerts").write_text("")
    assert check_alerts(from_environment()).found == "go nowhere"


class Prometheus(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        answers: list[bytes] = self.server.answers  # type: ignore[attr-defined]
        body = answers.pop(0) if len(answers) > 1 else answers[0]
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def alerts_of(*alerts: tuple[str, str]) -> bytes:
    found = [
        {"labels": {"alertname": name}, "annotations": {"summary": f"{name} is bad."}, "state": state}
        for name, state in alerts
    ]
    return json.dumps({"status": "success", "data": {"alerts": found}}).encode()


def test_an_alert_of_prometheus_is_sent_once_while_it_fires_and_again_when_it_fires_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("firstflight.alerts.EVERY_S", 0.01)
    prometheus, hook = HTTPServer(("127.0.0.1", 0), Prometheus), HTTPServer(("127.0.0.1", 0), Webhook)
    disk, month = ("Disk", "firing"), ("Month", "firing")
    prometheus.answers = [  # type: ignore[attr-defined]
        alerts_of(("Disk", "pending")),
        alerts_of(disk),
        b"not json",
        alerts_of(disk, month),
        alerts_of(month),
        alerts_of(disk, month),
    ]
    hook.posted = []  # type: ignore[attr-defined]
    stop = threading.Event()
    with serving(prometheus) as port, serving(hook) as hook_port:
        place = find_place(f"http://127.0.0.1:{hook_port}/hook")
        forwarding = threading.Thread(target=forward_alerts, args=(place, f"http://127.0.0.1:{port}", stop))
        forwarding.start()
        posted: list[Any] = hook.posted  # type: ignore[attr-defined]
        deadline = time.monotonic() + 60
        while len(posted) < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.2)  # for a message that should not be
        stop.set()
        forwarding.join()
    assert [body["text"] for _, body in posted] == [
        "Disk: Disk is bad.",
        "Month: Month is bad.",
        "Disk: Disk is bad.",
    ]
    assert "names no alerts" in capsys.readouterr().err
