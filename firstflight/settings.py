"""Settings: folders, database and keys, read once from the environment."""

import dataclasses
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from schema.authors import Author
from storage.signatures import Signer

if TYPE_CHECKING:
    from crawler.sites.fetch import Shelf


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """Settings of one run of the command line."""

    data_dir: Path
    """Database, releases, replays and reports."""
    cache_dir: Path
    """Folder of files that can be made again: the guest kernel, bodies of the local web."""
    database_url: str | None
    """A PostgreSQL server; None for the embedded one in the data folder."""
    chromium: Path
    commit: str | None = None
    """The commit of the code in an image, which has no git."""
    contact_url: str | None = None
    """URL in the User-Agent at which the owner of a crawled site can ask."""
    contact_email: str | None = None
    """Email address, shown on the page about the crawler, for owners who want their site left out."""

    public_base_url: str = ""
    """Base of the service's links; if empty, links are paths."""
    trusted_hosts: tuple[str, ...] = ()
    """Host names that requests may have besides the base URL's; any name if neither is set."""

    trusted_proxies: tuple[str, ...] = ()
    """Addresses and networks of proxies in front of the service, whose X-Forwarded-For names the client."""

    has_lab: bool = False
    """True if the service replays pages that its readers give (/lab)."""

    bar_file: Path | None = None
    """File for a command's progress, in place of a bar on a terminal."""

    canaries: str | None = None
    """Ids and URLs of canaries, comma-separated; None for the default ones (crawler.control.canaries)."""

    resolvers: str | None = None
    """Ids and addresses of second resolvers, comma-separated; None for the default ones
    (crawler.control.resolvers)."""

    list_mirror: str | None = None
    """Address of a server that has the public lists of sites in place of their own servers."""

    radar_token: str | None = None
    """Token of Cloudflare's API, for Radar's list of sites."""

    alerts: str | None = None
    """URL that alerts are sent to (firstflight.alerts)."""

    publish_url: str | None = None
    """URL of the store to which releases are published."""

    signing_key: Path | None = None
    """The private key that signs new releases, replays and reports; None to sign nothing."""

    citation: Path | None = None
    """CITATION.cff whose authors new releases have; None if these are the maintainers of firstflight."""

    signers: Path | None = None
    """The list of allowed signers; None for the one in the data folder."""

    @property
    def allowed_signers(self) -> Path:
        """List of allowed signers, in the format of ssh-keygen(1)."""
        return self.signers or self.data_dir / "allowed_signers"

    @property
    def signer(self) -> Signer | None:
        if self.signing_key is None:
            return None
        return Signer(key=self.signing_key, allowed_signers=self.allowed_signers)

    def check_signer(self) -> None:
        if self.signer is not None:
            self.signer.check()

    @property
    def authors(self) -> tuple[Author, ...]:
        """Authors of new releases; empty without a CITATION.cff; ReleaseError if it cannot be used."""
        # Imported here: `doctor` reads the settings where a library is missing.
        from releases.citation.authors import authors_in

        return () if self.citation is None else authors_in(self.citation)

    blocked_networks: str = ""
    """Networks that pages must not reach besides the built-in ones, as the operator wrote them."""

    @property
    def releases(self) -> Path:
        return self.data_dir / "releases"

    @property
    def outside(self) -> Path:
        return self.data_dir / "outside"

    @property
    def lists(self) -> Path:
        return self.data_dir / "lists"

    @property
    def shelf(self) -> "Shelf":
        # Imported here: `doctor` reads the settings where a library is missing.
        from crawler.sites.fetch import Shelf

        return Shelf(folder=self.lists, mirror=self.list_mirror, radar_token=self.radar_token)

    @property
    def populations(self) -> Path:
        return self.data_dir / "populations"

    @property
    def opt_out(self) -> Path:
        return self.data_dir / "opt-out.txt"

    @property
    def progress(self) -> Path:
        return self.data_dir / "progress"

    @property
    def replays(self) -> Path:
        """Folder of replays, one a crawl and what was asked.

        click.ClickException if an earlier firstflight's lie there.
        """
        folder, decisions = self.data_dir / "replays", self.data_dir / "decisions"
        if decisions.is_dir() and any(decisions.iterdir()):
            raise click.ClickException(
                f"an earlier version of firstflight put decisions into {decisions}: move them to {folder} by "
                f"`mkdir -p {folder} && mv {decisions}/* {folder}`"
            )
        for old in folder.glob("*/replay.json"):
            raise click.ClickException(
                f"an earlier version of firstflight made the replay in {old.parent}: move it away, and "
                "replay again"
            )
        return folder

    @property
    def backcast(self) -> Path:
        return self.data_dir / "backcast"

    @property
    def reports(self) -> Path:
        return self.data_dir / "reports"

    @property
    def backups(self) -> Path:
        return self.data_dir / "backups"


def from_environment() -> Settings:
    """Return settings from FIRSTFLIGHT_DATA_DIR and so on, a variable each, or their defaults."""
    root = os.geteuid() == 0  # never below root's home: the embedded PostgreSQL would open it to others
    home = Path.home()

    def stated(name: str, default: Path) -> Path:
        return Path(os.environ.get(name) or default)  # an empty variable is an unset one, as for the scripts

    def optional(name: str) -> Path | None:
        return Path(os.environ[name]).absolute() if os.environ.get(name) else None

    def several(name: str) -> tuple[str, ...]:
        return tuple(os.environ.get(name, "").replace(",", " ").split())

    def secret(name: str) -> str | None:
        """Return a variable's value, or the content of the file that its _FILE names."""
        if os.environ.get(name):
            return os.environ[name]
        file = Path(os.environ.get(f"{name}_FILE") or os.devnull)
        return (file.read_text(encoding="utf-8").strip() or None) if os.access(file, os.R_OK) else None

    data = Path("/var/lib") if root else stated("XDG_DATA_HOME", home / ".local/share")
    cache = Path("/var/cache") if root else stated("XDG_CACHE_HOME", home / ".cache")
    return Settings(
        data_dir=stated("FIRSTFLIGHT_DATA_DIR", data / "firstflight").absolute(),
        cache_dir=stated("FIRSTFLIGHT_CACHE_DIR", cache / "firstflight").absolute(),
        database_url=os.environ.get("FIRSTFLIGHT_DATABASE_URL") or None,
        commit=os.environ.get("FIRSTFLIGHT_COMMIT") or None,
        contact_url=os.environ.get("FIRSTFLIGHT_CONTACT_URL") or None,
        contact_email=os.environ.get("FIRSTFLIGHT_CONTACT_EMAIL") or None,
        public_base_url=os.environ.get("FIRSTFLIGHT_PUBLIC_BASE_URL") or "",
        trusted_hosts=several("FIRSTFLIGHT_TRUSTED_HOSTS"),
        trusted_proxies=several("FIRSTFLIGHT_TRUSTED_PROXIES"),
        has_lab=os.environ.get("FIRSTFLIGHT_LAB") == "1",
        bar_file=optional("FIRSTFLIGHT_BAR_FILE"),
        canaries=os.environ.get("FIRSTFLIGHT_CANARIES") or None,
        resolvers=os.environ.get("FIRSTFLIGHT_RESOLVERS") or None,
        list_mirror=os.environ.get("FIRSTFLIGHT_LIST_MIRROR") or None,
        radar_token=secret("FIRSTFLIGHT_RADAR_TOKEN"),
        alerts=secret("FIRSTFLIGHT_ALERTS"),
        publish_url=os.environ.get("FIRSTFLIGHT_PUBLISH_URL") or None,
        signing_key=_key(optional("FIRSTFLIGHT_SIGNING_KEY")),
        citation=optional("FIRSTFLIGHT_CITATION"),
        signers=optional("FIRSTFLIGHT_ALLOWED_SIGNERS"),
        blocked_networks=os.environ.get("FIRSTFLIGHT_BLOCKED_NETWORKS", ""),
        chromium=stated("FIRSTFLIGHT_CHROMIUM", Path("/usr/lib/chromium/chromium-headless-shell")),
    )


def _key(path: Path | None) -> Path | None:
    """Return None for an empty file, which a stack without a key mounts."""
    is_empty = path is not None and path.is_file() and path.stat().st_size == 0
    return None if is_empty else path
