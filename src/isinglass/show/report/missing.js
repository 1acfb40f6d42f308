/* The panel of missing cells: where they were, and what was done about them. */

const percent = (share) => (share === null || share === undefined ? "–" : `${(100 * share).toFixed(1)} %`);

const TREATMENTS = {
  impute: (m) =>
    `Missing cells were drawn from an imputation model, a network that the methods text describes, given the observed cells of their row, ${m.n_imputations === 1 ? "once" : `${m.n_imputations} times`}. The network is estimated from all completed tables together. This is valid if cells are missing at random: given the observed cells, whether a cell is missing does not depend on its own value.`,
  zero: () => "Missing cells were read as 0. This is valid only if a missing cell means 0, such as an item that was not bought.",
  drop: () => "Rows with a missing cell were left out. This is valid only if these rows do not differ systematically from the others.",
};

function describeMissing(m) {
  const size = m.n_rows * m.n_columns;
  const known = m.edge_information.filter((share) => share !== null);
  const mean = known.reduce((sum, share) => sum + share, 0) / known.length;
  const left = m.treatment === "drop" ? `They had at least one missing cell${m.n_unlabeled ? ", or no group label" : ""}.` : "They had no answer at all.";
  const settled = m.settled >= 0 ? `converged in round ${m.settled + 1}` : "NOT converged";
  return [
    ["Missing cells", m.n_cells.toLocaleString("en"), `${percent(m.n_cells / size)} of ${m.n_rows.toLocaleString("en")} rows × ${m.n_columns.toLocaleString("en")} columns.`],
    ["Rows left out", m.n_left_out ? m.n_left_out.toLocaleString("en") : null, left],
    ["Rows with missing cells", m.n_holed ? m.n_holed.toLocaleString("en") : null, `${percent(m.n_holed / (m.n_rows - m.n_left_out))} of the rows that stayed, with ${formatCount(m.n_patterns, "pattern")} of columns missing together.`],
    ["Rounds", m.n_rounds ? `${m.n_rounds}` : null, `Imputation model and cells were drawn in turn; the model had ${settled}.`],
    ["Monte Carlo error", m.n_rounds && m.noise !== null ? formatNumber(m.noise) : null, "Root mean square change of the imputation model that another seed would cause."],
    ["Missing information", known.length ? percent(mean) : null, "Mean share of the information about the couplings that is lost to missing cells. The table of edges lists it for each edge."],
  ];
}

/* One bar per column, the emptiest first: the share that is missing, and a tick at the share of missing information. */
function showMissingBars(shares, lost) {
  const order = [...NODES.names.keys()].filter((node) => shares[node] > 0).sort((a, b) => shares[b] - shares[a] || a - b);
  const bars = order.map((node) => {
    const informed = typeof lost?.[node] === "number";
    const told = `${percent(shares[node])} of the cells missing${informed ? `, ${percent(lost[node])} of the information` : ""}`;
    return {
      name: NODES.names[node],
      parts: [["gain", 0, shares[node]], ...(informed ? [["tick", lost[node], lost[node]]] : [])],
      figure: percent(shares[node]),
      title: `${NODES.names[node]}: ${told}`,
    };
  });
  const tick = lost === null ? "." : "; the tick is the share of missing information on the field of the column.";
  byId("missing-legend").textContent = `Share of missing cells${tick}`;
  showBars("missing-bars", bars, "column");
}

function showMissing() {
  const m = DATA.missing;
  if (m === null) return;
  byId("missing-text").textContent = TREATMENTS[m.treatment](m);
  showFacts(byId("missing-facts"), describeMissing(m));
  const shares = nodeColumn("missing");
  byId("missing-columns").hidden = shares === null;
  if (shares !== null) showMissingBars(shares, nodeColumn("missing_information"));
  byId("missing-together").hidden = m.patterns.length === 0;
  const named = (columns) => (columns.length === N_NODES ? "all columns" : columns.map((node) => NODES.names[node]).join(", "));
  showPairs(byId("missing-patterns"), m.patterns.map(({ columns, n_rows }) => [formatCount(n_rows, "row"), named(columns)]));
  const rest = m.n_patterns - m.patterns.length;
  byId("missing-rest").textContent = rest > 0 ? `And ${formatCount(rest, "other pattern")}, each in as many rows as the last one or fewer.` : "";
}
