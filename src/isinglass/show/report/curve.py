"""The curve that an alpha was read from: instability, extended BIC, or held-out score."""

from __future__ import annotations

from typing import Any

from isinglass.errors import ArgumentError
from isinglass.results import Evidence, Stability


def read_curve(stability: Stability | None, criterion: Any, evidence: Evidence | None) -> dict[str, Any] | None:
    """Return the curve as the page draws it, from the first who has one; None if nobody has."""
    if stability is not None:
        return _instability(stability)
    if criterion is not None:
        return _criterion(criterion)
    if evidence is None:
        return None
    line = {**_line(evidence.kind, evidence.alphas, evidence.values, evidence.choice), **evidence.settings}
    return line if evidence.errors is None else {**line, "errors": evidence.errors}


def _line(kind: str, alphas: Any, values: Any, choice: int) -> dict[str, Any]:
    return {"kind": kind, "alphas": alphas, "values": values, "choice": choice}


def _instability(stability: Stability) -> dict[str, Any]:
    return {
        **_line("instability", stability.alphas, stability.instability, stability.index),
        "monotone": stability.monotone,
        "threshold": stability.threshold,
        "n_subsamples": stability.n_subsamples,
        "subsample_size": stability.subsample_size,
    }


def _criterion(criterion: Any) -> dict[str, Any]:
    """Read a selection by what it has: held-out scores have standard errors, the extended BIC a gamma."""
    if hasattr(criterion, "standard_error"):
        line = _line("score", criterion.alphas, criterion.mean, criterion.index)
        return {**line, "errors": criterion.standard_error, "rule": criterion.rule}
    if hasattr(criterion, "gamma"):
        alphas = [solution.alpha for solution in criterion.path]
        line = _line("ebic", alphas, criterion.scores, criterion.index)
        return {**line, "gamma": criterion.gamma, "relaxed": criterion.relaxed}
    raise ArgumentError("criterion", "must be an EbicSelection or a CrossValidation", criterion)
