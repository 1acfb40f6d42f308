/* The page: one state, and everything that shows it. */

const state = {
  k: SELECTED,
  positive: true,
  negative: true,
  unsigned: true,
  least: 0,
  focus: -1,
  edge: -1,
  group: -1,
  labels: "auto",
  size: "strength",
  edgeColor: "sign",
  hideIsolated: false,
};

const VALUE_WORD = HAS_UNSIGNED ? (HAS_SIGNED ? "Coupling or norm" : "Norm") : "Coupling";

function nameFile(what, ending) {
  const alpha = PATH.alphas[state.k];
  return alpha === null ? `${what}.${ending}` : `${what}_alpha_${formatAlpha(alpha)}.${ending}`;
}

const column = (label) => NODES.columns.find((found) => found.label === label)?.values ?? null;

/* How far the edges depend on the sample, as far as that was looked at. */
function describeUncertainty() {
  const { rows, "case-drop": subsets } = DATA.n_resamples;
  if (rows !== undefined) {
    return { figure: `${rows.toLocaleString("en")} resamples`, extra: "intervals in the tables below", sentence: "How much the edges depend on the sample is shown by the resamples in the tables of edges and nodes." };
  }
  if (subsets !== undefined) {
    return { figure: `${subsets.toLocaleString("en")} subsets`, extra: "CS-coefficients below the table of nodes", sentence: "How much the order of nodes and edges depends on the sample is shown by the CS-coefficients; intervals of the edges were not assessed." };
  }
  if (DATA.curve?.kind === "instability") {
    return { figure: "subsamples", extra: "shares in the table of edges", sentence: "How much the edges depend on the sample is shown by the shares of subsamples in the table of edges." };
  }
  const commands = "isinglass bootstrap, then isinglass report --bootstrap (Python: bootstrap, write_report)";
  return { figure: "not assessed", extra: `to add it: ${commands}`, sentence: `How much the edges depend on the sample was not assessed here; ${commands} adds it.` };
}

/* What the certificate is about, in words: one optimum, one per regression, or none that is proved. */
const UNCERTAINTY = describeUncertainty();
const OTHER_ROWS = `It says nothing about other samples. ${UNCERTAINTY.sentence}`;
const TABLE = DATA.missing?.treatment === "impute" ? "the completed table" : "this table";
const JOINT = {
  figure: ["Computation", "exact optimum", "not at the optimum"],
  about: `for ${TABLE} and penalty, with certificate`,
  reached: `The computation reached the optimum for ${TABLE} and this penalty`,
  missed: "The tolerance was NOT reached: some edges may be wrong. Allow more iterations.",
  residual: "Largest violation of the optimality conditions, over all pairs and fields. Zero at the optimum.",
  gap: "The objective is at most this much above its minimum.",
  note: `This is a proof about the computation: up to the gap, no other couplings fit these rows better under this penalty. ${OTHER_ROWS}`,
};
const VERDICTS = {
  joint: JOINT,
  exact: JOINT,
  nodewise: {
    figure: ["Computation", "exact optima", "not all at their optimum"],
    about: `for ${TABLE} and these penalties, with certificate`,
    reached: `Each of the ${N_NODES} regressions reached its optimum`,
    missed: "A regression did NOT reach the tolerance: some edges may be wrong. Allow more iterations.",
    residual: "Largest violation of a regression’s optimality conditions. Zero where each is at its optimum.",
    gap: "The objectives of all regressions together are at most this much above their minima.",
    note: `This is a proof about each regression: no other coefficients fit these rows better under its penalty. The couplings combine two coefficients of every pair${DATA.certificate.rule === null ? "" : ` by the rule “${DATA.certificate.rule}”`}; no single objective has the network as its optimum. ${OTHER_ROWS}`,
  },
};

/* The commands of a report leave its name to the page, so that equal reports are equal files. */
function writeCommand() {
  if (DATA.command === null || !DATA.command.endsWith(" -o {page}")) return DATA.command;
  let name = "report.html";
  try {
    name = decodeURIComponent(location.pathname.split("/").pop()) || name;
  } catch {
    /* an address that is no text */
  }
  const word = /^[\w.@%+=:,-]+$/.test(name) ? name : `'${name.replaceAll("'", `'"'"'`)}'`;
  return DATA.command.replace(/\{page\}$/, () => word);
}

/* ---------------------------------------------------------------------- parts that never change */

/* The number of observations, with the effective number where they have sampling weights. */
function describeRows() {
  const write = (value) => value.toLocaleString("en", { maximumFractionDigits: 2 });
  if (DATA.n_rows === null) return [];
  return [["Rows", write(DATA.n_rows), DATA.effective_rows === null ? "" : `effective number with their weights ${write(DATA.effective_rows)}`]];
}

function showLead() {
  byId("notes").append(...DATA.notes.map((text) => make("p", { text })));
  const network = networkAt(SELECTED);
  const signs = [[network.positive, "positive"], [network.negative, "negative"]].filter(([count]) => count || !network.unsigned);
  const capped = IS_CAPPED ? "" : [...signs, ...(network.unsigned ? [[network.unsigned, "without sign"]] : [])].map((part) => part.join(" ")).join(", ");
  const alpha = PATH.alphas[SELECTED];
  const figures = [
    ["Nodes", N_NODES.toLocaleString("en"), ""],
    ...describeRows(),
    ["Edges", PATH.n_edges[SELECTED].toLocaleString("en"), capped],
    ...(alpha !== null || PATH.per_node ? [["Penalty α", formatAlpha(alpha), ""]] : []),
  ];
  const proof = DATA.certificate;
  if (proof.kkt_residual[SELECTED] !== null) {
    const { figure: [label, reached, missed], about } = VERDICTS[proof.kind];
    const converged = proof.converged[SELECTED];
    const tone = converged ? "good" : "bad";
    const residual = `KKT residual ${formatNumber(proof.kkt_residual[SELECTED], 2)}`;
    figures.push([label, converged ? reached : missed, converged ? `${about}; ${residual}` : residual, tone]);
  }
  if (DATA.methods !== null) figures.push(["Sampling uncertainty", UNCERTAINTY.figure, UNCERTAINTY.extra]);
  byId("figures").append(
    ...figures.map(([label, value, extra, tone]) => {
      const figure = make("dd", { class: tone ?? "", text: value });
      if (extra) figure.append(make("small", { text: extra }));
      return make("div", {}, [make("dt", { text: label }), figure]);
    }),
  );
}

function showReproduction() {
  byId("version").textContent = DATA.versions.isinglass;
  const fill = (id, pairs) => byId(id).append(...Object.entries(pairs).flatMap(([name, value]) => [make("dt", { text: name }), make("dd", { text: value })]));
  fill("versions", DATA.versions);
  fill("covariates", DATA.covariates);
  byId("covariates-box").hidden = Object.keys(DATA.covariates).length === 0;
  fill("settings", DATA.settings);
  byId("settings-box").hidden = Object.keys(DATA.settings).length === 0;
  byId("methods-box").hidden = DATA.methods === null;
  byId("methods").textContent = DATA.methods ?? "";
  byId("citation").append(...DATA.citation.split("\n").map((text) => make("li", { text })));
  byId("command-box").hidden = DATA.command === null;
  const command = writeCommand();
  byId("command").textContent = command ?? "";
  byId("copy").addEventListener("click", async () => {
    getSelection().selectAllChildren(byId("command")); /* remains if copying is not allowed */
    try {
      await navigator.clipboard.writeText(command);
      announce("Command copied.");
      byId("copy").textContent = "Copied";
    } catch {
      announce("Command selected; press Ctrl+C to copy it.");
      byId("copy").textContent = "Selected: press Ctrl+C";
    }
  });
}

const isCount = (label) => /^n[01][01]$/.test(label);

/* Hide what there is nothing to say about, and the links that lead there. */
function showSections() {
  const hasColumn = (name) => DATA.edge_columns.some(({ label }) => label === name);
  const present = { categories: CATEGORIES !== null, binary: CATEGORIES === null, nominal: CATEGORIES?.kinds.includes("nominal") ?? false, partial: hasColumn("partial_correlation"), refitted: hasColumn("refitted"), paths: column("closeness") !== null, bridges: column("bridge_strength") !== null, continuous: CATEGORIES?.kinds.includes("continuous") ?? false, unsigned: HAS_UNSIGNED, signed: HAS_SIGNED, missing: MISSING !== null, imputed: MISSING?.treatment === "impute", check: DATA.check !== null, choice: DATA.curve !== null, predictability: column("accuracy") !== null, "choice-instability": DATA.curve?.kind === "instability", counts: hasColumn("n11"), resampled: hasColumn("inclusion") };
  for (const element of document.querySelectorAll("[data-section]")) element.hidden = !present[element.dataset.section];
  byId("choice").hidden = !present.choice;
  byId("predictability").hidden = !present.predictability;
  byId("path").hidden = N_ALPHAS < 2;
  byId("group-box").hidden = !HAS_GROUPS;
  byId("edge-color-choice").hidden = !HAS_GROUPS;
  const shares = DATA.edge_columns.find(({ label }) => label.startsWith("in subsamples"));
  const notes = [
    ...(shares ? [`“${shares.label[0].toUpperCase()}${shares.label.slice(1)}” is the share of subsamples of the rows whose network has the edge${N_ALPHAS > 1 ? "; it does not follow the slider" : ""}.`] : []),
    ...(present.counts ? ["n11, n10, n01 and n00 count the rows in which the two columns are 1 and 1, 1 and 0, 0 and 1, 0 and 0."] : []),
    ...(DATA.edge_columns.some(({ label, values }) => isCount(label) && !isWhole(values)) ? ["They are not whole because rows have weights, or because missing cells were imputed several times."] : []),
  ];
  byId("edges-note").hidden = notes.length === 0;
  byId("edges-note").textContent = notes.join(" ");
  byId("nodes-note").hidden = NODES.columns.length === 0 || N_ALPHAS < 2;
  byId("cs").hidden = DATA.cs === null;
  byId("cs").textContent = DATA.cs === null ? "" : describeStability(DATA.cs);
  if (IS_CAPPED) {
    byId("capped").hidden = false;
    byId("capped").textContent =
      `This page stores ${PATH.s.length.toLocaleString("en")} of the ${PATH.n_pairs.toLocaleString("en")} pairs that are joined somewhere on the path: those of the selected network first, then those that appear early. Counts of edges are complete; the drawing, the tables and the measures of nodes are not.`;
  }
}

const FEW_SUBSETS = 20; /* below which "95 % of the subsets" means all of them */

function describeStability({ coefficients, n_per_share }) {
  const each = Object.entries(coefficients).map(([of, value]) => `${of.replaceAll("_", " ")} ${value.toFixed(2)}`).join(", ");
  const few = n_per_share < FEW_SUBSETS ? " That is too few for a statement about 95 % of them." : "";
  return `CS-coefficients: ${each}. Each is the largest share of rows that can be dropped while the measure still correlates by at least 0.7 with that of all rows in 95 % of the subsets; it should be above 0.25, preferably above 0.5. There are about ${formatCount(n_per_share, "subset")} per share.${few}`;
}

function makeCurve() {
  const curve = DATA.curve;
  const alpha = formatAlpha(curve.alphas[curve.choice]);
  const title = byId("choice-title");
  const text = byId("choice-text");
  if (curve.kind === "instability") {
    title.textContent = "Stability of the edges (StARS)";
    text.textContent = `The network was estimated again from ${curve.n_subsamples} subsamples of ${curve.subsample_size} rows. The dotted curve shows how much they disagree about the edges, the solid line its running maximum. The choice, α = ${alpha}, is the smallest penalty at which the solid line is at most ${curve.threshold}.`;
    return {
      alphas: curve.alphas,
      lines: [{ kind: "side", values: curve.values }, { kind: "main", values: curve.monotone }],
      limit: curve.threshold,
      limitLabel: `threshold ${curve.threshold}`,
      choice: curve.choice,
      fromZero: true,
      yLabel: "instability",
      summary: `Instability along the path; the choice is alpha ${alpha}, where it is ${formatNumber(curve.monotone[curve.choice])}, below the threshold ${curve.threshold}.`,
    };
  }
  if (curve.kind === "score") {
    title.textContent = "Prediction of rows left out (cross-validation)";
    text.textContent = `Mean log pseudo-likelihood of rows that were held out, larger is better; the band is one standard error. The choice by the rule “${curve.rule}” is α = ${alpha}.`;
    const band = [-1, 1].map((sign) => curve.values.map((value, k) => (value === null ? null : value + sign * (curve.errors[k] ?? 0))));
    return { alphas: curve.alphas, lines: [{ kind: "main", values: curve.values }], band, choice: curve.choice, yLabel: "held-out score per row", summary: `Held-out score along the path; the choice is alpha ${alpha}.` };
  }
  title.textContent = "Extended BIC";
  text.textContent = `A trade-off of fit and number of edges (γ = ${curve.gamma}${curve.relaxed ? ", judged by unpenalized estimates" : ""}), smaller is better. ${explainEbic(curve, alpha)}`;
  return { alphas: curve.alphas, lines: [{ kind: "main", values: curve.values }], choice: curve.choice, yLabel: "EBIC", summary: `Extended BIC along the path; the choice is alpha ${alpha}.` };
}

/* The two-stage estimate may take another network than that with the smallest EBIC, and says why. */
function explainEbic(curve, alpha) {
  if (curve.reason === "prediction") return `The network with the smallest value was not chosen: in cross-validation it predicted held-out rows clearly worse than others. The choice, α = ${alpha}, is the sparsest network that predicts almost as well as the best.`;
  if (curve.reason === "empty") return "No network predicted held-out rows better than independent columns, so the network has no edges.";
  return `The choice is α = ${alpha}.`;
}

const BARS_AT_ONCE = 40;

/* How much of the variance of a column of numbers the others explain. */
function writeExplained(node) {
  const share = column("r_squared")?.[node] ?? null;
  return share === null ? "–" : `R² ${share.toFixed(2).replace("-", MINUS)}`;
}

function showBars(limit) {
  const accuracy = column("accuracy");
  const marginal = column("marginal_accuracy");
  if (accuracy === null) return;
  const explained = column("r_squared"); /* of columns of numbers, which have no accuracy */
  const shareOf = (node) => accuracy[node] ?? Math.max(0, explained?.[node] ?? 0);
  const order = [...NODES.names.keys()].sort((a, b) => shareOf(b) - shareOf(a) || a - b);
  const part = (kind, from, to) => {
    const span = make("span", { class: kind });
    [span.style.left, span.style.right] = [`${100 * from}%`, `${100 * (1 - to)}%`];
    return span;
  };
  byId("bars").replaceChildren(
    ...order.slice(0, limit).map((node) => {
      const [guess, reached] = [marginal?.[node] ?? 0, shareOf(node)];
      const [low, high] = [Math.min(guess, reached), Math.max(guess, reached)];
      const meter = make("span", { class: "meter" }, [part("guess", 0, low), part(reached < guess ? "loss" : "gain", low, high)]);
      const name = make("span", { class: "name", text: NODES.names[node], title: NODES.names[node] });
      return make("li", {}, [name, meter, make("span", { class: "figure", text: accuracy[node] === null ? writeExplained(node) : `${(100 * accuracy[node]).toFixed(1)} %` })]);
    }),
  );
  showMore(byId("bars-more"), Math.min(limit, N_NODES), N_NODES, "node", showBars);
}

/* ---------------------------------------------------------------------- tables */

const edgeTable = new DataTable("edges", {
  noun: "edge",
  columns: [
    { label: "Node", field: "source", value: (pair) => NODES.names[pair.s], searched: true },
    { label: "Neighbor", field: "target", value: (pair) => NODES.names[pair.t], searched: true },
    {
      label: VALUE_WORD,
      field: "coupling",
      number: true,
      value: (pair) => pair.value,
      write: (pair) => formatValue(pair),
      sortKey: (pair) => pair.value,
      tone: (pair) => ["minus", "none", "plus"][pair.sign + 1],
    },
    { label: "Weight", field: "weight", number: true, minor: true, value: (pair) => Math.abs(pair.value) },
    ...DATA.edge_columns.map(({ label, field, values }) => ({
      label: /^(mean$|q\d)/.test(label) ? `Bootstrap ${label}` : (/^[a-z]\d/.test(label) ? label : label[0].toUpperCase() + label.slice(1)).replaceAll("_", " "),
      field: field.replaceAll(" ", "_"),
      minor: isCount(label),
      counts: isCount(label),
      number: values.some((value) => typeof value === "number"),
      whole: isWhole(values),
      value: (pair) => values[pair.e],
    })),
  ],
  sortBy: 3,
  descending: true,
  filename: () => nameFile("edges", "csv"),
  pick: (pair) => {
    focusEdge(pair);
    if (state.edge >= 0) byId("edge").scrollIntoView({ block: "nearest" });
  },
});

const nodeTable = new DataTable("nodes", {
  noun: "node",
  columns: [
    { label: "Node", field: "name", value: (node) => NODES.names[node], searched: true },
    ...(HAS_GROUPS ? [{ label: "Group", field: "group", value: (node) => groupOf(node)?.name ?? "", write: (node) => groupOf(node)?.name ?? "" }] : []),
    ...["degree", "strength", "influence"].map((measure) => ({
      label: measure === "influence" ? "Expected influence" : measure[0].toUpperCase() + measure.slice(1),
      field: measure === "influence" ? "expected_influence" : measure,
      number: true,
      whole: measure === "degree",
      value: (node) => networkAt(state.k)[measure][node],
    })),
    ...(NODES.fields === null ? [] : [{ label: "Field", field: "field", number: true, value: (node) => NODES.fields[node] }]),
    ...NODES.columns.map(({ label, values }) => ({
      label: label[0].toUpperCase() + label.slice(1).replaceAll("_", " "),
      field: label.replaceAll(" ", "_"),
      number: values.some((value) => typeof value === "number"),
      whole: isWhole(values),
      tucked: label === "wording",
      value: (node) => values[node],
    })),
  ],
  sortBy: HAS_GROUPS ? 3 : 2,
  descending: true,
  filename: () => nameFile("nodes", "csv"),
  pick: (node) => focusNode(node),
});

/* ---------------------------------------------------------------------- what follows the slider and the filters */

const view = new NetworkView(byId("canvas"), byId("tooltip"), state, {
  describe: {
    node: (node) => {
      const network = networkAt(state.k);
      const group = groupOf(node);
      const accuracy = column("accuracy");
      const lines = [NODES.names[node]];
      const wording = column("wording")?.[node];
      if (wording) lines.push(wording);
      if (group !== null) lines.push(group.name);
      lines.push(`${formatCount(network.degree[node], "edge")}, strength ${formatNumber(network.strength[node], 2)}`);
      if (accuracy !== null) lines.push(accuracy[node] === null ? `${writeExplained(node)} given the others` : `predicted in ${(100 * accuracy[node]).toFixed(1)} % of rows`);
      return lines;
    },
    pair: (pair) => [`${NODES.names[pair.s]} – ${NODES.names[pair.t]}`, `${pair.sign === 0 ? "norm" : "coupling"} ${formatValue(pair)}`],
  },
  choose: (node, pair) => (pair === null ? focusNode(node) : focusEdge(pair)),
});
const spark = new Spark(byId("spark"));
const chart = DATA.curve === null ? null : new CurveChart(byId("choice-chart"), makeCurve());

function update() {
  const network = networkAt(state.k);
  const least = state.least;
  const shown = [state.negative, state.unsigned, state.positive];
  const pairs = network.pairs.filter(({ value, sign }) => shown[sign + 1] && Math.abs(value) >= least);
  view.setEdges(pairs, network);
  edgeTable.setRows([...pairs]);
  nodeTable.setRows([...NODES.names.keys()]);
  showCounts(network, pairs);
  showCertificate();
  showDetail();
  showEdge(pairs.find(({ e }) => e === state.edge) ?? null, state.k === SELECTED);
}

function showCounts(network, pairs) {
  const { k } = state;
  const alpha = formatAlpha(PATH.alphas[k]);
  const total = PATH.n_edges[k];
  const shown = pairs.length === total ? formatCount(total, "edge") : `${pairs.length.toLocaleString("en")} of ${formatCount(total, "edge")} shown`;
  byId("alpha").textContent = alpha;
  byId("edge-count").textContent = shown;
  byId("count-positive").textContent = network.positive.toLocaleString("en");
  byId("count-negative").textContent = network.negative.toLocaleString("en");
  byId("count-unsigned").textContent = network.unsigned.toLocaleString("en");
  byId("network-aside").textContent = N_ALPHAS > 1 ? `${shown} at α = ${alpha}` : shown;
  byId("edges-aside").textContent = N_ALPHAS > 1 ? `${shown} at α = ${alpha}` : shown;
  byId("nodes-aside").textContent = N_ALPHAS > 1 ? `${N_NODES.toLocaleString("en")} at α = ${alpha}` : N_NODES.toLocaleString("en");
  byId("strength-value").textContent = `${HAS_UNSIGNED ? "weight" : "|coupling|"} ≥ ${formatNumber(state.least, 2)}`;
  byId("slider").value = String(k);
  byId("slider").setAttribute("aria-valuetext", `alpha ${alpha}, ${formatCount(total, "edge")}${k === SELECTED ? ", selected" : ""}`);
  byId("back").disabled = k === SELECTED;
  byId("canvas").setAttribute("aria-label", `Network of ${formatCount(N_NODES, "node")}, ${shown}${N_ALPHAS > 1 ? ` at alpha ${alpha}` : ""}.`);
  spark.setNow(k);
  chart?.setNow(PATH.alphas[k]);
}

function showCertificate() {
  const { k } = state;
  const proof = DATA.certificate;
  const words = VERDICTS[proof.kind];
  const known = proof.kkt_residual[k] !== null;
  byId("certificate-aside").textContent = N_ALPHAS > 1 ? `at α = ${formatAlpha(PATH.alphas[k])}` : "";
  const verdict = byId("verdict");
  verdict.className = `verdict ${known ? (proof.converged[k] ? "good" : "bad") : ""}`.trim();
  if (!known) verdict.textContent = "This network came without a certificate.";
  else if (proof.converged[k]) verdict.textContent = `${words.reached}, within ${proof.tol[k] === null ? "the tolerance" : `a tolerance of ${formatNumber(proof.tol[k], 1)}`}.`;
  else verdict.textContent = words.missed;
  byId("certificate-note").textContent = words.note;
  const small = (value) => (value === null ? "–" : value === 0 ? "0" : value.toExponential(1).replace("-", MINUS));
  const n_pairs = (N_NODES * (N_NODES - 1)) / 2;
  const n_candidates = proof.candidates ?? n_pairs;
  const n_screened = proof.n_screened[k] === null ? 0 : proof.n_screened[k] - (n_pairs - n_candidates);
  const failed = proof.converged.filter((converged) => !converged).length;
  const facts = [
    ["KKT residual", small(proof.kkt_residual[k]), words.residual],
    ["Duality gap", small(proof.duality_gap[k]), words.gap],
    ["Relative gap", proof.relative_gap[k] === null ? null : small(proof.relative_gap[k]), "The gap as a share of the objective without edges; this share and the residual are what the tolerance bounds."],
    ["Objective", proof.objective[k] === null ? null : formatNumber(proof.objective[k], 6), proof.null_objective === null ? "Loss plus penalty." : `Loss plus penalty; ${formatNumber(proof.null_objective, 6)} without edges.`],
    ["Candidates", proof.candidates === null ? null : proof.candidates.toLocaleString("en"), `of ${n_pairs.toLocaleString("en")} pairs: those with an edge in stage 1, which sets their penalties. The proof is about these pairs; the others were left out by stage 1.`],
    ["Certified zeros", proof.certified_zeros[k] ? proof.certified_zeros[k].toLocaleString("en") : null, `of ${n_candidates.toLocaleString("en")} ${proof.candidates === null ? "pairs" : "candidates"}. These are proved to have no edge at this penalty.`],
    ["Iterations", proof.n_iter[k] ? String(proof.n_iter[k]) : null, n_screened > 0 ? `Screening excluded ${formatCount(n_screened, "pair")}; the proof covers them too.` : "Newton steps of the solver."],
    ["The path", N_ALPHAS > 1 ? `${N_ALPHAS - failed} of ${N_ALPHAS}` : null, "networks on the slider reached their tolerance."],
  ];
  byId("certificate-facts").replaceChildren(
    ...(known ? facts : []).filter(([, value]) => value !== null).map(([name, value, text]) => make("div", {}, [make("dt", { text: name }), make("dd", { class: "figure", text: value }), make("dd", { class: "words", text })])),
  );
}

function showDetail() {
  const node = state.focus;
  byId("detail").hidden = node < 0;
  if (node < 0) return;
  const network = networkAt(state.k);
  const group = groupOf(node);
  const facts = [column("wording")?.[node], group?.name, `${formatCount(network.degree[node], "edge")}`, `strength ${formatNumber(network.strength[node], 2)}`];
  byId("detail-name").textContent = NODES.names[node];
  byId("detail-facts").textContent = facts.filter(Boolean).join(" · ");
  showShares(node);
  const edges = [...view.neighbors[node]].sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  byId("detail-label").textContent = edges.length ? "Neighbors, strongest first" : "No neighbors here";
  byId("detail-list").replaceChildren(
    ...edges.map((pair) => {
      const other = pair.s === node ? pair.t : pair.s;
      const button = make("button", { type: "button" }, [make("span", { text: NODES.names[other] }), make("span", { class: ["minus", "none", "plus"][pair.sign + 1], text: formatValue(pair, 2) })]);
      button.addEventListener("click", () => {
        focusNode(other);
        byId("detail-close").focus();
      });
      const table = make("button", { type: "button", class: "table", "aria-label": `Table of the edge to ${NODES.names[other]}`, title: "Table of this edge", text: "⊞" });
      table.addEventListener("click", () => {
        focusEdge(pair);
        byId("edge-close").focus();
      });
      return make("li", {}, [button, table]);
    }),
  );
}

/* Show the table of an edge; a second time, or null, puts it away. */
function focusEdge(pair) {
  state.edge = pair === null || pair.e === state.edge ? -1 : pair.e;
  state.focus = -1;
  showDetail();
  showEdge(state.edge < 0 ? null : pair, state.k === SELECTED);
  view.draw();
  announce(state.edge < 0 ? "No edge highlighted." : `${NODES.names[pair.s]} – ${NODES.names[pair.t]}: ${pair.sign === 0 ? "norm" : "coupling"} ${formatValue(pair)}.`);
}

function focusNode(node) {
  state.edge = -1;
  showEdge(null, true);
  state.focus = node === state.focus ? -1 : node;
  if (state.focus >= 0) view.reveal(state.focus);
  showDetail();
  view.draw();
  const network = networkAt(state.k);
  announce(state.focus < 0 ? "No node highlighted." : `${NODES.names[node]}: ${formatCount(network.degree[node], "edge")}.`);
}

function goTo(k) {
  state.k = Math.min(N_ALPHAS - 1, Math.max(0, k));
  update();
}

/* ---------------------------------------------------------------------- controls */

function connectSlider() {
  const slider = byId("slider");
  slider.max = String(N_ALPHAS - 1);
  const share = N_ALPHAS > 1 ? SELECTED / (N_ALPHAS - 1) : 0;
  byId("mark").style.left = byId("mark-label").style.left = `calc(9px + (100% - 18px) * ${share})`;
  byId("mark-label").textContent = `selected: α = ${formatAlpha(PATH.alphas[SELECTED])}`;
  byId("mark-label").hidden = false;
  /* The words at the ends make room for the mark. */
  for (const [end, near] of [[0, share < 0.2], [2, share > 0.8]]) byId("mark-label").parentElement.children[end].classList.toggle("unseen", near);
  if (share < 0.1 || share > 0.9) byId("mark-label").style.translate = share < 0.1 ? "0 0" : "-100% 0";
  slider.addEventListener("input", () => {
    pause();
    goTo(Number(slider.value));
  });
  byId("back").addEventListener("click", () => {
    pause();
    goTo(SELECTED);
    announce(`Back at the selected alpha: ${formatCount(PATH.n_edges[SELECTED], "edge")}.`);
  });
  byId("play").addEventListener("click", () => (playing === null ? play() : pause()));
}

let playing = null;

/* Let the network appear, from the empty end or from where the slider stands. */
function play() {
  if (state.k === N_ALPHAS - 1) goTo(0);
  const pause_ms = Math.max(60, 6000 / N_ALPHAS);
  playing = setInterval(() => {
    goTo(state.k + 1);
    if (state.k === N_ALPHAS - 1) pause();
  }, pause_ms);
  byId("play").setAttribute("aria-pressed", "true");
  byId("play").setAttribute("aria-label", "Pause");
}

function pause() {
  clearInterval(playing);
  playing = null;
  byId("play").setAttribute("aria-pressed", "false");
  byId("play").setAttribute("aria-label", "Play the path");
}

function connectFilters() {
  const [positive, negative, unsigned, only] = ["show-positive", "show-negative", "show-unsigned", "positive-only"].map(byId);
  const apply = () => {
    [state.positive, state.negative, state.unsigned] = [positive.checked, negative.checked, unsigned.checked];
    only.checked = positive.checked && !negative.checked && (!unsigned.checked || !HAS_UNSIGNED);
    update();
  };
  positive.addEventListener("change", apply);
  negative.addEventListener("change", apply);
  unsigned.addEventListener("change", apply);
  only.addEventListener("change", () => {
    [positive.checked, negative.checked, unsigned.checked] = [true, !only.checked, !only.checked];
    apply();
  });
  byId("strength").addEventListener("input", (event) => {
    /* Squared: most couplings are small, so that the slider is finer there. */
    state.least = STRONGEST * (Number(event.target.value) / 200) ** 2;
    byId("strength").setAttribute("aria-valuetext", `at least ${formatNumber(state.least, 2)}`);
    update();
  });
  for (const [id, name] of [["labels", "labels"], ["size", "size"], ["edge-color", "edgeColor"]]) {
    byId(id).addEventListener("change", (event) => {
      state[name] = event.target.value;
      update();
    });
  }
  byId("hide-isolated").addEventListener("change", (event) => {
    state.hideIsolated = event.target.checked;
    update();
    if (!view.moved) view.fit();
  });
}

function connectGroups() {
  const sizes = DATA.groups.map((_, number) => NODES.groups.filter((group) => group === number).length);
  const buttons = DATA.groups.map(({ name, color }, number) => {
    const parts = [makeShape(SHAPES[number % SHAPES.length], color), make("span", { text: name }), make("span", { class: "n", text: sizes[number].toLocaleString("en") })];
    const button = make("button", { type: "button", "aria-pressed": "false" }, parts);
    button.addEventListener("click", () => {
      state.group = state.group === number ? -1 : number;
      buttons.forEach((other, k) => other.setAttribute("aria-pressed", String(k === state.group)));
      view.draw();
    });
    return button;
  });
  byId("groups").append(...buttons);
}

function connectSearch() {
  const query = byId("query");
  byId("names").append(...NODES.names.map((name) => make("option", { value: name })));
  const lower = NODES.names.map((name) => name.toLowerCase());
  const find = (text, exact) => {
    const wanted = text.trim().toLowerCase();
    if (wanted === "") return -1;
    const same = lower.indexOf(wanted);
    if (same >= 0 || exact) return same;
    const start = lower.findIndex((name) => name.startsWith(wanted));
    return start >= 0 ? start : lower.findIndex((name) => name.includes(wanted));
  };
  const show = (node) => {
    if (node >= 0 && node !== state.focus) focusNode(node);
  };
  query.addEventListener("input", () => show(find(query.value, true)));
  byId("search").addEventListener("submit", (event) => {
    event.preventDefault();
    const node = find(query.value, false);
    if (node < 0) announce(`No node is called “${query.value}”.`);
    query.setAttribute("aria-invalid", String(node < 0 && query.value.trim() !== ""));
    show(node);
  });
  byId("detail-close").addEventListener("click", () => {
    focusNode(-1);
    query.value = "";
    query.focus();
  });
  byId("edge-close").addEventListener("click", () => {
    focusEdge(null);
    byId("canvas").focus();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && (state.focus >= 0 || state.edge >= 0) && event.target !== byId("canvas")) focusNode(-1);
  });
}

function connectView() {
  byId("zoom-in").addEventListener("click", () => view.zoom(1.4));
  byId("zoom-out").addEventListener("click", () => view.zoom(1 / 1.4));
  byId("zoom-fit").addEventListener("click", () => view.fit());
  byId("reset").addEventListener("click", () => view.resetPositions());
  byId("save-image").addEventListener("click", () => {
    view.takePicture((blob) => saveBlob(blob, nameFile("network", "png")));
  });
}

/* ---------------------------------------------------------------------- light, dark and paper */

function connectTheme() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const repaint = () => {
    byId("theme").setAttribute("aria-pressed", String(isDark()));
    view.readColors();
    view.paintNow();
  };
  byId("theme").addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    repaint();
  });
  system.addEventListener("change", repaint);
  const print = (printing) => {
    if (printing === "printing" in root.dataset) return;
    if (printing) root.dataset.printing = "";
    else delete root.dataset.printing;
    view.resize();
    repaint();
  };
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  matchMedia("print").addEventListener("change", (event) => print(event.matches));
  repaint();
}

/* For scripts that steer the page: where a node is on the screen, and how much is drawn. */
globalThis.isinglassReport = Object.freeze({
  positionOf: (name) => {
    const box = byId("canvas").getBoundingClientRect();
    const [x, y] = view.screen(NODES.names.indexOf(name));
    return [box.left + x, box.top + y];
  },
  drawn: () => ({ k: state.k, edges: view.pairs.length, focus: NODES.names[state.focus] ?? null, edge: state.edge, scale: view.scale }),
});

showSections();
showLead();
showReproduction();
showBars(BARS_AT_ONCE);
showMissing();
showCheck();
connectSlider();
connectFilters();
connectGroups();
connectSearch();
connectView();
connectTheme();
update();
