"""The file that describes a crawl: its sites, how their pages are loaded, what runs it, and its gate."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from crawler.browser.devices import DEVICES
from crawler.campaign.gate import Bounds
from crawler.campaign.plan import ATTEMPTS_LIMIT, LOADS_LIMIT, TOP_LIMIT
from crawler.worker.claim_loop import DEFAULTS, Limits
from storage.toml_values import read_values


class CrawlFile(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A crawl as its file describes it; without a value for any field, its default."""

    list: Annotated[
        str,
        Meta(
            min_length=1,
            description="Sites: a file, the id of a fetched list, or tranco, crux, umbrella, majestic or "
            "radar for the newest of the month.",
        ),
    ] = "tranco"
    top: Annotated[
        Annotated[int, Meta(ge=1, le=TOP_LIMIT)] | None,
        Meta(description="Sites from the head of the list; without it all."),
    ] = None
    device: Annotated[
        str,
        Meta(description="Screen and User-Agent that sites see.", extra_json_schema={"enum": [*DEVICES]}),
    ] = "desktop"
    vantage: Annotated[
        str,
        Meta(
            pattern=r"\A[a-z0-9][a-z0-9-]{0,31}\Z",
            description="Label of the crawling machine's place, in a-z, 0-9 and -.",
        ),
    ] = "local"
    arm: Annotated[
        Literal["tcp", "quic"],
        Meta(description="Transport: tcp alone, or quic where a site offers HTTP/3."),
    ] = "tcp"
    kind: Annotated[
        Literal["web", "localweb"], Meta(description="The live web, or the bundled web on loopback.")
    ] = "web"
    attempts: Annotated[
        int,
        Meta(
            ge=1,
            le=ATTEMPTS_LIMIT,
            description="Most visits of a site; those that our own network spoilt do not count.",
        ),
    ] = 2
    budget_s: Annotated[float, Meta(ge=1, le=600, description="Time limit of a visit, in seconds.")] = 30.0
    loads: Annotated[
        int,
        Meta(ge=1, le=LOADS_LIMIT, description="Loads of each home page; the first stands for the site."),
    ] = 1
    inner_pages: Annotated[int, Meta(ge=0, le=LOADS_LIMIT, description="Inner pages of each site.")] = 0
    user_agent: Annotated[
        Annotated[str, Meta(pattern=r"\A[!-~]([ -~]{0,498}[!-~])?\Z")] | None,
        Meta(description="User-Agent to send; without it that of plain Chrome."),
    ] = None
    contact_url: Annotated[
        str | None,
        Meta(
            description="Contact page for site owners, put into the User-Agent; without it "
            "FIRSTFLIGHT_CONTACT_URL."
        ),
    ] = None

    browsers: Annotated[int, Meta(ge=1, le=64, description="Browsers of a run side by side.")] = 2
    minutes: Annotated[float, Meta(gt=0, description="Length of a run: no visit begins after it.")] = 30.0
    local_web: Annotated[
        str | None, Meta(description="State file of the local web, where that is crawled.")
    ] = None
    pages_per_browser: Annotated[int, Meta(ge=1, description="Pages after which a browser is replaced.")] = (
        DEFAULTS.pages_per_browser
    )
    browser_memory_mb: Annotated[
        int, Meta(ge=1, description="Memory of one browser's processes, in MB, above which it is replaced.")
    ] = DEFAULTS.browser_memory_mb
    database_retry_s: Annotated[
        float, Meta(ge=0, description="Seconds for which an unreachable database is retried.")
    ] = DEFAULTS.database_retry_s
    unfiltered_egress: Annotated[
        bool,
        Meta(
            description="Run without the address guard: pages reach loopback and private networks. Recorded "
            "with every visit."
        ),
    ] = False

    gate: Annotated[Bounds, Meta(description="Bounds of a crawl that may be sealed.")] = Bounds()

    def __post_init__(self) -> None:
        """Raise ValueError, which names the field."""
        if self.device not in DEVICES:
            raise ValueError(f"device: it is one of {', '.join(DEVICES)}, not {self.device}")
        bounds = {f"gate.{name}": value for name, value in msgspec.structs.asdict(self.gate).items()}
        for name, value in {**msgspec.structs.asdict(self), **bounds}.items():
            if isinstance(value, float) and not math.isfinite(value):  # it passes the comparisons above
                raise ValueError(f"{name}: write a number, not {value}")

    @property
    def limits(self) -> Limits:
        return Limits(
            pages_per_browser=self.pages_per_browser,
            browser_memory_mb=self.browser_memory_mb,
            database_retry_s=self.database_retry_s,
        )


TEXTS = ("list", "device", "vantage", "arm", "kind", "user_agent", "contact_url", "local_web")
"""Fields that are text, whatever they look like."""


def read_crawl_file(path: Path | None, settings: Sequence[str] = ()) -> CrawlFile:
    """Return the file, with NAME=VALUE in place of its values.

    ValueError or msgspec.ValidationError, which names the value; OSError.
    """
    return msgspec.convert(read_values(path, settings, texts=TEXTS), CrawlFile)


def crawl_file_schema() -> dict[str, Any]:
    return {"title": "A crawl of firstflight", **msgspec.json.schema(CrawlFile)}
