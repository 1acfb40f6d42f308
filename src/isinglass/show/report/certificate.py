"""What a report shows of the certificate: the proof for every network along the slider."""

from __future__ import annotations

import numpy as np
import scipy  # its parts are loaded when they are needed

from isinglass.json_text import JsonObject
from isinglass.show.report.subject import Subject

PROOF = ("objective", "kkt_residual", "duality_gap", "certified_zeros", "n_iter", "n_screened", "converged")


def list_certificates(subject: Subject, whole: Subject) -> JsonObject:
    """Return the certificate of every network along the slider; ``whole`` is the subject with its covariates."""
    fit = subject.fit
    nodewise = subject.solution is not None and subject.solution.alphas_per_node is not None
    kind = fit.method.estimator if fit is not None else "nodewise" if nodewise else "joint"
    stages = None if fit is None else fit.selection.stages
    proof: JsonObject = {name: [getattr(each, name) for each in subject.solutions] for name in PROOF}
    null = _null_objective(subject, whole)
    return {
        "kind": kind,
        # By which the coefficients of regressions are combined.
        "rule": fit.method.rule if fit is not None and kind == "nodewise" else None,
        "tol": _tolerances(subject),
        # Pairs that stage 1 left to a network of stage 2: the proof is about these.
        "candidates": stages.each[0].n_edges if stages and stages.number else None,
        "null_objective": null,
        "relative_gap": np.array(proof["duality_gap"]) / np.maximum(null, 1e-12),
        **proof,
    }


def _tolerances(subject: Subject) -> list[float]:
    """Return what every network was solved to: those along a path may be less precise than the selected one."""
    own = np.nan if subject.fit is None else subject.fit.method.tolerance
    found = [own if subject.path is None else subject.path.tol] * len(subject.solutions)
    if subject.fit is not None:
        found[subject.selected] = own
    return found


def _null_objective(subject: Subject, whole: Subject) -> float:
    """Return the objective without edges; NaN where it is not known.

    Where no such network is on the slider it is the entropy of the shares, unless the ``whole`` has covariates.
    """
    for each in subject.solutions:
        if each.n_edges == 0 and np.isfinite(each.objective):
            return each.objective
    if subject.shares is None or whole.network.variables.has_covariates:
        return np.nan
    return float(sum(scipy.special.entr(share).sum() for share in subject.shares))
