"""isinglass demo: the networks of the U.S. Senate and of a questionnaire, and what they show."""

from __future__ import annotations

import shlex
import time
from collections import Counter
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING

from isinglass.cli.command import command, command_line
from isinglass.cli.console import Console, format_seconds
from isinglass.cli.fit import write_files
from isinglass.cli.output import OutputFolder, require_matplotlib, save_figure
from isinglass.json_text import JsonObject

if TYPE_CHECKING:
    from isinglass.data import Table
    from isinglass.datasets import Senate109
    from isinglass.fit import Fit
    from isinglass.select import Selector

ALPHA = 0.06  # the penalty of the paper's figure
FILES = ["report.html", "survey.html", "senate.png", "network.gexf", "edges.csv", "nodes.csv", "model.npz"]
COLORS = {"R": "#d55e00", "D": "#0072b2", "I": "#009e73"}
SHOWN = 5  # strongest couplings that are printed


@command("demo", "n_jobs", "output", "force", general="")
def demo(console: Console, n_jobs: int, output: Path | None, force: bool) -> None:
    """Fit the networks of the U.S. Senate and of a questionnaire, and print what they show.

    Which senators vote together, given the votes of all others? There is one column per senator and one row per roll
    call of 2006. The network is fitted three times: at alpha 0.06, the penalty of Geng, Kuang and Page (2017); in two
    stages, the default of `isinglass fit`; and at the penalty that StARS selects. The questionnaire is the American
    National Election Study of 1996: ordered answers, numbers and a vote, fitted by default.

    With -o, writes the page report.html, the picture senate.png, network.gexf, edges.csv, nodes.csv, model.npz and
    run.json to a folder, and survey.html, the page of the questionnaire.
    """
    from isinglass.data import Table
    from isinglass.datasets import load_anes96, load_senate109
    from isinglass.select import Fixed, Method, Run, StARS, TwoStage
    from isinglass.variables import Variables

    folder = None if output is None else OutputFolder(output, FILES, force=force)
    if folder is not None:
        require_matplotlib()
    senate, answers = load_senate109(), load_anes96().table
    votes = Table(senate.X, Variables.binary(senate.names))
    run = Run(n_jobs=n_jobs, progress=console.progress_wanted)

    def fit(selector: Selector, table: Table) -> tuple[Fit, str]:
        start = time.perf_counter()
        found = Method(selector=selector).fit(table, run=run)
        return found, format_seconds(time.perf_counter() - start)

    fitted, seconds = fit(Fixed(ALPHA), votes)
    default, stars, survey = fit(TwoStage(), votes), fit(StARS(), votes), fit(TwoStage(), answers)
    if folder is not None:
        with folder.filling() as here, console.progress("Writing"):
            _write_files(here, votes, fitted, senate)
            _write_survey(here, answers, survey[0])
    people = f"{len(answers)} respondents, {answers.shape[1]} questions"
    console.write(_senate_text(fitted, senate) + _summarize("The paper's penalty", fitted, seconds))
    console.write(_summarize("By default, in two stages", *default) + _summarize("By StARS", *stars))
    console.write(_summarize(f"American National Election Study (1996), {people}, by default", *survey))
    if folder is not None:
        console.say_facts({"Wrote": folder.summary, "Look": f"open {folder.path / 'report.html'} in a browser"})


def _senate_text(fitted: Fit, senate: Senate109) -> str:
    """Return what the network at the paper's penalty shows: how its positive edges follow parties and states."""
    import numpy as np

    strength = np.maximum(fitted.network.couplings, 0.0)
    joined, pairs = strength > 0, ~np.eye(len(strength), dtype=bool)
    party, state = np.array(senate.parties), np.array(senate.states)
    same_party, same_state = party[:, None] == party, state[:, None] == state
    # The other side of a Republican are all who are not; of all others it is the Republicans.
    crossing = (party[:, None] == "R") != (party == "R")
    weight, edges = (
        (part * crossing).sum(axis=1) / np.maximum(part.sum(axis=1), 1e-300) for part in (strength, joined)
    )
    across = "".join(
        f"  {senate.names[k]:<16} {weight[k]:.0%} of the weight, {edges[k]:.0%} of the edges to "
        f"{'non-Republicans' if party[k] == 'R' else 'Republicans'}\n"
        for k in np.argsort(-weight, kind="stable").tolist()
        if weight[k] > 0.5
    )
    parties = ", ".join(f"{count} {name}" for name, count in Counter(senate.parties).items())
    n_positive, n_within = int(joined.sum()) // 2, int((joined & same_party).sum()) // 2
    return f"""\
U.S. Senate, 109th Congress, second session (2006)
  {len(senate.X)} roll calls, {len(party)} senators: {parties}
  {int(np.isnan(senate.votes).sum())} votes missing, counted as nay

Two clusters at alpha {ALPHA:g}, the parties
  {n_within / n_positive:.1%} of the positive edges join two senators of one party ({n_within} of {n_positive})

Senators with more than half of their positive weight on the other side
{across}
Share of pairs that are joined by a positive edge
  {joined[pairs & same_state].mean():.0%} of pairs from the same state, {joined[pairs].mean():.0%} of all pairs
  {joined[pairs & same_state & same_party].mean():.0%} of pairs from the same state and party, \
{joined[pairs & same_party].mean():.0%} of pairs from the same party
"""


def _summarize(title: str, found: Fit, seconds: str) -> str:
    return f"\n{title}, fitted in {seconds}\n{indent(found.summary(SHOWN), '  ')}\n"


def _write_survey(here: Path, answers: Table, fitted: Fit) -> None:
    """Write the page of the questionnaire."""
    from isinglass.show.report import write_report

    title = "American National Election Study, 1996"
    write_report(fitted, here / "survey.html", X=answers, path=fitted.path, title=title)


def _write_files(here: Path, data: Table, fitted: Fit, senate: Senate109) -> None:
    """Write the report, the picture, the tables and the model."""
    from isinglass.evaluate.nodes import node_table
    from isinglass.export import write_network
    from isinglass.show import plot
    from isinglass.show.layout import force_layout
    from isinglass.show.report import write_report
    from isinglass.solve.path import ising_path

    model = fitted.network
    positive = model.edge_values > 0
    places = force_layout(model.n_features, model.edge_index[positive], model.edge_values[positive])
    attributes: JsonObject = {"party": senate.parties, "state": senate.states}
    write_network(model, here / "edges.csv")
    write_files(here, data, fitted, attributes, "party", group_colors=COLORS, positions=places)
    colors: JsonObject = {"groups": senate.parties, "group_colors": COLORS}
    drawn: JsonObject = {"edge_color": "group", "positive_only": True, "positions": places}
    save_figure(lambda: plot.network(model, plot.paper_axes(356, 203), **colors, **drawn), here / "senate.png")
    write_report(
        fitted,
        here / "report.html",
        X=data,
        path=ising_path(data, 40),
        node_table=node_table(data, model),
        title="U.S. Senate, 2006",
        notes="Which senators vote together, given the votes of all others. Missing votes count as nay.",
        command=shlex.join([*command_line(), "-o", "demo"]),
        **colors,
    )
