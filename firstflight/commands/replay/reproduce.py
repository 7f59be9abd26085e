"""`firstflight replay reproduce`: measure published results again."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from tqdm import tqdm

from firstflight.commands.options import AS_JSON, show
from firstflight.commands.replay.lab import find_lab, which_lab
from firstflight.commit import code_commit
from firstflight.errors import one_line
from firstflight.settings import Settings
from replay.errors import ReplayError
from replay.published.document import FOLDER, REPRODUCTIONS, document, tables, verdict
from replay.published.reproduction import Reproduction


@click.command("reproduce")
@which_lab
@click.argument("names", nargs=-1, required=True, metavar="NAME...|all")
@click.option(
    "--document",
    "path",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a page of Markdown to this file, with figures in images/ and tables in reproduction/.",
)
@AS_JSON
@click.pass_obj
def reproduce_results(
    settings: Settings, *, which: str, names: tuple[str, ...], path: Path | None, as_json: bool
) -> None:
    """Measure published results again and print a verdict for each.

    \b
    Names: rfc6928-rounds, cs244-2017, dukkipati-2010, baidu-2018, fld-2012, linkedin-2016, ietf77, or all.
    "Not reproduced" is a result, not an error; it is printed with its reason.

    \b
    Example:
      firstflight replay reproduce rfc6928-rounds
      firstflight replay reproduce all --document docs/reproduction.md
    """
    known = list(REPRODUCTIONS)
    wanted = known if "all" in names else list(dict.fromkeys(names))
    if unknown := [name for name in wanted if name not in known]:
        raise click.BadParameter(f"no reproduction {', '.join(unknown)}; there are {', '.join(known)}")
    reproductions = []
    commit = code_commit(settings.commit)  # before the document changes the tree
    with one_line(ReplayError, OSError):
        lab = find_lab(settings.cache_dir, which)
        with tqdm(wanted, disable=None, unit="result", leave=False) as progress:
            for name in progress:
                progress.set_description(name)
                reproductions.append(REPRODUCTIONS[name](lab))
        if path is not None:
            figures = write_figures(reproductions, path.parent)
            path.write_text(document(reproductions, commit=commit, figures=figures), encoding="utf-8")
            (path.parent / FOLDER).mkdir(exist_ok=True)
            for name, text in tables(reproductions).items():
                (path.parent / FOLDER / name).write_text(text, encoding="utf-8")
    show(
        [reproduction.to_dict() for reproduction in reproductions],
        as_json=as_json,
        lines=[line for reproduction in reproductions for line in describe_reproduction(reproduction)],
    )


def describe_reproduction(reproduction: Reproduction) -> Iterator[str]:
    yield click.style(f"{reproduction.id}: {verdict(reproduction)}", bold=True)
    for criterion in reproduction.criteria:
        mark = "ok  " if criterion.passed else "FAIL"
        yield f"  {mark} {criterion.what}: {criterion.measured:.4g}, bound {criterion.bound:g}"


def write_figures(reproductions: Sequence[Reproduction], folder: Path) -> dict[str, str]:
    from reports.document.published_figures import figure  # it takes a second to load

    figures = {}
    (folder / "images").mkdir(parents=True, exist_ok=True)
    for reproduction in reproductions:
        drawn = figure(reproduction)
        if drawn is not None:
            figures[reproduction.id] = f"images/reproduction-{reproduction.id}.svg"
            (folder / figures[reproduction.id]).write_text(drawn, encoding="utf-8")
    return figures
