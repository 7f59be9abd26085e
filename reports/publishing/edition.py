"""The edition: what a repository keeps of a published report, in one folder with its data.

README.md                                what GitHub shows: the answer, the picture, how to cite and redo
index.html report.json summary.txt       the page, every number, and the summary
forms/brief.pdf .html, slide.svg .png    the brief and the slide
forms/figures/*.csv, forms/index.json    the data of the figures, and how each is computed again
loads/                                   the loads that the verdict follows from
CITATION.cff citation.bib citation.csl.json

Paths are those of the version, so that `firstflight report recompute` reads it as one.
"""

import posixpath
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from releases.citation.forms import FORMS, cite
from releases.citation.work import NotCitable, cite_report
from replay.runs.replay_folder import DIRTY, is_dirty
from reports.content import Published, read_published
from reports.forms.brief import brief_of
from reports.forms.texts import escape
from reports.inputs.replays import ReportError
from storage.report_versions import CONTENT, PAGE, ReportVersion, report_versions
from storage.staging import put_in_place
from storage.sums import manifest_of, seal

KEPT = (
    PAGE,
    CONTENT,
    "summary.txt",
    "forms/brief.*",
    "forms/slide.*",
    "forms/index.json",
    "forms/figures/*.csv",
    "loads/*",
)

PAGES = (PAGE, "forms/brief.html")

MOST_BYTES, MOST_FILES = 6_000_000, 60
"""Most bytes and files of an edition that a repository keeps."""

LINK = re.compile(r'<a href="(?P<target>[^"#:]+)(?P<anchor>#[^"]*)?">(?P<text>.*?)</a>', re.DOTALL)


def write_edition(version: ReportVersion, folder: Path) -> list[str]:
    """Write the edition of a version into `folder`, in place of an earlier one; return its files.

    ReportError if it must not be cited, was built by uncommitted code, or is too large.
    """
    if folder.exists() and not (folder / CONTENT).is_file():
        raise ReportError(f"{folder} is there, and holds no edition")
    report = read_published(version.folder / CONTENT)
    manifest = manifest_of(version.folder)
    if is_dirty(manifest["commit"]):
        raise ReportError(
            f"{version.folder} was built by code with changes that are not committed ({manifest['commit']}): "
            "commit them, and build it again"
        )
    names = sorted(
        str(path.relative_to(version.folder)) for pattern in KEPT for path in version.folder.glob(pattern)
    )
    with put_in_place(folder) as stage:
        for name in names:
            (stage / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(version.folder / name, stage / name)
        for page in PAGES:
            written = _without_dead_links(page, (stage / page).read_text(encoding="utf-8"), names)
            (stage / page).write_text(written, encoding="utf-8")
        for name, text in _citations(report).items():
            (stage / name).write_text(text, encoding="utf-8")
        readme = readme_of(
            report,
            place=f"{folder.parent.name}/{folder.name}",
            has_loads=any(name.startswith("loads/") for name in names),
            earlier=[
                (before.number, manifest_of(before.folder)["commit"])
                for before in report_versions(version.folder.parent)
                if before.number < version.number and before.is_there
            ],
        )
        (stage / "README.md").write_text(readme, encoding="utf-8")
        seal(stage, {name: fact for name, fact in manifest.items() if name != "files"})
        return _check_size(stage)


def _check_size(folder: Path) -> list[str]:
    """Return an edition's files; ReportError if they are too many or too large."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    size = sum(path.stat().st_size for path in files)
    if len(files) > MOST_FILES or size > MOST_BYTES:
        raise ReportError(
            f"the edition has {len(files)} files of {size} bytes, and may have {MOST_FILES} of {MOST_BYTES}"
        )
    return [str(path.relative_to(folder)) for path in files]


def _without_dead_links(page: str, text: str, names: Sequence[str]) -> str:
    """Return the page with plain text in place of its links to files that are not kept.

    >>> _without_dead_links("forms/brief.html", '<a href="../index.html#a">a</a> <a href="x.md">b</a>', ["index.html"])
    '<a href="../index.html#a">a</a> b'
    """  # noqa: E501

    def kept(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page), link["target"]))
        return link[0] if target in names else link["text"]

    return LINK.sub(kept, text)


def _citations(report: Published) -> dict[str, str]:
    cited, publication = report.citation, report.publication
    work = cite_report(
        title=cited["title"],
        year=report.year,
        version=publication.version,
        date=publication.date,
        data=cited["data"],
        licence=cited["licence"],
        is_recorded=report.recorded_pages is not None,
        is_illustrative=report.is_illustrative,
        observed=report.crawl["month"],
    )
    try:
        return {"CITATION.cff" if form == "cff" else f"citation.{form}": cite(work, form) for form in FORMS}
    except NotCitable as exc:
        raise ReportError(str(exc)) from exc


def readme_of(report: Published, *, place: str, has_loads: bool, earlier: Sequence[tuple[int, str]]) -> str:
    """Return the README; `earlier` are versions with the commits that built them."""
    return "\n\n".join(_blocks(report, place, has_loads=has_loads, earlier=earlier)) + "\n"


def _blocks(
    report: Published, place: str, *, has_loads: bool, earlier: Sequence[tuple[int, str]]
) -> Iterator[str]:
    brief, number, year = brief_of(report), report.publication.version, report.year
    yield f"# {escape(brief.title)}"
    yield f"**{escape(brief.headline)}** {escape(brief.sentence)} {escape(brief.how_sure)}"
    yield f"![{escape(brief.finding)}](forms/slide.png)"
    yield (
        "[The brief on two pages](forms/brief.pdf) · [the page](index.html) · [the slide](forms/slide.svg) · "
        "[every number](report.json) · [the data of the figures](forms/figures/)"
    )
    if report.answer.limits:
        yield escape(report.answer.limits)
    for version, commit in earlier:
        yield (
            f"Version {version} and the code that computes it again are in the history: "
            f"`git checkout {commit.removesuffix(DIRTY)}`."
        )
    yield "## Cite"
    yield escape(brief.citation)
    yield "[CITATION.cff](CITATION.cff) · [BibTeX](citation.bib) · [CSL-JSON](citation.csl.json)"
    yield (
        "The checksum is over the lines of the release's SHA256SUMS for its tables of data: "
        "`grep parquet SHA256SUMS | grep -v crawl | sha256sum`."
    )
    yield "## Redo"
    yield "\n".join(("```", *report.redo, "```"))
    if has_loads:
        yield (
            "The verdict is computed again from the loads in `loads/`, and every share from the recorded "
            "pages, without a load, in the data folder `$FIRSTFLIGHT_DATA_DIR`:"
        )
        where = f'"$FIRSTFLIGHT_DATA_DIR"/reports/{year}'
        imported = [line for line in report.redo if line.startswith("firstflight import")]
        commands = (
            *imported,
            f"mkdir -p {where}",
            f"cp -r {place} {where}/v{number}",
            f"firstflight report recompute {year} v{number} all",
        )
        yield "\n".join(("```", *commands, "```"))
