"""`.env.example` beside the files of the stack that read it."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]

WRITTEN_BY_SCRIPTS = {"COMMIT", "FIRSTFLIGHT_HOST_NETWORKS"}
"""Variables that scripts/up sets, and nobody else."""

READ_ELSEWHERE = {"COMPOSE_FILE", "FIRSTFLIGHT_ALERTS", "FIRSTFLIGHT_RADAR_TOKEN"}
"""Variables that compose itself reads, and those that docker/secrets takes out of the settings."""


def test_it_has_every_variable_of_the_stack_with_the_default_that_the_stack_has() -> None:
    stack = "".join((ROOT / name).read_text() for name in ("docker-compose.yml", "docker/tls.yml"))
    defaults = dict(re.findall(r"\$\{([A-Z0-9_]+):?-([^}$]*)\}", stack))
    names = set(re.findall(r"\$\{([A-Z0-9_]+)", stack)) - WRITTEN_BY_SCRIPTS
    example = dict(re.findall(r"^#([A-Z0-9_]+)=(.*)$", (ROOT / ".env.example").read_text(), re.MULTILINE))
    assert names - example.keys() == set()
    assert example.keys() - names == READ_ELSEWHERE
    sized = {name for name in names if re.search("ADDRESS|MEMORY|CPUS|PIDS|TIMEOUT|WORKER|PARALLEL", name)}
    assert {name: example[name] for name in sized} == {name: defaults[name] for name in sized}
