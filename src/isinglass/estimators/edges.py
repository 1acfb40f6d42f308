"""The table of edges, as a frame of the kind that came in."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from isinglass.estimators.frames import make_frame
from isinglass.fit import count_edges, edge_columns
from isinglass.network import Network

__all__ = ["count_edges", "edge_table"]


def edge_table(
    network: Network,
    counts: NDArray[Any],
    frequencies: sp.csr_array | None,
    errors: NDArray[np.float64] | None,
    kind: str | None,
) -> Any:
    """Return the edges, largest absolute coupling first, as a frame of the given kind."""
    return make_frame(kind, edge_columns(network, counts, frequencies, errors))
