"""isinglass demo: the network of the U.S. Senate, and what it shows."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isinglass.cli.command import command, command_line
from isinglass.cli.console import Console, format_seconds
from isinglass.cli.descriptions import describe_solution, fields, records
from isinglass.cli.fit import write_files
from isinglass.cli.output import OutputFolder, require_matplotlib, save_figure

if TYPE_CHECKING:
    from isinglass.data import Table
    from isinglass.datasets import Senate109
    from isinglass.fit import Fit
    from isinglass.select import Selector

ALPHA = 0.06  # the penalty of the paper's figure
FILES = ["report.html", "senate.png", "network.gexf", "edges.csv", "nodes.csv", "model.npz"]
COLORS = {"R": "#d55e00", "D": "#0072b2", "I": "#009e73"}
STABILITY = ("alpha", "threshold", "n_subsamples", "subsample_size", "alphas", "instability", "n_fits")
SHOWN = 5  # strongest couplings that are printed


@command("demo", "n_jobs", "output", "force")
def demo(console: Console, n_jobs: int, output: Path | None, force: bool) -> None:
    """Fit the network of the U.S. Senate and print what it shows.

    Who votes with whom, given the votes of everybody else? One column per senator, all roll calls of 2006. The network
    is fitted three times: at alpha 0.06, the penalty of Geng, Kuang and Page (2017); in two stages, the default of
    `isinglass fit`; and at the penalty that StARS selects.

    With -o, writes the page report.html, the picture senate.png, network.gexf, edges.csv, nodes.csv, model.npz and
    run.json to a folder.
    """
    from isinglass.data import Table
    from isinglass.datasets import load_senate109
    from isinglass.select import Fixed, Method, Run, StARS, TwoStage
    from isinglass.variables import Variables

    folder = None if output is None else OutputFolder(output, FILES, force=force)
    if folder is not None:
        require_matplotlib()
    senate = load_senate109()
    data = Table(senate.X, Variables.binary(senate.names))

    run = Run(n_jobs=n_jobs, progress=console.progress_wanted)

    def fit(selector: Selector) -> tuple[Fit, str]:
        start = time.perf_counter()
        found = Method(selector=selector).fit(data, run=run)
        return found, format_seconds(time.perf_counter() - start)

    (fitted, seconds), (stars, stars_seconds) = fit(Fixed(ALPHA)), fit(StARS())
    default, default_seconds = fit(TwoStage())
    found = _find(fitted, senate)
    for name, other in (("default", default), ("stars", stars)):
        found[name] = {"network": describe_solution(other.solution), "within_party_share": _share_within(other, senate)}
    found["default"]["stages"] = default.stages
    found["stars"] |= fields(stars.stability, *STABILITY)
    if folder is not None:
        with folder.filling() as here, console.progress("Writing"):
            _write_files(here, fitted, data, senate)
    if console.as_json:
        console.write_json(found)
    else:
        console.write(_text(found, fitted.tol, seconds, stars_seconds, default_seconds))
    if folder is not None:
        console.say_facts({"Wrote": folder.summary, "Look": f"open {folder.path / 'report.html'} in a browser"})


def _find(fitted: Fit, senate: Senate109) -> dict[str, Any]:
    """Return what the network shows: the certificate, and how its positive edges follow parties and states."""
    import numpy as np

    strength = np.maximum(fitted.network.couplings, 0.0)
    joined, pairs = strength > 0, ~np.eye(len(strength), dtype=bool)
    party, state = np.array(senate.parties), np.array(senate.states)
    same_party, same_state = party[:, None] == party, state[:, None] == state
    # The other side of a Republican is everybody who is not one; of everybody else it is the Republicans.
    crossing = (party[:, None] == "R") != (party == "R")
    weight, edges = (
        (part * crossing).sum(axis=1) / np.maximum(part.sum(axis=1), 1e-300) for part in (strength, joined)
    )
    (n_rows, n_columns), within = senate.X.shape, int((joined & same_party).sum()) // 2
    return {
        "senate": {
            "n_rows": n_rows,
            "n_columns": n_columns,
            "n_missing": int(np.isnan(senate.votes).sum()),
            "parties": {party: senate.parties.count(party) for party in dict.fromkeys(senate.parties)},
        },
        "network": describe_solution(fitted.solution),
        "strongest": records(fitted.network.edges())[:SHOWN],
        "within_party": {"n_edges": within, "of": int(joined.sum()) // 2, "share": _share_within(fitted, senate)},
        "across": [  # senators with more than half of their positive weight on the other side
            {
                "name": senate.names[k],
                "party": senate.parties[k],
                "share_of_weight": float(weight[k]),
                "share_of_edges": float(edges[k]),
            }
            for k in np.argsort(-weight, kind="stable").tolist()
            if weight[k] > 0.5
        ],
        "joined": {
            "all_pairs": float(joined[pairs].mean()),
            "same_state": float(joined[pairs & same_state].mean()),
            "same_party": float(joined[pairs & same_party].mean()),
            "same_state_and_party": float(joined[pairs & same_state & same_party].mean()),
        },
    }


def _share_within(found: Fit, senate: Senate109) -> float:
    """Return the share of the positive edges that join two senators of one party."""
    positive = found.network.edge_index[found.network.edge_values > 0].tolist()
    same = [bool(senate.parties[s] == senate.parties[t]) for s, t in positive]
    return sum(same) / max(len(same), 1)


def _text(found: dict[str, Any], tol: float, seconds: str, stars_seconds: str, default_seconds: str) -> str:
    """Return the findings in words."""
    senate, network, within, joined = (found[name] for name in ("senate", "network", "within_party", "joined"))
    stars, default = found["stars"], found["default"]
    parties = ", ".join(f"{count} {party}" for party, count in senate["parties"].items())
    across = [
        f"  {row['name']:<16} {row['share_of_weight']:.0%} of the weight, {row['share_of_edges']:.0%} of the edges to "
        f"{'non-Republicans' if row['party'] == 'R' else 'Republicans'}\n"
        for row in found["across"]
    ]
    strongest = [f"    {edge['coupling']:+.3f}  {edge['source']} -- {edge['target']}\n" for edge in found["strongest"]]
    return f"""\
U.S. Senate, 109th Congress, second session (2006)
  {senate["n_rows"]} roll calls, {senate["n_columns"]} senators: {parties}
  {senate["n_missing"]} votes missing, counted as nay

Network at alpha {network["alpha"]:g}, the paper's penalty
  {network["n_edges"]} edges among {senate["n_columns"] * (senate["n_columns"] - 1) // 2} pairs, \
{network["n_positive"]} of them positive
  {"converged" if network["converged"] else "NOT converged"}: \
KKT residual {network["kkt_residual"]:.1e} over all pairs, tolerance {tol:g}
  {network["certified_zeros"]} pairs provably have no edge at this penalty
  fitted in {seconds}

Two clusters, the parties
  {within["share"]:.1%} of the positive edges join two senators of one party ({within["n_edges"]} of {within["of"]})

Senators with more than half of their positive weight on the other side
{"".join(across)}
Pairs that are joined by a positive edge
  {joined["same_state"]:.0%} of the pairs of one state, {joined["all_pairs"]:.0%} of all pairs
  {joined["same_state_and_party"]:.0%} of those of one state and one party, \
{joined["same_party"]:.0%} of those of one party
  The strongest:
{"".join(strongest)}
By default, in two stages: {default["network"]["n_edges"]} edges, \
{default["within_party_share"]:.1%} of the positive ones within a party
  fitted in {default_seconds}
By StARS: alpha {stars["alpha"]:.4g}, {stars["network"]["n_edges"]} edges, \
{stars["within_party_share"]:.1%} of the positive ones within a party
  {stars["n_subsamples"]} subsamples of {stars["subsample_size"]} roll calls, {stars["n_fits"]} fits in {stars_seconds}
"""


def _write_files(here: Path, fitted: Fit, data: Table, senate: Senate109) -> None:
    """Write the report, the picture, the tables and the model."""
    from isinglass.evaluate.metrics import node_table
    from isinglass.export import write_network
    from isinglass.show import plot
    from isinglass.show.layout import force_layout
    from isinglass.show.report import write_report
    from isinglass.solve.path import ising_path

    model = fitted.network
    positive = model.edge_values > 0
    places = force_layout(model.n_features, model.edge_index[positive], model.edge_values[positive])
    attributes: dict[str, Any] = {"party": senate.parties, "state": senate.states}
    write_network(model, here / "edges.csv")
    write_files(here, fitted, data, attributes, "party", group_colors=COLORS, positions=places)
    colors: dict[str, Any] = {"groups": senate.parties, "group_colors": COLORS}
    drawn: dict[str, Any] = {"edge_color": "group", "positive_only": True, "positions": places}
    save_figure(lambda: plot.network(model, plot.paper_axes(356, 203), **colors, **drawn), here / "senate.png")
    write_report(
        fitted,
        here / "report.html",
        X=data,
        path=ising_path(data, 40),
        node_table=node_table(data, model),
        title="U.S. Senate, 2006",
        notes="Who votes with whom, when the votes of all the others are known. Missing votes count as nay.",
        command=shlex.join([*command_line(), "-o", "demo"]),
        **colors,
    )
