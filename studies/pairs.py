"""Pairs of loads from a study's table as evidence, for the estimators of the verdict."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from verdict.evidence import Evidence, Network


def evidence_of_pairs(table: pa.Table, visits: npt.NDArray[np.intp]) -> Evidence:
    """Return the networks of a table's rows, by its columns network, stratum and share, without any value.

    `visits` has each row's cluster of pages.
    """
    ids, places = np.unique(np.array(table["network"].to_pylist()), return_inverse=True)
    firsts = np.unique(places, return_index=True)[1]
    strata, shares = table["stratum"].to_numpy(), table["share"].to_numpy()
    return Evidence(
        networks=tuple(
            Network(id=str(ids[place]), stratum=int(strata[first]), share=float(shares[first]))
            for place, first in enumerate(firsts)
        ),
        visits=visits,
        places=places.astype(np.intp),
        windows=(),
        values={},
        again={},
        states={},
    )
