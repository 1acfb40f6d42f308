/* One edge as tables: its couplings and the rows behind it, by category; and the categories of a node. */

const STRONGEST_TINT = 50; /* per cent of color in the strongest cell: more would hide its number */
const CATEGORIES_AT_ONCE = 12;

const quote = (text) => `“${text}”`;
const kindOf = (node) => CATEGORIES?.kinds[node] ?? "binary";
const labelsOf = (node) => CATEGORIES?.labels[node] ?? ["0", "1"];

/* What it means for a column on a line to go up by one, and what the couplings then do to another. */
function describeStep(node) {
  const [low, high] = labelsOf(node);
  return kindOf(node) === "binary" ? `${quote(NODES.names[node])} is ${quote(high)} rather than ${quote(low)}` : `${quote(NODES.names[node])} is one point higher`;
}

function describeOdds(node) {
  const [low, high] = labelsOf(node);
  const name = quote(NODES.names[node]);
  if (kindOf(node) === "binary") return `the odds of ${quote(high)} against ${quote(low)} in ${name}`;
  const steps = CATEGORIES.scores[node].slice(1).map((score, k) => score - CATEGORIES.scores[node][k]);
  return steps.every((step) => step === 1) ? `the odds of each category of ${name} against the one below it` : `the odds of ${name} being one point higher`;
}

/* A sentence that says how the numbers of an edge are read. */
function describeEdge({ s, t, value, sign }) {
  const [first, second] = [s, t].map((node) => quote(NODES.names[node]));
  if (sign !== 0) {
    return `Where ${describeStep(s)} and all other columns are as they were, ${describeOdds(t)} are multiplied by exp(${formatNumber(value, 2)}) = ${formatNumber(Math.exp(value), 2)}; the other way round, too.`;
  }
  if (kindOf(s) === "nominal" && kindOf(t) === "nominal") {
    return `Blue: the two categories go together more than all other columns explain; vermillion: less. Rows and columns sum to zero. Two cells of a row say how much the log odds of one category of ${second} against another rise with that category of ${first}, compared with the average one. The norm ${formatNumber(value, 3)} is twice the root of the sum of squares: what the penalty acts on.`;
  }
  const [nominal, line] = kindOf(s) === "nominal" ? [s, t] : [t, s];
  return `How much the log odds of each category of ${quote(NODES.names[nominal])}, compared with the average one, rise where ${describeStep(line)} and all other columns are as they were. The numbers sum to zero. The norm ${formatNumber(value, 3)} is the root of twice the sum of squares: what the penalty acts on.`;
}

function sideOf(node) {
  if (kindOf(node) === "nominal") return labelsOf(node);
  return kindOf(node) === "binary" ? [`${labelsOf(node)[1]} rather than ${labelsOf(node)[0]}`] : ["per point"];
}

/* A table whose cells are tinted by `tint`, from −1 to 1. */
function makeHeat({ caption, s, t, rows, columns, cells, write, tint, title }) {
  const table = make("table", { class: "heat" });
  const names = [s, t].map((node) => NODES.names[node]);
  table.append(make("thead", {}, [
    make("tr", {}, [make("td"), make("th", { scope: "colgroup", colspan: String(columns.length), class: "side", text: names[1] })]),
    make("tr", {}, [make("th", { scope: "col", class: "side", text: names[0] }), ...columns.map((text) => make("th", { scope: "col", text }))]),
  ]));
  const body = make("tbody");
  cells.forEach((line, a) => {
    const row = make("tr", {}, [make("th", { scope: "row", text: rows[a] })]);
    line.forEach((value, b) => {
      const cell = make("td", { text: write(value), title: title(a, b) });
      const share = Math.max(-1, Math.min(1, tint(value, a, b)));
      cell.style.background = `color-mix(in srgb, var(--${share < 0 ? "negative" : "positive"}) ${(STRONGEST_TINT * Math.abs(share)).toFixed(1)}%, var(--surface))`;
      row.append(cell);
    });
    body.append(row);
  });
  table.append(body);
  return make("figure", {}, [make("figcaption", { text: caption }), make("div", { class: "heat-scroll", tabindex: "0", role: "region", "aria-label": caption }, [table])]);
}

/* Two decimals in every cell, so that they can be compared. */
function writeCoupling(value) {
  const text = Math.abs(value) < 0.005 ? "0.00" : value.toFixed(2).replace("-", MINUS);
  return value >= 0.005 ? `+${text}` : text;
}

function makeBlock({ s, t }, block, caption) {
  const [rows, columns] = [sideOf(s), sideOf(t)];
  const most = block.flat().reduce((a, b) => Math.max(a, Math.abs(b)), 0) || 1;
  return makeHeat({ caption, s, t, rows, columns, cells: block, write: writeCoupling, tint: (value) => value / most, title: (a, b) => `${rows[a]}, ${columns[b]}` });
}

/* Counts, tinted by how far they are from those of two columns that have nothing to do with each other. */
function makeCounts({ s, t }, counts) {
  const sum = (values) => values.reduce((a, b) => a + b, 0);
  const rowSums = counts.map(sum);
  const columnSums = counts[0].map((_, b) => sum(counts.map((line) => line[b])));
  const total = sum(rowSums) || 1;
  const expected = (a, b) => (rowSums[a] * columnSums[b]) / total;
  const distance = (value, a, b) => (expected(a, b) > 0 ? (value - expected(a, b)) / Math.sqrt(expected(a, b)) : 0);
  const most = Math.max(2, ...counts.flatMap((line, a) => line.map((value, b) => Math.abs(distance(value, a, b)))));
  return makeHeat({
    caption: "Rows by pair of categories",
    s, t, rows: labelsOf(s), columns: labelsOf(t), cells: counts,
    write: (value) => value.toLocaleString("en", { maximumFractionDigits: 1 }),
    tint: (value, a, b) => distance(value, a, b) / most,
    title: (a, b) => `${labelsOf(s)[a]}, ${labelsOf(t)[b]}: ${formatNumber(expected(a, b), 1)} rows if the two columns were independent`,
  });
}

/* Rows by category of stored pair e; where columns are 0 and 1, from the counts of the edge table. */
function countsOf(e) {
  if (CATEGORIES !== null) return DATA.edge_tables[e]?.counts ?? null;
  const values = ["n00", "n01", "n10", "n11"].map((name) => DATA.edge_columns.find(({ label }) => label === name)?.values[e]);
  if (values.some((value) => value === null || value === undefined)) return null;
  return [values.slice(0, 2), values.slice(2)];
}

/* Show one edge of the network on the slider; nothing if it is not there. */
function showEdge(pair, isSelected) {
  byId("edge").hidden = pair === null;
  if (pair === null) return;
  const { e, s, t, sign } = pair;
  byId("edge-title").textContent = `${NODES.names[s]} – ${NODES.names[t]}`;
  const kinds = CATEGORIES === null ? "" : ` · ${kindOf(s)} – ${kindOf(t)}`;
  byId("edge-facts").textContent = `${sign === 0 ? "norm" : "coupling"} ${formatValue(pair)}${kinds}`;
  const counts = countsOf(e);
  const block = DATA.edge_tables[e]?.block ?? null;
  const caption = isSelected ? "Couplings" : `Couplings at the selected α = ${formatAlpha(PATH.alphas[SELECTED])}`;
  byId("edge-tables").replaceChildren(...(block === null ? [] : [makeBlock(pair, block, caption)]), ...(counts === null ? [] : [makeCounts(pair, counts)]));
  const absent = sign === 0 && block === null ? " Its table of couplings is not on this page: it holds those of the strongest edges at the selected α." : "";
  const rows = counts === null ? "" : " In the table of rows, blue cells have more rows and vermillion ones fewer than if the two columns had nothing to do with each other; couplings leave out what other columns explain.";
  byId("edge-reading").textContent = `${describeEdge(pair)}${absent}${rows}`;
}

/* Shares of the categories of a node, as bars. */
function showShares(node) {
  const shares = CATEGORIES?.shares?.[node] ?? [];
  const labels = labelsOf(node);
  byId("detail-shares").replaceChildren(
    ...shares.slice(0, CATEGORIES_AT_ONCE).map((share, k) => {
      const fill = make("span", { class: "guess" });
      fill.style.width = `${100 * share}%`;
      return make("li", {}, [make("span", { class: "name", text: labels[k], title: labels[k] }), make("span", { class: "meter" }, [fill]), make("span", { class: "figure", text: `${(100 * share).toFixed(0)} %` })]);
    }),
    ...(shares.length > CATEGORIES_AT_ONCE ? [make("li", { class: "rest", text: `and ${shares.length - CATEGORIES_AT_ONCE} more` })] : []),
  );
}
