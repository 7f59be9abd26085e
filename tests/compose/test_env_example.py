"""`.env.example` beside the files of the stack that read it."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]

FILES = ("docker-compose.yml", "docker/machine.yml", "docker/shared.yml", "docker/tls.yml")

WRITTEN_BY_SCRIPTS = {"COMMIT", "FIRSTFLIGHT_HOST_NETWORKS"}

READ_ELSEWHERE = {"COMPOSE_FILE", "FIRSTFLIGHT_ALERTS", "FIRSTFLIGHT_RADAR_TOKEN"}
"""Variables that compose itself reads, and those that docker/secrets takes out of the settings."""

WITHOUT_DEFAULT = {"STACK_ADDRESS"}
"""Variables that whoever takes their file must set."""


def test_it_has_every_variable_of_the_stack_with_the_default_that_the_stack_has() -> None:
    stack = "".join((ROOT / name).read_text() for name in FILES)
    defaults = dict(re.findall(r"\$\{([A-Z0-9_]+):?-([^}$]*)\}", stack))
    names = set(re.findall(r"\$\{([A-Z0-9_]+)", stack)) - WRITTEN_BY_SCRIPTS
    example = dict(re.findall(r"^#([A-Z0-9_]+)=(.*)$", (ROOT / ".env.example").read_text(), re.MULTILINE))
    assert names - example.keys() == set()
    assert example.keys() - names == READ_ELSEWHERE
    sizing = names - WITHOUT_DEFAULT
    sized = {name for name in sizing if re.search("ADDRESS|MEMORY|CPUS|PIDS|TIMEOUT|WORKER|PARALLEL", name)}
    assert {name: example[name] for name in sized} == {name: defaults[name] for name in sized}
