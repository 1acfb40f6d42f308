"""A paragraph for the methods section of a paper, and what to cite."""

from __future__ import annotations

import numpy as np

from isinglass.fit import Fit
from isinglass.network import Network
from isinglass.select.comparison import GroupComparison
from isinglass.select.ebic import EBIC
from isinglass.select.selector import PerNode
from isinglass.variables import KINDS
from isinglass.version import __version__

ESTIMATES = {
    "joint": "by maximizing the L1-penalized pseudo-likelihood",
    "nodewise": "by an L1-penalized logistic regression of every variable on all others",
    "exact": "by maximizing the L1-penalized likelihood, computed by enumeration",
    "plg": "by the published conversion of the pseudo-likelihood to one logistic lasso",
    "bmn": "by the published algorithm of Höfling and Tibshirani",
}
CHOICES = {
    "given": "The penalty was given",
    "two-stage": "Edges were selected in two stages, a lasso at the smallest AIC and an adaptive lasso on its edges at "
    "the smallest extended BIC, checked by cross-validation",
    "stars": "The penalty was chosen by the stability of edges over subsamples (StARS)",
    "per-node": "Every node's penalty was chosen by the extended Bayesian information criterion",
    "ebic": "The penalty was chosen by the extended Bayesian information criterion",
    "cv": "The penalty was chosen by cross-validation",
}
CITED = (
    "Geng, S., Kuang, Z., & Page, D. (2017). An efficient pseudo-likelihood method for sparse binary pairwise Markov "
    "network estimation. arXiv:1702.08320."
)
COMPARED = (
    "van Borkulo, C. D., et al. (2023). Comparing network structures on three aspects: A permutation test. "
    "Psychological Methods, 28(6), 1273–1285."
)


def citation(*, comparison: bool = False) -> str:
    """Return what to cite: this version of the package, and where its methods come from."""
    own = f"The isinglass developers. isinglass (version {__version__}) [Computer software]."
    return " ".join([own, CITED, *([COMPARED] if comparison else [])])


def describe_fit(fit: Fit) -> str:
    """Return how the network of a fit was estimated, as a paper would say it."""
    solution, network = fit.solution, fit.network
    selector = fit.method.selector
    choice = CHOICES.get(selector.name, f"The penalty was chosen by {fit.chosen}")
    if isinstance(selector, EBIC | PerNode):
        choice += f" (γ = {selector.gamma:g})"
    if fit.method.estimator == "nodewise":
        choice += f"; the two estimates of a pair were combined by the {fit.method.rule.upper()} rule"
    tables = ""
    if "nominal" in network.kinds:
        tables = "; for a pair with a nominal variable one table of couplings, penalized by its Frobenius norm"
    sentences = [
        f"A pairwise Markov {'(Ising) ' if network.variables.is_binary else ''}network of "
        f"{_describe_columns(network)} was estimated from {_describe_rows(fit)} {_describe_estimate(fit)} "
        f"(one coupling per pair of variables{tables}), with isinglass {__version__}.",
        choice + (f" (α = {solution.alpha:.4g})." if solution.alpha == solution.alpha else "."),
        f"The network has {solution.n_edges} of {network.n_pairs} possible edges.",
    ]
    sentences += _describe_missing(fit)
    if fit.proves and solution.converged:
        sentences.append(
            "The solution was certified as optimal for this table and penalty (duality gap "
            f"{solution.duality_gap:.1e}, KKT residual {solution.kkt_residual:.1e})."
        )
    return " ".join(sentences)


def _describe_estimate(fit: Fit) -> str:
    """Say what was maximized; regressions have the likelihood of their variable's kind."""
    text = ESTIMATES.get(fit.method.estimator, "as described")
    if fit.method.estimator == "nodewise" and not fit.network.variables.is_binary:
        likelihoods = {"binary": "logistic", "ordinal": "adjacent-category logistic", "nominal": "multinomial logistic"}
        present = [likelihoods[kind] for kind in KINDS if kind in fit.network.kinds]
        text = f"by a penalized regression of every variable on all others ({', '.join(present)})"
    return text


def _describe_columns(network: Network) -> str:
    """Say how many variables of which kind the network has."""
    parts, kinds = [], np.array(network.kinds)
    for kind in KINDS:
        sizes = network.variables.sizes[kinds == kind]
        if len(sizes):
            several = f"{sizes.min()} to {sizes.max()}" if np.ptp(sizes) else f"{sizes[0]}"
            parts.append(f"{len(sizes)} {kind}" + ("" if kind == "binary" else f" ({several} categories)"))
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts) + " variables"


def _describe_rows(fit: Fit) -> str:
    if float(fit.n_rows).is_integer():
        return f"{fit.n_rows:g} rows"
    return f"rows with sampling weights (effective number {fit.n_rows:.1f})"


def _describe_missing(fit: Fit) -> list[str]:
    """Say what was done about missing cells, and how many there were."""
    missing = fit.missing
    if missing is None:
        return []
    cells = f"{missing.n_cells} missing cells ({missing.n_cells / (missing.n_rows * fit.solution.n_features):.1%})"
    if missing.treatment == "drop":
        return [f"{missing.n_left_out} of {missing.n_rows} rows were left out because of {cells}."]
    if missing.treatment == "zero":
        return [f"{cells} were counted as 0."]
    empty = f"; {missing.n_left_out} rows without any answer were left out" if missing.n_left_out else ""
    return [
        f"{cells} were imputed {missing.n_imputations} times by stochastic EM, from the network itself given the "
        f"observed cells of their row{empty}."
    ]


def describe_comparison(found: GroupComparison) -> str:
    """Return how groups were compared, as a paper would say it."""
    sizes = ", ".join(f"{group} (n = {n})" for group, n in zip(found.groups, found.n_rows, strict=True))
    how = "exchanging labels within subjects" if found.paired else "reassigning rows to groups at random"
    if found.reselect:
        penalty = "The penalty was chosen in every group and again in every permutation."
    else:
        alpha = found.solutions[0].alpha
        value = f" (α = {alpha:.4g})" if alpha == alpha else ""
        penalty = f"All groups and permutations used the same penalty{value}."
    apart = "" if len(found.groups) == 2 else " With more than two groups, the two furthest apart count."
    return (
        f"Networks of {_describe_columns(found.networks[0])} were compared between {len(found.groups)} groups, "
        f"{sizes}, by {found.n_permutations} permutations, {how}, with isinglass {__version__}. {penalty}{apart} "
        f"The largest difference of a coupling was {found.structure:.3g} (p = {found.p_structure:.3g}), the difference "
        f"of global strength {found.strength:.3g} (p = {found.p_strength:.3g}). P-values of edges were corrected for "
        "the number of pairs by the distribution of the largest difference (max-T) and by false discovery rate."
    )
