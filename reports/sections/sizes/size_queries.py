"""Queries, in DuckDB's SQL, that give the rows of the figure and tables of sizes from a
release's distribution.parquet.

They run in the folder of the release.
"""

# ruff: noqa: S608  # nothing in the queries comes from outside: labels, windows and column names are the code's

from collections.abc import Iterable, Mapping, Sequence

SLICES = 125
"""Slices of probability of a drawn curve, which keeps at most two steps of each;
0.8 % is less than three pixels."""


def curves(thresholds: Sequence[int], labels: Mapping[str, str]) -> str:
    """Return the steps of the drawn curves: first and last in each slice of probability,
    and those next to thresholds (bytes)."""
    return f"""
WITH step AS (
  SELECT measure, size_bytes, cumulative, max(cumulative) OVER one AS known,
         (cumulative * {SLICES} + max(cumulative) OVER one - 1) // max(cumulative) OVER one AS slice
  FROM 'distribution.parquet' WHERE size_bytes IS NOT NULL WINDOW one AS (PARTITION BY measure)
), place AS (
  SELECT *, lag(slice) OVER sorted AS before, lead(slice) OVER sorted AS after,
         lag(size_bytes) OVER sorted AS smaller, lead(size_bytes) OVER sorted AS larger
  FROM step WINDOW sorted AS (PARTITION BY measure ORDER BY size_bytes)
)
SELECT {_case(labels)} AS measure, greatest(size_bytes, 1) AS size, 100 * share AS percent FROM (
  SELECT *, cumulative / known AS share FROM place
  UNION ALL SELECT *, 0 FROM place WHERE smaller IS NULL
) AS place
WHERE measure IN ({_quote(labels)})
  AND (before IS DISTINCT FROM slice OR after IS DISTINCT FROM slice
       OR EXISTS (FROM unnest({list(thresholds)}) AS marked(bytes)
                  WHERE (size_bytes <= bytes AND coalesce(larger > bytes, true))
                     OR (size_bytes > bytes AND coalesce(smaller <= bytes, true))))
ORDER BY list_position([{_quote(labels)}], place.measure), size_bytes, share
""".strip()


def _quote(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _case(labels: Mapping[str, str]) -> str:
    whens = " ".join(f"WHEN '{name}' THEN '{label}'" for name, label in labels.items())
    return f"CASE place.measure {whens} END"


def shares(windows: Sequence[int], mss: int, labels: Mapping[str, str]) -> str:
    """Return the share in percent that fits into each window, by measure."""
    fitting = ", ".join(
        f"100 * coalesce(max(cumulative) FILTER (size_bytes <= {iw} * {mss}), 0) / max(cumulative) AS iw{iw}"
        for iw in windows
    )
    return (
        f"SELECT {_case(labels)} AS measure, coalesce(max(cumulative), 0) AS known, {fitting} FROM "
        "'distribution.parquet' AS place GROUP BY place.measure ORDER BY "
        f"list_position([{_quote(labels)}], place.measure)"
    )


def quantiles(percents: Sequence[int], labels: Mapping[str, str]) -> str:
    """Return the smallest size that at least each percentage of the items do not exceed, by measure."""
    columns = ", ".join(
        f"min(size_bytes) FILTER (cumulative * 100 >= {percent} * known) AS p{percent}"
        for percent in percents
    )
    return (
        f"SELECT {_case(labels)} AS measure, {columns} FROM (SELECT *, max(cumulative) OVER (PARTITION BY "
        "measure) AS known FROM 'distribution.parquet') AS place WHERE size_bytes IS NOT NULL GROUP BY "
        f"place.measure ORDER BY list_position([{_quote(labels)}], place.measure)"
    )
