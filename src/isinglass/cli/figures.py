"""Figures as files: drawn without a display, the same bytes for the same data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isinglass.atomic import replacing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from matplotlib.axes import Axes

# What would differ from run to run, or from version to version.
METADATA = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None, "Producer": None}}


def require_matplotlib() -> None:
    """Say what to install if figures cannot be drawn, before anything is computed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ImportError('matplotlib is not installed. Install it: pip install "isinglass[plot]".') from None


def save_figure(
    draw: Callable[[Axes | None], Axes],
    target: Path,
    *,
    size: tuple[float, float] | None = None,
    dpi: int = 150,
    fill: bool = False,
) -> None:
    """Write what ``draw`` draws, on axes of the size given or else on its own.

    ``draw`` takes axes, or None to make some, and returns them. ``size`` is in inches; with ``fill``, axes of a given
    size take the whole figure. The ending of the target says the format.
    """
    require_matplotlib()
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "isinglass", "backend": "Agg"}):
        from matplotlib import pyplot

        ax = None
        if size is not None:
            figure = pyplot.figure(figsize=size, layout="none" if fill else "constrained")
            ax = figure.add_axes((0.01, 0.01, 0.98, 0.98)) if fill else figure.add_subplot()
        drawn = draw(ax).figure.canvas.figure  # the whole one, not a part of it
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            ending = target.suffix.lower()
            with replacing(target) as file:
                drawn.savefig(file, format=ending[1:], dpi=dpi, metadata=METADATA[ending])
        finally:
            pyplot.close(drawn)
