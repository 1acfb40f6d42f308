"""A paragraph for the methods section of a paper, read off a fit or a comparison of groups, and what to cite."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

import numpy as np

from isinglass.arguments import check_kind
from isinglass.errors import plural
from isinglass.evaluate.checking import ModelCheck
from isinglass.fit import Fit
from isinglass.network import Network
from isinglass.records import TwoStageRecord
from isinglass.results import Solution
from isinglass.select import CrossValidation, PerNode, StARS, TwoStage
from isinglass.select.bootstrap_result import Bootstrap
from isinglass.select.ebic import EBIC
from isinglass.select.group_comparison_result import LEVEL, GroupComparison
from isinglass.select.method import Method
from isinglass.select.selector import Selector
from isinglass.select.stochastic_em import MODEL
from isinglass.show.report.sentences import (
    Draft,
    cite,
    say_certificate,
    say_combined,
    say_missing,
    say_model,
    say_reading,
    say_weights,
)


def describe_fit(fit: Fit, *bootstraps: Bootstrap, check: ModelCheck | None = None) -> Draft:
    """Say how the network of a fit was estimated and checked, as the methods section of a paper does."""
    for each in bootstraps:
        check_kind("bootstraps", each, Bootstrap, "bootstrap")
    if check is not None:
        check_kind("check", check, ModelCheck, "check(X)")
    method, selector, stages, missing = fit.method, fit.method.selector, fit.selection.stages, fit.missing
    covariates, solution = fit.network.variables.covariates, fit.solution.without_covariates()
    network = solution.network
    is_imputed = missing is not None and missing.treatment == "impute"
    penalty = "penalties" if isinstance(selector, PerNode) else "penalty"
    has_criterion = isinstance(selector, TwoStage | EBIC | PerNode)
    effective = f"with an effective number of {fit.data.n_rows:.1f} {cite('kish')}"
    effective += has_criterion * ", which criteria use as the number of observations"
    model = _imputed_by(selector, network, tells_stages=stages is not None and not stages.ended_first)
    return Draft.of(
        say_model([solution], method, covariates, f"was estimated from {fit.data.n_observations} observations"),
        say_reading(network, dict(zip(fit.network.names, fit.coding.columns, strict=True))),
        say_combined(fit.coding),
        say_weights(fit.data.weight_kind, effective),
        say_missing(missing, fit.network.n_features, f"a network {model}, given the observed cells of their row"),
        _say_choice(fit, network),
        _say_edges(fit),
        say_certificate([solution], method, f"for {'the completed' if is_imputed else 'this'} table and {penalty}"),
        *(_say_resamples(found, penalty, is_imputed) for found in bootstraps),
        [] if check is None else _say_check(check),
    )


def describe_comparison(found: GroupComparison) -> Draft:
    """Say how groups were compared, as the methods section of a paper does, and what was found."""
    sizes = ", ".join(f"{group} (n = {n})" for group, n in zip(found.groups, found.n_rows, strict=True))
    how = "exchanging labels within subjects" if found.paired else "reassigning rows to groups at random"
    compared = (
        f"were compared between {len(found.groups)} groups, {sizes}, by a permutation test {cite('comparison')} with "
        f"{plural(found.n_permutations, 'permutation')}{_seed(found.seed)}, {how}; every network was estimated"
    )
    network, coding = found.networks[0], found.coding
    imputed_from = f"one network of all rows, ignoring groups, {_imputed_by(None, network)}"
    if found.n_deleted:
        imputed_from += (
            f", after {found.n_deleted} further cells were deleted by the patterns of the other groups, because groups "
            "differed in their share of missing cells"
        )
    failed = f"{found.n_unconverged} of the permutations did not reach the tolerance."
    return Draft.of(
        say_model(found.solutions, found.method, found.covariates, compared),
        say_reading(network, {} if coding is None else dict(zip(found.names, coding.columns, strict=True))),
        say_combined(coding),
        say_weights(found.weight_kind, "which stayed with their rows in every permutation"),
        say_missing(found.missing, network.n_features + len(found.covariates), imputed_from),
        _say_penalty(found),
        _say_differences(found),
        say_certificate(found.solutions, found.method, "in every group"),
        [failed] if found.n_unconverged else [],
    )


def _imputed_by(selector: Selector | None, network: Network, *, tells_stages: bool = True) -> str:
    """Say how the network was estimated that missing cells were drawn from.

    Two stages are not explained if the text ``tells_stages``, and those of the ``selector`` are the same ones.
    """
    chosen = _two_stages(MODEL, network)
    if tells_stages and isinstance(selector, TwoStage) and selector.gamma == MODEL.gamma:
        chosen = "in the two stages described below, without the check by prediction"
    return f"whose edges were selected {chosen}, and estimated again almost without a penalty"


def _seed(state: object) -> str:
    """Name a seed in brackets; generators have none."""
    return f" (seed {state})" if isinstance(state, int) else ""


def _chosen_by(method: Method, network: Network) -> str:
    """Say what chooses the penalty, with its settings; a penalty that is given is chosen by nothing."""
    selector = method.selector
    if isinstance(selector, TwoStage):
        return _two_stages(selector, network)
    if isinstance(selector, PerNode):
        is_isingfit = set(network.kinds) == {"binary"} and isinstance(method.penalty_weights, str)
        return f"by {_ebic(selector, network)}{', as in the R package IsingFit' * is_isingfit}"
    if isinstance(selector, EBIC):
        return f"by {_ebic(selector, network)}"
    if isinstance(selector, CrossValidation):
        folds = "cross-validation with given folds"
        if selector.splits is None:
            again = f", repeated {selector.n_repeats} times" if selector.n_repeats > 1 else ""
            folds = f"{selector.n_folds}-fold cross-validation{again}{_seed(selector.random_state)}{',' * bool(again)}"
        sparsest = "the sparsest network within one standard error of " if selector.rule == "1se" else ""
        return f"by {folds} for {sparsest}the largest mean log pseudo-likelihood of held-out rows"
    if isinstance(selector, StARS):
        return f"by the stability of edges over subsamples ({selector.words}) {cite('stars')}"
    return ""


def _ebic(selector: EBIC | PerNode | TwoStage, network: Network) -> str:
    """Name the extended BIC with its settings and its reference: Ising models have their own."""
    cited = "per-node" if isinstance(selector, PerNode) else "ebic-ising"
    cited = cited if set(network.kinds) == {"binary"} else "ebic"
    return f"the extended BIC (γ = {selector.gamma:g}) {cite(cited)}"


def _two_stages(selector: TwoStage, network: Network, first: str = "") -> str:
    """Say what the two stages are; ``first`` is what is known of the first."""
    blocks = f", counting parameters of tables of couplings by their effective number {cite('effective')}"
    return (
        f"in two stages: a lasso with the smallest AIC{first}, then an adaptive lasso {cite('adaptive')} on its edges "
        f"with penalties in inverse proportion to their couplings, compared by {_ebic(selector, network)}"
        f"{blocks if 'nominal' in network.kinds else ''}"
    )


def _at(alpha: float) -> str:
    return "" if np.isnan(alpha) else f" (α = {alpha:.4g})"


def _say_choice(fit: Fit, network: Network) -> Iterator[str]:
    """Say what chose the penalty; of the two-stage estimate what decided in the end."""
    selector, at = fit.method.selector, _at(fit.solution.alpha)
    if isinstance(selector, TwoStage):
        yield from _say_stages(fit, selector, network)
    elif selector.is_given:
        yield f"The penalty was {selector.words}{at}." if at else "The penalties were given."
    else:
        yield f"The penalty{_of_node(selector)} was chosen {_chosen_by(fit.method, network)}{at}."


def _of_node(selector: Selector) -> str:
    return " of every node" if isinstance(selector, PerNode) else ""


def _say_penalty(found: GroupComparison) -> Iterator[str]:
    """Say which penalty the networks of groups and permutations have."""
    selector, chosen = found.method.selector, _chosen_by(found.method, found.networks[0]) + _say_folds(found)
    if found.reselect and chosen:
        yield f"The penalty{_of_node(selector)} was chosen in every group and again in every permutation {chosen}."
        return
    scaled = "multiplied by the square root of the number of groups"
    if isinstance(selector, TwoStage):
        scaled = f"rescaled to the noise in 1/{len(found.groups)} of the rows"
    kept = f", chosen for all rows together {chosen}, and {scaled}" if chosen else ""
    at = _at(found.solutions[0].alpha)
    yield f"All groups and permutations used the same penalty{_of_node(selector)}{kept}{at}."
    if found.stages is not None and isinstance(selector, TwoStage) and found.stages.reason != "ebic":
        yield from _explain_stages(found.stages, selector, found.networks[0])


def _say_folds(found: GroupComparison) -> str:
    """Say how two stages were checked by prediction: there are no more folds than rows."""
    selector = found.method and found.method.selector
    if not isinstance(selector, TwoStage) or selector.keep == 0:
        return ""
    if found.stages is not None:
        folds = f"{found.stages.n_folds}-fold cross-validation" if found.stages.n_folds else ""
    elif min(found.n_rows) < selector.n_folds:
        folds = f"cross-validation with at most {selector.n_folds} folds"
    else:
        folds = f"{selector.n_folds}-fold cross-validation"
    return f", with a check by {folds}{_seed(selector.random_state)}" if folds else ""


def _say_stages(fit: Fit, selector: TwoStage, network: Network) -> Iterator[str]:
    """Say how the two stages went, and which network was taken for which reason."""
    stages = fit.selection.stages
    assert stages
    first = stages.each[0]
    if not stages.ended_first:
        known = f" (α = {first.alpha:.4g}, {plural(first.n_edges, 'edge')})"
        were = "were" if len(stages.each) > 1 else "were to be"  # there was no time for the second
        yield f"Edges {were} selected {_two_stages(selector, network, known)}."
    if stages.n_sampled:
        sample = f"a random sample of {stages.n_sampled} rows"
        yield f"Both penalties were searched in {sample}, and then near those in all rows."
    yield from explain_choice(fit)
    if "continuous" in network.kinds and stages.n_folds:
        yield (
            "The gain of a continuous column is −½ log(1 − r²), where r is the rank correlation of held-out values and "
            "their linear predictors."
        )
    if fit.selection.left_out:
        yield f"A time limit ended the search before it reached {fit.selection.left_out}."


def explain_choice(fit: Fit) -> Iterator[str]:
    """Say for which reason the network of a two-stage estimate was taken; nothing of other estimates."""
    stages, selector = fit.selection.stages, fit.method.selector
    if stages is not None and isinstance(selector, TwoStage):
        yield from _explain_stages(stages, selector, fit.network.without_covariates(), fit.solution)


def _explain_stages(
    stages: TwoStageRecord, selector: TwoStage, network: Network, solution: Solution | None = None
) -> Iterator[str]:
    """Say for which reason a network was taken; ``solution`` is that network where its penalty is not named yet."""
    if stages.ended_first:
        yield "A lasso whose penalty was chosen by the AIC found no edges, so no second stage was needed."
        return
    folds = f"{stages.n_folds}-fold cross-validation{_seed(selector.random_state)}"
    folds += f" of {stages.n_sampled} sampled rows" if stages.n_sampled else ""
    at = "" if solution is None else _at(solution.alpha)
    clearly = f"by two standard errors and {1 - stages.keep:.0%} of the gain over a network without edges"
    match stages.reason:
        case "ebic":
            yield f"The network has the smallest extended BIC{at}."
            if stages.n_folds:
                yield (f"{folds} found no network that predicts held-out observations clearly better ({clearly}).")
        case "prediction":
            weaker = "a second stage with penalties in inverse proportion to the square root of the couplings"
            stage = {0.0: "the first stage", 1.0: "the second stage"}.get(stages.chosen.exponent, weaker)
            measure = "" if "continuous" in network.kinds else " in log pseudo-likelihood"
            yield (
                f"{folds} found that other networks predict held-out observations clearly better than the one with "
                f"the smallest extended BIC ({clearly}). The sparsest network that keeps {stages.keep:.0%} of the "
                f"largest cross-validated gain{measure} was taken instead, from {stage}{at}."
            )
        case "empty":
            yield (
                f"In {folds}, none of these networks predicted held-out observations better than a network without "
                "edges."
            )
            if solution is not None and solution.n_edges:
                yield "The network therefore has only pairs that were not penalized."
        case "time":
            which = {"aic": "AIC", "ebic": "extended BIC"}[stages.chosen.criterion]
            yield f"The network has the smallest {which} of those that were compared{at}."
        case _:
            assert_never(stages.reason)


def _say_edges(fit: Fit) -> Iterator[str]:
    """Say how many edges there are, and what is known of their errors."""
    yield f"The network has {fit.solution.n_edges} of {plural(fit.network.n_pairs, 'possible edge')}."
    if fit.refits is not None and np.isfinite(fit.refits.edge_errors).any():
        is_pooled = fit.missing is not None and fit.missing.edge_information is not None
        pooled = f", pooled over imputations by Rubin's rules {cite('imputation')}" if is_pooled else ""
        yield (
            "Standard errors are robust (sandwich) errors of the unpenalized pseudo-likelihood estimate on these edges"
            f"{pooled}; they do not account for the selection."
        )
        if fit.n_infinite:
            why = "its estimate is infinite" if fit.n_infinite == 1 else "their estimates are infinite"
            yield f"{fit.n_infinite} of the edges {'has' if fit.n_infinite == 1 else 'have'} none, because {why}."
    if fit.edge_q is not None and fit.method.fdr is not None:
        n_found, n_untested = int((fit.edge_q <= fit.method.fdr).sum()), int(np.isnan(fit.edge_q).sum())
        untested = f"; {n_untested} could not be tested (infinite or too rare)" if n_untested else ""
        yield (
            f"Pairs of variables were also tested given all others, without a penalty: {n_found} of the edges "
            f"{'is' if n_found == 1 else 'are'} found at a false discovery rate of {fit.method.fdr:g} {cite('fdr')}"
            f"{untested}."
        )


def _say_resamples(found: Bootstrap, penalty: str, is_imputed: bool) -> Iterator[str]:
    """Say how often rows were drawn again, and how far orders were stable when rows were left out."""
    again = f", with the {penalty} chosen again in each" if found.reselect else f", at the {penalty} of the whole table"
    again += ", and missing cells imputed again in each" if is_imputed else ""
    if found.kind == "rows":
        yield f"Intervals are from {plural(found.n_boot, 'bootstrap resample')} of rows{again} {cite('bootstrap')}."
    else:
        stable = ", ".join(f"{value:.2f} ({of.replace('_', ' ')})" for of, value in found.cs_coefficients().items())
        shares = found.drop_shares
        yield (
            f"Stability was assessed by {plural(found.n_boot, 'subset')} of the rows, about {found.n_per_share} for "
            f"each of {len(shares)} shares from {shares.min():.0%} to {shares.max():.0%} that were left "
            f"out{again} {cite('bootstrap')}."
        )
        yield (
            "The CS-coefficients, the largest shares up to which rows can be left out with a correlation of at least "
            f".7 with the whole table in 95% of the subsets of every share, were {stable}."
            if stable
            else "There are no CS-coefficients, because the network has no edges."
        )
    if found.n_unconverged:
        yield f"{found.n_unconverged} of these networks did not reach the tolerance."


def _say_check(found: ModelCheck) -> Iterator[str]:
    """Say whether the network reproduces its table."""
    yield f"As a check, {found.n_simulated} rows were simulated from the network. {found.sentence}"


def _say_differences(found: GroupComparison) -> Iterator[str]:
    """Say what differs between the groups."""
    if len(found.groups) > 2:
        yield "With more than two groups, differences are those between the two groups furthest apart."
    yield (
        f"The largest difference in a coupling was {found.structure:.3g} (p = {found.p_structure:.3g}), the difference "
        f"in global strength {found.strength:.3g} (p = {found.p_strength:.3g})."
    )
    n_found = int((found.edge_p_family <= LEVEL).sum())
    if found.least_p > LEVEL:
        few = f"With {plural(found.n_permutations, 'permutation')} no p-value can be below {found.least_p:.2g}"
        yield f"{few}: nothing could be found."
        return
    edges = {0: "No edge differed", 1: "One edge differed"}.get(n_found, f"{n_found} edges differed")
    yield (
        f"{edges} at p ≤ {LEVEL:g}, corrected for all {found.networks[0].n_pairs} pairs by the distribution of the "
        "largest difference (max-T)."
    )
