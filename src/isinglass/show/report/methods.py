"""A paragraph for the methods section of a paper, and what to cite. Every sentence is read off the fit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from isinglass.data.coding import Cut
from isinglass.fit import Fit
from isinglass.network import Network
from isinglass.select import CrossValidation, PerNode, StARS, TwoStage
from isinglass.select.bootstrap_result import Bootstrap
from isinglass.select.comparison import GroupComparison
from isinglass.select.ebic import EBIC
from isinglass.select.method import Method
from isinglass.select.selector import Fixed
from isinglass.variables import KINDS
from isinglass.version import __version__

ESTIMATES = {
    "joint": "by maximizing the L1-penalized pseudo-likelihood",
    "nodewise": "by an L1-penalized logistic regression of every variable on all others",
    "exact": "by maximizing the L1-penalized likelihood, computed by enumeration",
    "plg": "by the published conversion of the pseudo-likelihood to one logistic lasso",
    "bmn": "by the published algorithm of Höfling and Tibshirani",
}
REGRESSIONS = {"binary": "logistic", "ordinal": "adjacent-category logistic", "nominal": "multinomial logistic"}
REFERENCES = {
    "pseudo-likelihood": "Höfling, H., & Tibshirani, R. (2009). Estimation of sparse binary pairwise Markov networks "
    "using pseudo-likelihoods. Journal of Machine Learning Research, 10, 883–906.",
    "node-wise": "Ravikumar, P., Wainwright, M. J., & Lafferty, J. D. (2010). High-dimensional Ising model selection "
    "using ℓ1-regularized logistic regression. Annals of Statistics, 38(3), 1287–1319.",
    "paper": "Geng, S., Kuang, Z., & Page, D. (2017). An efficient pseudo-likelihood method for sparse binary pairwise "
    "Markov network estimation. arXiv:1702.08320.",
    "ordinal": "Goodman, L. A. (1979). Simple models for the analysis of association in cross-classifications having "
    "ordered categories. Journal of the American Statistical Association, 74(367), 537–552.",
    "mixed": "Lee, J. D., & Hastie, T. J. (2015). Learning the structure of mixed graphical models. Journal of "
    "Computational and Graphical Statistics, 24(1), 230–253.",
    "adaptive": "Zou, H. (2006). The adaptive lasso and its oracle properties. Journal of the American Statistical "
    "Association, 101(476), 1418–1429.",
    "ebic": "Barber, R. F., & Drton, M. (2015). High-dimensional Ising model selection with Bayesian information "
    "criteria. Electronic Journal of Statistics, 9(1), 567–607.",
    "per-node": "van Borkulo, C. D., et al. (2014). A new method for constructing networks from binary data. "
    "Scientific Reports, 4, 5918.",
    "stars": "Liu, H., Roeder, K., & Wasserman, L. (2010). Stability approach to regularization selection (StARS) for "
    "high dimensional graphical models. Advances in Neural Information Processing Systems, 23.",
    "imputation": "Rubin, D. B. (1987). Multiple imputation for nonresponse in surveys. Wiley.",
    "bootstrap": "Epskamp, S., Borsboom, D., & Fried, E. I. (2018). Estimating psychological networks and their "
    "accuracy: A tutorial paper. Behavior Research Methods, 50(1), 195–212.",
    "comparison": "van Borkulo, C. D., et al. (2023). Comparing network structures on three aspects: A permutation "
    "test. Psychological Methods, 28(6), 1273–1285.",
}
SHOWN = 6  # columns whose values or thresholds are listed one by one


def methods_text(fit: Fit, bootstrap: Bootstrap | None = None) -> str:
    """Return how the network of a fit was estimated, as the methods section of a paper says it."""
    sentences = [
        _describe_estimate(fit),
        *_describe_coding(fit),
        *_describe_weights(fit),
        *_describe_missing(fit),
        *_describe_choice(fit),
        f"The network has {fit.solution.n_edges} of {fit.network.n_pairs} possible edges.",
        *_describe_proof(fit),
        *(() if bootstrap is None else _describe_bootstrap(bootstrap)),
    ]
    return " ".join(sentences)


def citation(found: Fit | GroupComparison | None = None, bootstrap: Bootstrap | None = None) -> str:
    """Return what to cite: this version of the package, and where the methods of a fit or comparison come from."""
    own = f"The isinglass developers. isinglass (version {__version__}) [Computer software]."
    cited: list[str] = []
    if isinstance(found, Fit):
        cited = _cite_method(found.method, found.network)
        cited += ["imputation"] if found.missing is not None and found.missing.treatment == "impute" else []
    elif found is not None:
        cited = ["comparison", *([] if found.method is None else _cite_method(found.method, found.networks[0]))]
    cited += [] if bootstrap is None else ["bootstrap"]
    return " ".join([own, *(REFERENCES[key] for key in cited)])


def _cite_method(method: Method, network: Network) -> list[str]:
    """Return the keys of the references of a method for the kinds of columns that a network has."""
    selector = method.selector
    bases = {"joint": ["pseudo-likelihood", "paper"], "nodewise": ["node-wise"], "plg": ["paper"]}
    cited = bases.get(method.estimator, ["pseudo-likelihood"])
    cited = cited + [key for kind, key in (("ordinal", "ordinal"), ("nominal", "mixed")) if kind in network.kinds]
    cited += ["adaptive"] if isinstance(selector, TwoStage) else []
    cited += ["ebic"] if isinstance(selector, TwoStage | EBIC) else []
    cited += ["per-node"] if isinstance(selector, PerNode) else []
    return [*cited, *(["stars"] if isinstance(selector, StARS) else [])]


def _describe_estimate(fit: Fit) -> str:
    """Say what was estimated from how many observations, and by which criterion."""
    network = fit.network
    model = "A pairwise Markov network (Ising model)" if network.variables.is_binary else "A pairwise Markov network"
    blocks = ""
    if "nominal" in network.kinds:
        blocks = "; for a pair with a nominal variable a table of couplings, penalized by its Frobenius norm"
    weights = ""
    if isinstance(fit.method.penalty_weights, str):
        weights = ", with penalties weighted by the standard deviations of the variables"
    elif fit.method.penalty_weights is not None:
        weights = ", with penalty weights that were given for every pair"
    return (
        f"{model} of {_describe_columns(network)} was estimated from {fit.n_observations} observations "
        f"{_describe_likelihood(fit.method, network)} (one coupling per pair of variables{blocks}){weights}, with "
        f"isinglass {__version__}."
    )


def _describe_likelihood(method: Method, network: Network) -> str:
    """Say what was maximized; regressions have the likelihood of their variable's kind."""
    if method.estimator != "nodewise" or network.variables.is_binary:
        return ESTIMATES[method.estimator]
    present = ", ".join(REGRESSIONS[kind] for kind in KINDS if kind in network.kinds)
    return f"by a penalized regression of every variable on all others ({present})"


def _describe_columns(network: Network) -> str:
    """Say how many variables of which kind the network has."""
    parts, kinds = [], np.array(network.kinds)
    for kind in KINDS:
        sizes = network.variables.sizes[kinds == kind]
        if len(sizes):
            several = f"{sizes.min()} to {sizes.max()}" if np.ptp(sizes) else f"{sizes[0]}"
            noun = f"{kind} variable{'s' * (len(sizes) > 1)}"
            parts.append(f"{len(sizes)} {noun}" + ("" if kind == "binary" else f" ({several} categories)"))
    return _list(parts)


def _describe_coding(fit: Fit) -> Iterator[str]:
    """Say which answer is 1, where numbers were cut, and what the scores of ordinal variables are."""
    names, variables = fit.network.names, fit.network.variables
    by_column = dict(fit.encoding)
    pairs = {name: by_column.get(name, by_column.get(k)) for k, name in enumerate(names)}
    bits = {name: f"1 stands for {_value(pair[1])} and 0 for {_value(pair[0])}" for name, pair in pairs.items() if pair}
    yield from _say_once(bits, len(names))
    cuts = {
        name: f"1 stands for values above {rule.threshold:g}"
        for name, rule in zip(names, fit.coding.columns, strict=True)
        if isinstance(rule, Cut)
    }
    yield from _say_once(cuts, len(names))
    scores = [scores for kind, scores in zip(variables.kinds, variables.scores, strict=True) if kind == "ordinal"]
    if scores:
        equal = all(np.allclose(np.diff(np.array(each), 2), 0.0) for each in scores)
        spacing = "equally spaced scores" if equal else "the scores that were given"
        yield f"The categories of ordinal variables entered with {spacing}, one coupling per pair."


def _value(value: object) -> str:
    values = value if isinstance(value, tuple) else (value,)
    return " or ".join("no value of the table" if one is None else repr(one) for one in values)


def _say_once(said: dict[str, str], n_columns: int) -> Iterator[str]:
    """Yield one sentence if all columns say the same, a list if there are few, else one that counts them."""
    words = set(said.values())
    if not said:
        return
    if len(words) == 1:
        where = "In all variables" if len(said) == n_columns else f"In {_list(list(said))}"
        yield f"{where} {words.pop()}."
    elif len(said) <= SHOWN:
        yield "I" + "; ".join(f"in {name} {what}" for name, what in said.items())[1:] + "."
    else:
        yield f"What stands for 1 differs between {len(said)} variables and is listed in the model file (fit.coding)."


def _list(names: list[str]) -> str:
    if len(names) > SHOWN:
        return f"{len(names)} variables"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _describe_weights(fit: Fit) -> Iterator[str]:
    if fit.weight_kind == "sampling":
        yield (
            f"Observations had sampling weights, with an effective number of {fit.n_rows:.1f}, which criteria use for "
            "the number of observations."
        )
    elif fit.weight_kind == "counts":
        yield "Rows had weights that count equal observations."


def _describe_missing(fit: Fit) -> Iterator[str]:
    """Say what was done about missing cells, and how many there were."""
    missing = fit.missing
    if missing is None:
        return
    share = missing.n_cells / (missing.n_rows * fit.solution.n_features)
    cells = f"{missing.n_cells} missing cells ({share:.1%})"
    if missing.treatment == "drop":
        yield f"{missing.n_left_out} of {missing.n_rows} rows were left out because of {cells}."
    elif missing.treatment == "zero":
        yield f"{cells} were counted as 0."
    else:
        empty = f"; {missing.n_left_out} rows without any answer were left out" if missing.n_left_out else ""
        yield (
            f"{cells} were imputed {missing.n_imputations} times by stochastic EM, from the network itself given the "
            f"observed cells of their row{empty}."
        )


def _describe_choice(fit: Fit) -> Iterator[str]:
    """Say what chose the penalty, with its settings; of the two-stage estimate what decided in the end."""
    selector, alpha = fit.method.selector, fit.solution.alpha
    if isinstance(selector, TwoStage):
        yield from _describe_stages(fit, selector)
    elif isinstance(selector, PerNode):
        yield f"The penalty of every node was chosen by the extended BIC (γ = {selector.gamma:g})."
    elif isinstance(selector, EBIC):
        relaxed = " of the unpenalized estimates on the selected edges" if selector.relaxed else ""
        yield f"The penalty was chosen by the extended BIC{relaxed} (γ = {selector.gamma:g}, α = {alpha:.4g})."
    elif isinstance(selector, CrossValidation):
        yield f"The penalty was chosen by cross-validation ({selector.words}; α = {alpha:.4g})."
    elif isinstance(selector, StARS):
        yield f"The penalty was chosen by the stability of edges over subsamples ({selector.words}; α = {alpha:.4g})."
    else:
        yield "The penalties were given." if np.isnan(alpha) else f"The penalty was given (α = {alpha:.4g})."
    if fit.method.estimator == "nodewise":
        yield f"The two estimates of a pair were combined by the {fit.method.rule.upper()} rule."


def _describe_stages(fit: Fit, selector: TwoStage) -> Iterator[str]:
    """Say how the two stages went, and which network was taken for which reason."""
    assert fit.stages
    first, taken = fit.stages[0], next(stage for stage in fit.stages if stage["network"])
    if first["n_edges"] == 0:
        yield "A lasso whose penalty was chosen by the AIC found no edges, so that no second stage was needed."
        return
    yield (
        f"Edges were selected in two stages: a lasso with the smallest AIC (α = {first['alpha']:.4g}, "
        f"{first['n_edges']} edges), then an adaptive lasso on its edges with penalties in inverse proportion to their "
        f"couplings, compared by the extended BIC (γ = {selector.gamma:g})."
    )
    n_folds, reason = taken["n_folds"], taken["reason"]
    folds = f"{n_folds}-fold cross-validation (seed {selector.random_state})"
    if reason == "ebic":
        yield f"The network has the smallest extended BIC (α = {fit.solution.alpha:.4g})."
        if n_folds:
            yield (
                f"In {folds} no other network predicted held-out observations better by more than two standard errors "
                f"and {1 - taken['keep']:.0%} of the gain over independent variables."
            )
    elif reason == "empty":
        yield f"In {folds} none of these networks predicted held-out observations better than independent variables."
    else:
        from_stage = {0.0: "the first stage", 1.0: "the second stage"}.get(
            taken["exponent"], "a second stage with penalties in inverse proportion to the square root of the couplings"
        )
        yield (
            f"In {folds} the network with the smallest extended BIC predicted held-out observations worse than others, "
            f"by more than two standard errors and {1 - taken['keep']:.0%} of the gain over independent variables. "
            f"The sparsest network that keeps {taken['keep']:.0%} of the largest cross-validated gain in log "
            f"pseudo-likelihood was taken instead, from {from_stage} (α = {fit.solution.alpha:.4g})."
        )


def _describe_proof(fit: Fit) -> Iterator[str]:
    solution = fit.solution
    if fit.edge_errors is not None and np.isfinite(fit.edge_errors).any():
        robust = " (robust to the sampling weights)" if fit.weight_kind == "sampling" else ""
        pooled = ", pooled over imputations by Rubin's rules" if solution.n_edges and _is_pooled(fit) else ""
        yield f"Standard errors are those of the unpenalized estimate on the selected edges{robust}{pooled}."
    if fit.proves and solution.converged:
        yield (
            f"The computation reached the optimum for this table and penalty (duality gap {solution.duality_gap:.1e}, "
            f"KKT residual {solution.kkt_residual:.1e})."
        )
    elif fit.proves:
        yield (
            f"The computation did NOT reach its tolerance of {fit.tol:g} (duality gap {solution.duality_gap:.1e}, KKT "
            f"residual {solution.kkt_residual:.1e})."
        )


def _is_pooled(fit: Fit) -> bool:
    return fit.missing is not None and fit.missing.edge_information is not None


def _describe_bootstrap(found: Bootstrap) -> Iterator[str]:
    kept = len(set(found.alphas.tolist())) == 1
    again = "at the penalty of the whole table" if kept else "with the penalty chosen again in each"
    drawn = "bootstrap resamples of rows" if found.kind == "rows" else "subsets of the rows"
    yield f"The stability of the network was judged by {found.n_boot} {drawn}, {again}."


def describe_comparison(found: GroupComparison) -> str:
    """Return how groups were compared, as a paper would say it."""
    sizes = ", ".join(f"{group} (n = {n})" for group, n in zip(found.groups, found.n_rows, strict=True))
    how = "exchanging labels within subjects" if found.paired else "reassigning rows to groups at random"
    estimate = ""
    if found.method is not None:
        estimate = f", estimated {_describe_likelihood(found.method, found.networks[0])},"
    chosen = "" if found.method is None else f" ({found.method.words})"
    if found.reselect:
        penalty = f"The penalty was chosen in every group and again in every permutation{chosen}."
    else:
        alpha = found.solutions[0].alpha
        value = f" (α = {alpha:.4g})" if alpha == alpha else ""
        pooled = found.method is not None and not isinstance(found.method.selector, Fixed)
        origin = (
            f", chosen for all rows together{chosen} and multiplied by the square root of the number of groups"
            if pooled
            else ""
        )
        penalty = f"All groups and permutations used the same penalty{origin}{value}."
    apart = "" if len(found.groups) == 2 else " With more than two groups, the two furthest apart count."
    return (
        f"Networks of {_describe_columns(found.networks[0])}{estimate} were compared between "
        f"{len(found.groups)} groups, {sizes}, by {found.n_permutations} permutations, {how}, with isinglass "
        f"{__version__}. {penalty}{apart} The largest difference of a coupling was {found.structure:.3g} "
        f"(p = {found.p_structure:.3g}), the difference of global strength {found.strength:.3g} "
        f"(p = {found.p_strength:.3g}). P-values of edges were corrected for the number of pairs by the distribution "
        "of the largest difference (max-T) and by false discovery rate."
    )
