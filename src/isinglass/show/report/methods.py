"""A paragraph for the methods section of a paper, read off a fit or a comparison of groups, and what to cite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import assert_never

import numpy as np

from isinglass.arguments import check_kind
from isinglass.errors import plural
from isinglass.evaluate.checking import ModelCheck
from isinglass.fit import Fit
from isinglass.network import Network
from isinglass.records import Missing, TwoStageRecord
from isinglass.select import CrossValidation, PerNode, StARS, TwoStage
from isinglass.select.bootstrap_result import Bootstrap
from isinglass.select.group_comparison_result import LEVEL, GroupComparison
from isinglass.select.path_selectors import EBIC
from isinglass.select.selector import Selector
from isinglass.select.settings import seed_words
from isinglass.select.stochastic_em import MODEL
from isinglass.show.report import sentences
from isinglass.show.report.sentences import Draft, cite

# What a selector does, and what to cite for it.
CHOICES: Mapping[type[Selector], tuple[str, ...]] = {
    TwoStage: (
        "in two stages: a lasso with the smallest AIC, then an adaptive lasso on its edges with penalties in inverse "
        "proportion to their couplings, compared by the extended BIC",
        "adaptive",
        "ebic-ising",
    ),
    EBIC: ("by the extended BIC", "ebic-ising"),
    PerNode: ("for every node by the extended BIC", "per-node"),
    CrossValidation: ("by the mean log pseudo-likelihood of held-out rows",),
    StARS: ("by the stability of edges over subsamples", "stars"),
}
NOT_BINARY = {"ebic-ising": "ebic", "per-node": "ebic"}  # the extended BIC of Ising models has references of its own


def describe_fit(fit: Fit, *bootstraps: Bootstrap, check: ModelCheck | None = None) -> Draft:
    """Say how the network of a fit was estimated and checked, as the methods section of a paper does."""
    for each in bootstraps:
        check_kind("bootstraps", each, Bootstrap, "bootstrap")
    if check is not None:
        check_kind("check", check, ModelCheck, "check(X)")
    solution = fit.solution.without_covariates()
    network, names = solution.network, fit.network.names
    effective = f"with an effective number of {fit.data.n_rows:.1f} ({cite('kish')})"
    return Draft.of(
        sentences.say_model(network, fit.method, fit.network.variables.covariates),
        [f"The network was estimated from {plural(fit.data.n_observations, 'observation')}."],
        sentences.say_reading(network, fit.coding, names),
        sentences.say_weights(fit.data.weight_kind, effective),
        sentences.say_missing(fit.missing, len(names), _imputed_from(network)),
        _say_choice(fit, network),
        _say_edges(fit),
        sentences.say_certificate([solution], fit.method, "for this table and penalty"),
        *(_say_resamples(found, fit.missing) for found in bootstraps),
        [] if check is None else _say_check(check),
    )


def describe_comparison(found: GroupComparison) -> Draft:
    """Say how groups were compared, as the methods section of a paper does, and what was found."""
    network = found.networks[0]
    imputed_from = f"{_imputed_from(network)}, for all rows together, ignoring groups"
    return Draft.of(
        sentences.say_model(network, found.method, found.covariates),
        _say_groups(found),
        sentences.say_reading(network, found.coding, found.names),
        sentences.say_weights(found.weight_kind, "which stayed with their rows in every permutation"),
        sentences.say_missing(found.missing, network.n_features + len(found.covariates), imputed_from),
        _say_penalty(found),
        _say_differences(found),
        sentences.say_certificate(found.solutions, found.method, "in every group"),
    )


def _imputed_from(network: Network) -> str:
    return f"a network whose edges were selected {_chosen_by(MODEL, network)}, and refitted almost without a penalty"


def _at(alpha: float) -> str:
    return "" if np.isnan(alpha) else f" (α = {alpha:.4g})"


def _chosen_by(selector: Selector, network: Network, stages: TwoStageRecord | None = None) -> str:
    """Say what chooses the penalty, with its settings; a penalty that is given is chosen by nothing."""
    if selector.is_given:
        return ""
    how, *keys = CHOICES.get(type(selector), ("by a rule of our own",))
    words = selector.words if stages is None else selector.words_for(stages.n_folds)
    keys = [key if set(network.kinds) == {"binary"} else NOT_BINARY.get(key, key) for key in keys]
    if isinstance(selector, TwoStage) and "nominal" in network.kinds:
        keys.append("effective")  # number of parameters of a table of couplings
    return f"{how} ({'; '.join([words, *map(cite, keys)])})"


def _say_choice(fit: Fit, network: Network) -> Iterator[str]:
    selector, at, stages = fit.method.selector, _at(fit.solution.alpha), fit.selection.stages
    if selector.is_given:
        yield f"The penalty was {selector.words}{at}."
        return
    yield f"The penalty was chosen {_chosen_by(selector, network, stages)}{'' if stages else at}."
    if stages is not None:
        first = stages.each[0]
        yield f"The lasso of the first stage has {plural(first.n_edges, 'edge')}{_at(first.alpha)}."
        if stages.n_sampled:
            sample = f"a random sample of {stages.n_sampled} rows"
            yield f"Penalties were searched in {sample}, and then near those in all rows."
        yield from explain_choice(fit)
        if fit.selection.left_out:
            yield f"A time limit ended the search before it reached {fit.selection.left_out}."


def explain_choice(fit: Fit) -> Iterator[str]:
    """Say for which reason the network of a two-stage estimate was taken; nothing of other estimates."""
    if fit.selection.stages is not None:
        yield from _explain_stages(fit.selection.stages, _at(fit.solution.alpha))
        if fit.selection.stages.reason == "empty" and fit.solution.without_covariates().n_edges:
            yield "The network therefore has only pairs that were not penalized."


def _explain_stages(stages: TwoStageRecord, at: str) -> Iterator[str]:
    """Say for which reason a network was taken; ``at`` is its penalty, or nothing where that is named already."""
    clearly = f"clearly better (by two standard errors and {1 - stages.keep:.0%} of the gain over one without edges)"
    folds = f"{stages.n_folds}-fold cross-validation"
    folds += f" of {stages.n_sampled} sampled rows" if stages.n_sampled else ""
    match stages.reason:
        case "empty" if stages.ended_first:
            yield "The first stage found no edges, so no second stage was needed."
        case "empty":
            yield f"In {folds}, none of these networks predicted held-out observations better than one without edges."
        case "ebic":
            yield f"The network has the smallest extended BIC{at}."
            if stages.n_folds:
                yield f"In {folds}, no network predicted held-out observations {clearly}."
        case "prediction":
            weaker = "a second stage with penalties in inverse proportion to the square root of the couplings"
            stage = {0.0: "the first stage", 1.0: "the second stage"}.get(stages.chosen.exponent, weaker)
            yield (
                f"In {folds}, other networks predicted held-out observations {clearly} than the one with the smallest "
                f"extended BIC. The network is the sparsest that keeps {stages.keep:.0%} of the largest gain, from "
                f"{stage}{at}."
            )
        case "time":
            which = {"aic": "AIC", "ebic": "extended BIC"}[stages.chosen.criterion]
            yield f"The network has the smallest {which} of those that were compared{at}."
        case _:
            assert_never(stages.reason)


def _say_edges(fit: Fit) -> Iterator[str]:
    yield f"The network has {fit.solution.n_edges} of {plural(fit.network.n_pairs, 'possible edge')}."
    if fit.refits is not None and np.isfinite(fit.refits.edge_errors).any():
        is_pooled = fit.missing is not None and fit.missing.edge_information is not None
        pooled = f", pooled over imputations by Rubin's rules ({cite('imputation')})" if is_pooled else ""
        yield (
            "Standard errors are robust (sandwich) errors of the unpenalized pseudo-likelihood estimate on these edges"
            f"{pooled}; they do not account for the selection."
        )
        if fit.n_infinite:
            yield f"There are none for {plural(fit.n_infinite, 'edge')} with an infinite estimate."
    if fit.edge_q is not None and fit.method.fdr is not None:
        n_found, n_untested = int((fit.edge_q <= fit.method.fdr).sum()), int(np.isnan(fit.edge_q).sum())
        untested = f"; {n_untested} could not be tested (infinite or too rare)" if n_untested else ""
        yield (
            "Pairs of variables were also tested given all others, without a penalty, at a false discovery rate of "
            f"{fit.method.fdr:g} ({cite('fdr')}): {n_found} of the edges found{untested}."
        )


def _say_resamples(found: Bootstrap, missing: Missing | None) -> Iterator[str]:
    """Say how often rows were drawn again, and how far orders were stable when rows were left out."""
    penalty = "the penalty chosen again" if found.reselect else "the penalty of the whole table"
    imputed = " and missing cells imputed again" if missing is not None and missing.treatment == "impute" else ""
    again = f"with {penalty}{imputed} ({cite('bootstrap')})"
    if found.kind == "rows":
        yield f"Intervals are from {plural(found.n_boot, 'bootstrap resample')} of rows, {again}."
    else:
        shares = found.drop_shares
        yield (
            f"Stability was assessed by {plural(found.n_boot, 'subset')} of the rows, about {found.n_per_share} for "
            f"each of {len(shares)} shares from {shares.min():.0%} to {shares.max():.0%} that were left out, {again}."
        )
        stable = ", ".join(f"{value:.2f} ({of.replace('_', ' ')})" for of, value in found.cs_coefficients().items())
        yield (
            "The CS-coefficients, the largest shares up to which rows can be left out with a correlation of at least "
            f".7 with the whole table in 95% of the subsets of every share, were {stable}."
            if stable
            else "There are no CS-coefficients, because the network has no edges."
        )
    if found.n_unconverged:
        yield f"{found.n_unconverged} of these networks did not reach the tolerance."


def _say_check(found: ModelCheck) -> Iterator[str]:
    yield f"As a check, {found.n_simulated} rows were simulated from the network. {found.sentence}"


def _say_groups(found: GroupComparison) -> Iterator[str]:
    sizes = ", ".join(f"{group} (n = {n})" for group, n in zip(found.groups, found.n_rows, strict=True))
    how = "exchanging labels within subjects" if found.paired else "reassigning rows to groups at random"
    yield (
        f"Such networks were compared between {len(found.groups)} groups, {sizes}, by a permutation test "
        f"({cite('comparison')}) with {plural(found.n_permutations, 'permutation')}{seed_words(found.seed)}, {how}."
    )


def _say_penalty(found: GroupComparison) -> Iterator[str]:
    chosen = _chosen_by(found.method.selector, found.networks[0], found.stages)
    if found.reselect and chosen:
        yield f"The penalty was chosen in every group and again in every permutation {chosen}."
        return
    kept = f", chosen for all rows together {chosen}, and rescaled to the noise in 1/{len(found.groups)} of the rows"
    yield f"All groups and permutations used the same penalty{kept if chosen else ''}{_at(found.solutions[0].alpha)}."
    if found.stages is not None and found.stages.reason != "ebic":
        yield from _explain_stages(found.stages, "")


def _say_differences(found: GroupComparison) -> Iterator[str]:
    if len(found.groups) > 2:
        yield "With more than two groups, differences are those between the two groups furthest apart."
    yield (
        f"The largest difference in a coupling was {found.structure:.3g} (p = {found.p_structure:.3g}), the difference "
        f"in global strength {found.strength:.3g} (p = {found.p_strength:.3g})."
    )
    if found.n_unconverged:
        yield f"{found.n_unconverged} of the permutations did not reach the tolerance."
    if found.least_p > LEVEL:
        few = f"With {plural(found.n_permutations, 'permutation')} no p-value can be below {found.least_p:.2g}"
        yield f"{few}: nothing could be found."
        return
    n_found = int((found.edge_p_family <= LEVEL).sum())
    yield (
        f"At p ≤ {LEVEL:g}, corrected for all {found.networks[0].n_pairs} pairs by the distribution of the largest "
        f"difference (max-T), {plural(n_found, 'edge')} differed."
    )
