"""Model files, and tables that belong to them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.options import MODEL_FILE

if TYPE_CHECKING:
    from isinglass.binary import BinaryTable
    from isinglass.cli.console import Console
    from isinglass.cli.reading import Reading
    from isinglass.model import IsingModel

__all__ = ["MODEL", "Loaded"]

MODEL = click.Argument(["model"], type=MODEL_FILE)


@dataclass(frozen=True)
class Loaded:
    """What a model file holds.

    Parameters
    ----------
    network : fitted estimator or IsingModel
        What was saved.
    model : IsingModel
        The network by itself.
    """

    network: Any
    model: IsingModel

    @classmethod
    def open(cls, path: str) -> Loaded:
        """Load a model file."""
        from isinglass.networks import load

        network = load(path)
        return cls(network, getattr(network, "model_", network))

    def read_table(self, console: Console, reading: Reading, table: str, *, missing: str = "error") -> BinaryTable:
        """Read a table that has the columns of the model, in any order.

        Answers mean what they meant in the table that was fitted, unless the user says something else.
        """
        known = getattr(self.network, "encoding_", None) or None
        return self._in_order(reading.read(console, table, missing=missing, encode=known))

    def _in_order(self, data: BinaryTable) -> BinaryTable:
        """Return the columns in the order of the model; a table without names must have it already."""
        from isinglass.errors import DataError

        names = self.model.names
        if data.names is None or data.names == names:
            if data.shape[1] != len(names):
                raise DataError(f"The table must have the {len(names)} columns of the model; got {data.shape[1]}.")
            return data
        place = {name: k for k, name in enumerate(data.names)}
        absent = [name for name in names if name not in place]
        if absent:
            more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
            raise DataError(f"The table must have the columns of the model; {absent[0]!r}{more} cannot be found in it.")
        if len(place) > len(names):
            other = next(name for name in data.names if name not in set(names))
            raise DataError(f"The table must have no other columns than the model; got {other!r}. Leave it out: --drop.")
        order = [place[name] for name in names]
        filled = None if data.filled is None else data.filled[:, order]
        return replace(data, X=data.X[:, order], names=names, filled=filled)
