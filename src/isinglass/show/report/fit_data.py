"""What a report shows of a fit: its certificate, choice and settings, missing cells and checks."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy  # its parts are loaded when they are needed

from isinglass.errors import ArgumentError
from isinglass.evaluate.checking import ModelCheck, check_model
from isinglass.fit import Fit
from isinglass.json_text import JsonObject
from isinglass.select.bootstrap_result import Bootstrap
from isinglass.show.report.methods import explain_choice
from isinglass.show.report.subject import Subject

PROOF = ("objective", "kkt_residual", "duality_gap", "certified_zeros", "n_iter", "n_screened", "converged")
MOST_SIMULATED = 400  # categories of all columns up to which rows are simulated from the network: seconds


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
        found[subject.slider[1]] = own
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


def read_curve(subject: Subject) -> JsonObject | None:
    """Return the curve that the penalty was chosen from, if there is one."""
    if subject.fit is None:
        return None
    stability, evidence = subject.fit.selection.stability, subject.fit.selection.evidence
    if stability is not None:
        told = ("alphas", "monotone", "threshold", "n_subsamples", "subsample_size")
        line = {name: getattr(stability, name) for name in told}
        return {"kind": "instability", "values": stability.instability, "choice": stability.index, **line}
    if evidence is None:
        return None
    line = {name: getattr(evidence, name) for name in ("kind", "alphas", "values", "choice", "errors")}
    return {**line, **evidence.settings, "reason": " ".join(explain_choice(subject.fit))}


def read_settings(given: Mapping[str, object] | None, fit: Fit | None) -> dict[str, str]:
    """Return what the network was made with, as texts."""
    if not isinstance(given, Mapping | None):
        raise ArgumentError("settings", "must be a mapping of names to values", given)
    if given is None and fit is not None:
        changed = {name: value for name, value in fit.method.changed().items() if name not in ("estimator", "selector")}
        given = {"method": fit.method.estimator, "choice": fit.chosen_by, **changed}
    return {str(name): str(value) for name, value in (given or {}).items() if value is not None}


def describe_missing(subject: Subject, n_columns: int) -> JsonObject | None:
    """Return what is known of missing cells, of which covariates have some, too; None if there are none."""
    missing = None if subject.fit is None else subject.fit.missing
    if missing is None:
        return None
    patterns = (
        [] if missing.patterns is None else [np.flatnonzero(pattern) for pattern in missing.patterns[:, subject.kept]]
    )
    counts = [] if missing.pattern_counts is None else missing.pattern_counts.tolist()
    return {
        **{name: value for name, value in vars(missing).items() if isinstance(value, int | float | str)},
        "n_columns": n_columns,
        "n_rounds": missing.n_rounds,
        "edge_information": [] if missing.edge_information is None else missing.edge_information,
        "patterns": [{"columns": each, "n_rows": count} for each, count in zip(patterns, counts, strict=True)],
    }


def check_rows(subject: Subject) -> ModelCheck | None:
    """Return whether the network reproduces the rows, unless simulating would take long."""
    variables = subject.network.variables
    if subject.table is None or variables.has_covariates or variables.sizes.sum() > MOST_SIMULATED:
        return None
    return check_model(subject.table, subject.predicting)


def describe_check(found: ModelCheck | None) -> JsonObject | None:
    """Return what a check of the network found, and what follows from it: what was compared, and how much differs."""
    if found is None:
        return None
    parts = [{"what": one.what, "n": len(one.p_values), "n_flagged": one.n_flagged} for one in found.comparisons]
    return {"passed": found.passed, "text": found.sentence, "consequence": found.consequence, "parts": parts}


def describe_stability(found: Bootstrap) -> JsonObject:
    """Return the CS-coefficients, and the number of subsets that each share of them rests on."""
    return {"coefficients": found.cs_coefficients(), "n_per_share": found.n_per_share, "few": found.has_few_subsets}
