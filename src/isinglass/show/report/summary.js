/* What never changes: the lead, the sections that are there, notes below tables, and how the page is made again. */

const isCount = (label) => /^n[01][01]$/.test(label);

/* The sizes, the penalty, and in one figure each what is proved and how far other samples were looked at. */
function showLead() {
  const figures = [
    ["Nodes", N_NODES.toLocaleString("en"), ""],
    ...describeRows(),
    ["Edges", PATH.n_edges[SELECTED].toLocaleString("en"), IS_CAPPED ? "" : describeSigns(networkAt(SELECTED))],
  ];
  const alpha = PATH.alphas[SELECTED];
  if (alpha !== null || PATH.per_node) figures.push(["Penalty α", formatAlpha(alpha), ""]);
  if (DATA.certificate.kkt_residual[SELECTED] !== null) figures.push(summarizeProof());
  if (DATA.methods !== null) {
    const { figure, extra } = describeUncertainty();
    figures.push(["Sampling uncertainty", figure, extra]);
  }
  byId("figures").append(
    ...figures.map(([label, value, extra, tone]) => {
      const figure = make("dd", { class: tone ?? "", text: value });
      if (extra) figure.append(make("small", { text: extra }));
      return make("div", {}, [make("dt", { text: label }), figure]);
    }),
  );
}

/* The number of observations, with the effective number where they have sampling weights. */
function describeRows() {
  const write = (value) => value.toLocaleString("en", { maximumFractionDigits: 2 });
  if (DATA.n_rows === null) return [];
  const effective = DATA.effective_rows === null ? "" : `effective number with their weights ${write(DATA.effective_rows)}`;
  return [["Rows", write(DATA.n_rows), effective]];
}

function describeSigns({ positive, negative, unsigned }) {
  const signs = [[positive, "positive"], [negative, "negative"]].filter(([count]) => count || !unsigned);
  if (unsigned) signs.push([unsigned, "without sign"]);
  return signs.map((part) => part.join(" ")).join(", ");
}

function summarizeProof() {
  const { figure: [label, reached, missed], about } = describeProof();
  const residual = `KKT residual ${formatNumber(DATA.certificate.kkt_residual[SELECTED], 2)}`;
  if (!DATA.certificate.converged[SELECTED]) return [label, missed, residual, "bad"];
  return [label, reached, `${about}; ${residual}`, "good"];
}

/* Hide what there is nothing to say about, and the links that lead there. */
function showSections() {
  const kinds = CATEGORIES?.kinds ?? [];
  const present = {
    binary: CATEGORIES === null,
    categories: CATEGORIES !== null,
    nominal: kinds.includes("nominal"),
    continuous: kinds.includes("continuous"),
    signed: HAS_SIGNED,
    unsigned: HAS_UNSIGNED,
    partial: edgeColumn("partial_correlation") !== null,
    refitted: edgeColumn("refitted") !== null,
    tested: edgeColumn("q") !== null,
    counts: edgeColumn("n11") !== null,
    resampled: edgeColumn("inclusion") !== null,
    paths: nodeColumn("closeness") !== null,
    bridges: nodeColumn("bridge_strength") !== null,
    predictability: nodeColumn("accuracy") !== null,
    check: DATA.check !== null,
    choice: DATA.curve !== null,
    "choice-instability": DATA.curve?.kind === "instability",
    missing: DATA.missing !== null,
    imputed: DATA.missing?.treatment === "impute",
  };
  for (const element of document.querySelectorAll("[data-section]")) element.hidden = !present[element.dataset.section];
  for (const id of ["choice", "predictability", "check", "missing"]) byId(id).hidden = !present[id];
  byId("path").hidden = N_ALPHAS < 2;
  byId("group-box").hidden = byId("edge-color-choice").hidden = !HAS_GROUPS;
  byId("nodes-note").hidden = NODES.columns.length === 0 || N_ALPHAS < 2;
  showText("edges-note", describeEdgeColumns().join(" "));
  showText("cs", DATA.cs === null ? "" : describeStability(DATA.cs));
  showText("capped", IS_CAPPED ? describeCap() : "");
}

function describeEdgeColumns() {
  const notes = [];
  if (DATA.edge_columns.length && N_ALPHAS > 1) {
    notes.push(`${VALUE_WORD} and weight are those of the network on the slider; the other columns belong to the selected network.`);
  }
  if (edgeColumn("stability") !== null) notes.push("Stability is the share of subsamples of the rows whose network has the edge.");
  if (edgeColumn("n11") !== null) {
    notes.push("n11, n10, n01 and n00 count the rows in which the two columns are 1 and 1, 1 and 0, 0 and 1, 0 and 0.");
  }
  if (DATA.edge_columns.some(({ label, values }) => isCount(label) && !isWhole(values))) {
    notes.push("They are not whole because rows have weights, or because missing cells were imputed several times.");
  }
  return notes;
}

function describeStability({ coefficients, n_per_share, few }) {
  if (!Object.keys(coefficients).length) return "There are no CS-coefficients, because the network has no edges.";
  const each = Object.entries(coefficients).map(([of, value]) => `${of.replaceAll("_", " ")} ${value.toFixed(2)}`).join(", ");
  const caution = few ? " That is too few for a statement about 95 % of them." : "";
  return `CS-coefficients: ${each}. Each is the largest share of rows up to which they can be dropped while the measure still correlates by at least 0.7 with that of all rows in 95 % of the subsets of every share; it should be above 0.25, preferably above 0.5. There are about ${formatCount(n_per_share, "subset")} per share.${caution}`;
}

function describeCap() {
  const [stored, all] = [PATH.s.length, PATH.n_pairs].map((count) => count.toLocaleString("en"));
  return `This page stores ${stored} of the ${all} pairs that are joined somewhere on the path: those of the selected network first, then those that appear early. Counts of edges are complete; the drawing, the tables and the measures of nodes are not.`;
}

function showReproduction() {
  byId("version").textContent = DATA.versions.isinglass;
  for (const id of ["versions", "covariates", "settings"]) showPairs(byId(id), Object.entries(DATA[id]));
  for (const id of ["covariates", "settings"]) byId(`${id}-box`).hidden = Object.keys(DATA[id]).length === 0;
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
