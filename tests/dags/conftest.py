"""Airflow in its own environment, its metadata in PostgreSQL."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

DAGS = Path(__file__).parents[2] / "dags"
# Beside ours, wherever that is: scripts/environment says where.
AIRFLOW_PYTHON = Path(sys.prefix).with_name(".venv-dags") / "bin/python"

InAirflow = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def airflow(embedded_server: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of an Airflow whose metadata lie in PostgreSQL, migrated; our data lie beside them."""
    folder = tmp_path_factory.mktemp("airflow")
    with psycopg.connect(embedded_server, autocommit=True) as connection:
        for name in ("dag_airflow", "dag_firstflight"):
            connection.execute(f"CREATE DATABASE {name}".encode())
    ours, theirs = (
        make_url(embedded_server).set(database=f"dag_{name}") for name in ("firstflight", "airflow")
    )
    metadata = theirs.set(drivername="postgresql+psycopg").render_as_string(hide_password=False)
    environment = {
        **os.environ,
        "AIRFLOW_HOME": str(folder),
        "AIRFLOW__CORE__DAGS_FOLDER": str(DAGS),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": metadata,
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN_ASYNC": metadata,
        "FIRSTFLIGHT_BIN": str(Path(sys.executable).with_name("firstflight")),
        "FIRSTFLIGHT_DATA_DIR": str(folder / "data"),
        "FIRSTFLIGHT_DATABASE_URL": ours.render_as_string(hide_password=False),
    }
    call = [str(AIRFLOW_PYTHON), "-m", "airflow", "db", "migrate"]
    migrated = subprocess.run(call, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert migrated.returncode == 0, migrated.stderr[-4000:]
    return environment


@pytest.fixture(scope="session")
def in_airflow(airflow: dict[str, str]) -> InAirflow:
    """Runs a script with Airflow's Python; its first argument is the folder of DAGs."""

    def run(script: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [AIRFLOW_PYTHON, "-c", script, str(DAGS), *arguments],
            env=airflow,
            capture_output=True,
            text=True,
            timeout=1500,
            check=False,
        )

    return run
