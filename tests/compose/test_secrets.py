"""docker/secrets: values that the operator keeps, and files that containers read."""

import configparser
import re
import stat
import subprocess
from pathlib import Path

import psycopg.conninfo
import yaml
from psycopg import pq

ROOT = Path(__file__).parents[2]

BEFORE = """COMPOSE_PROFILES=s3
POSTGRES_PASSWORD=old-postgres
AIRFLOW_FERNET_KEY='b2xkIGtleQ=='
AWS_ACCESS_KEY_ID=AKIA1
AWS_SECRET_ACCESS_KEY=abc/def
FIRSTFLIGHT_WEBHOOK_URL=https://chat.example/hook?token=x
FIRSTFLIGHT_LANES=3
"""
"""Settings of a stack from before secrets were files."""


def make(folder: Path, *options: str | Path) -> str:
    call = [ROOT / "docker/secrets", folder, *options]
    return subprocess.run(call, check=True, capture_output=True, text=True).stderr


def contents(folder: Path) -> dict[str, str]:
    return {str(file.relative_to(folder)): file.read_text() for file in folder.rglob("*") if file.is_file()}


def test_every_secret_that_compose_mounts_is_made(tmp_path: Path) -> None:
    make(tmp_path / "secrets")
    declared = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["secrets"]
    files = {secret["file"].replace("${FIRSTFLIGHT_SECRETS:-./secrets}/", "") for secret in declared.values()}
    made = contents(tmp_path / "secrets")
    assert files == {name for name in made if name.startswith("mounted/")}
    optional = {"mounted/10001/alerts", "mounted/10001/radar_token", "mounted/10001/signing_key"}
    assert all(made[name] for name in files - optional)


def test_the_operators_signing_key_is_mounted_as_it_is(tmp_path: Path) -> None:
    make(tmp_path)
    (tmp_path / "values/signing_key").write_text("-----BEGIN\nkey\n-----END\n")
    make(tmp_path)
    assert (tmp_path / "mounted/10001/signing_key").read_text() == "-----BEGIN\nkey\n-----END\n"


def test_folders_are_the_operators_alone_and_no_file_can_be_written_to_by_its_reader(tmp_path: Path) -> None:
    make(tmp_path / "secrets")
    for path in [tmp_path / "secrets", *(tmp_path / "secrets").rglob("*")]:
        mode = stat.S_IMODE(path.stat().st_mode)
        mounted = path.is_file() and "mounted" in path.parts
        assert mode == (0o700 if path.is_dir() else 0o400 if mounted else 0o600), path


def test_values_stay_when_it_is_run_again(tmp_path: Path) -> None:
    make(tmp_path)
    first = contents(tmp_path)
    make(tmp_path)
    assert contents(tmp_path) == first


def test_values_differ_from_each_other_and_from_folder_to_folder(tmp_path: Path) -> None:
    make(tmp_path / "one")
    make(tmp_path / "two")
    drawn = [
        value
        for folder in ("one", "two")
        for name, value in contents(tmp_path / folder / "values").items()
        if name not in ("aws_credentials", "signing_key", "alerts", "radar_token")
    ]
    assert len(set(drawn)) == len(drawn) == 18
    assert all(len(value.strip()) >= 44 for value in drawn)


def test_secrets_of_a_stack_from_before_are_taken_over_and_leave_its_settings(tmp_path: Path) -> None:
    settings = tmp_path / ".env"
    settings.write_text(BEFORE)
    said = make(tmp_path / "secrets", "--from", settings)
    assert settings.read_text() == "COMPOSE_PROFILES=s3\nFIRSTFLIGHT_LANES=3\n"
    made = contents(tmp_path / "secrets")
    assert made["mounted/999/postgres_password"] == "old-postgres"
    assert made["mounted/10001/airflow_fernet_key"] == "b2xkIGtleQ=="
    assert made["mounted/10001/alerts"] == "https://chat.example/hook?token=x"
    credentials = configparser.ConfigParser()
    credentials.read_string(made["mounted/10001/aws_credentials"])
    assert dict(credentials["default"]) == {"aws_access_key_id": "AKIA1", "aws_secret_access_key": "abc/def"}
    assert said == f"the secrets of {settings} are now in {tmp_path}/secrets/values\n"
    assert make(tmp_path / "secrets", "--from", settings) == ""


def test_where_alerts_go_is_taken_out_of_the_settings_whenever_it_stands_there(tmp_path: Path) -> None:
    settings, secrets = tmp_path / ".env", tmp_path / "secrets"
    make(secrets)
    (secrets / "values/alerts").unlink()
    (secrets / "values/webhook_url").write_text("https://chat.example/before\n")
    make(secrets, "--from", settings)
    assert contents(secrets)["mounted/10001/alerts"] == "https://chat.example/before"
    settings.write_text("FIRSTFLIGHT_ALERTS=https://chat.example/new\nLIST=crux\n")
    for _ in range(2):
        make(secrets, "--from", settings)
        made = contents(secrets)
        assert made["mounted/10001/alerts"] == "https://chat.example/new"
        assert "values/webhook_url" not in made
        assert settings.read_text() == "LIST=crux\n"


def test_a_stack_s_own_store_is_written_to_with_its_own_key(tmp_path: Path) -> None:
    make(tmp_path)
    made = contents(tmp_path / "mounted")
    assert f"aws_secret_access_key = {made['0/s3_secret_key']}\n" in made["10001/aws_credentials"]


def test_libpq_finds_each_role_s_password_for_the_urls_in_compose(tmp_path: Path) -> None:
    (tmp_path / "values").mkdir()
    (tmp_path / "values/airflow_database_password").write_text("one:of\\the operator's own\n")
    make(tmp_path)
    text = (ROOT / "docker-compose.yml").read_text()
    urls = {url.replace("+psycopg", "") for url in re.findall(r"postgresql\S*://\w+@postgres/\w+", text)}
    assert len(urls) == 2
    for url in urls:
        wanted = psycopg.conninfo.conninfo_to_dict(url)
        # A server that is not there: what libpq would have sent it is known before.
        text = psycopg.conninfo.make_conninfo(
            url, host="127.0.0.1", port="1", passfile=str(tmp_path / "mounted/10001/pgpass_tasks")
        )
        connection = pq.PGconn.connect_start(text.encode())
        assert (
            connection.password.decode()
            == contents(tmp_path / "mounted/999")[f"{wanted['user']}_database_password"]
        )
        connection.finish()


def test_an_option_that_it_does_not_know_makes_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [ROOT / "docker/secrets", tmp_path / "secrets", "--give-away", "x"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "unknown option --give-away" in done.stderr
    assert not (tmp_path / "secrets").exists()
