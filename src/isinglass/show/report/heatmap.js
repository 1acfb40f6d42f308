/* One edge as tables or as a chart: its couplings and the rows behind it, by category; and the values of a node. */

const STRONGEST_TINT = 50; /* per cent of color in the strongest cell: more would hide its number */
const CATEGORIES_AT_ONCE = 12;

const quote = (text) => `“${text}”`;
const kindOf = (node) => CATEGORIES?.kinds[node] ?? "binary";
const labelsOf = (node) => CATEGORIES?.labels[node] ?? ["0", "1"];
const isNumber = (node) => kindOf(node) === "continuous";
const numbersOf = (node) => labelsOf(node).map(Number);
const unitOf = (node) => (typeof CATEGORIES.units[node] === "number" ? ` (${formatNumber(CATEGORIES.units[node], 3)})` : "");

/* What it means for a column on a line to go up by one, and what the couplings then do to another. */
function describeStep(node) {
  const [low, high] = labelsOf(node);
  if (isNumber(node)) return `${quote(NODES.names[node])} is one standard deviation${unitOf(node)} higher`;
  return kindOf(node) === "binary" ? `${quote(NODES.names[node])} is ${quote(high)} rather than ${quote(low)}` : `${quote(NODES.names[node])} is one point higher`;
}

function describeOdds(node) {
  const [low, high] = labelsOf(node);
  const name = quote(NODES.names[node]);
  if (kindOf(node) === "binary") return `the odds of ${quote(high)} against ${quote(low)} in ${name}`;
  if (isNumber(node)) return `the odds of any number in ${name} against one that is a standard deviation${unitOf(node)} lower`;
  const steps = CATEGORIES.scores[node].slice(1).map((score, k) => score - CATEGORIES.scores[node][k]);
  return steps.every((step) => step === 1) ? `the odds of each category of ${name} against the one below it` : `the odds of ${name} being one point higher`;
}

/* A sentence that says how the numbers of an edge are read. */
function describeEdge({ s, t, value, sign }) {
  const [first, second] = [s, t].map((node) => quote(NODES.names[node]));
  if (sign !== 0) {
    return `When ${describeStep(s)} and all other columns are held fixed, ${describeOdds(t)} are multiplied by exp(${formatNumber(value, 2)}) = ${formatNumber(Math.exp(value), 2)}; the same holds in the other direction.`;
  }
  if (kindOf(s) === "nominal" && kindOf(t) === "nominal") {
    return `Blue: the two categories occur together more often than all other columns explain; vermillion: less often. Rows and columns sum to zero. The difference of two cells in a row is how much the log odds of one category of ${second} against the other increase with that category of ${first}, compared with its average category. The norm ${formatNumber(value, 3)} is twice the root of the sum of squares, which is what the penalty acts on.`;
  }
  const [nominal, line] = kindOf(s) === "nominal" ? [s, t] : [t, s];
  return `How much the log odds of each category of ${quote(NODES.names[nominal])}, compared with the average category, increase when ${describeStep(line)} and all other columns are held fixed. The numbers sum to zero. The norm ${formatNumber(value, 3)} is the root of twice the sum of squares, which is what the penalty acts on.`;
}

function sideOf(node) {
  if (kindOf(node) === "nominal") return labelsOf(node);
  if (isNumber(node)) return ["per standard deviation"];
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
  const values = ["n00", "n01", "n10", "n11"].map((name) => edgeColumn(name)?.[e]);
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
  const r = edgeColumn("partial_correlation")?.[e] ?? null;
  const partial = r === null || !isSelected ? "" : ` · partial correlation ${formatNumber(r, 2)}`;
  byId("edge-facts").textContent = `${sign === 0 ? "norm" : "coupling"} ${formatValue(pair)}${partial}${kinds}`;
  const counts = countsOf(e);
  const hasNumbers = isNumber(s) || isNumber(t);
  const block = DATA.edge_tables[e]?.block ?? null;
  const caption = isSelected ? "Couplings" : `Couplings at the selected α = ${formatAlpha(PATH.alphas[SELECTED])}`;
  byId("edge-tables").replaceChildren(...(block === null ? [] : [makeBlock(pair, block, caption)]), ...(counts === null ? [] : [hasNumbers ? makeScatter(pair, counts, DATA.edge_tables[e].means) : makeCounts(pair, counts)]));
  const absent = sign === 0 && block === null ? " Its table of couplings is not on this page, which holds only those of the strongest edges at the selected α." : "";
  const rows = counts === null ? "" : hasNumbers ? " The chart shows the observed rows; the line is the expectation of the network with all other columns at their average, so it is flatter where they explain part of the relation." : " In the table of rows, blue cells have more rows and vermillion ones fewer than if the two columns were independent; couplings exclude what other columns explain.";
  byId("edge-reading").textContent = `${describeEdge(pair)}${absent}${rows}`;
}

/* The rows of an edge with a continuous column: a disc for every pair of steps, its area the number of rows, and the mean that the network expects. */
function makeScatter({ s, t }, counts, means) {
  const [x, y] = isNumber(t) ? [s, t] : [t, s];
  const at = (a, b) => (x === s ? counts[a][b] : counts[b][a]);
  const [along, up] = [isNumber(x) ? numbersOf(x) : labelsOf(x).map((_, k) => k), numbersOf(y)];
  const [width, height] = [420, 300];
  const slack = (values) => (values[values.length - 1] - values[0]) / (2 * (values.length - 1) || 1) || 0.5;
  const scale = (values, from, to) => {
    const [low, high] = [values[0] - slack(values), values[values.length - 1] + slack(values)];
    return (value) => from + ((value - low) / (high - low)) * (to - from);
  };
  const [px, py] = [scale(along, MARGIN.left, width - MARGIN.right), scale(up, height - MARGIN.bottom, MARGIN.top)];
  const caption = `Rows by ${NODES.names[x]} and ${NODES.names[y]}`;
  const svg = makeSvg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": caption, class: "scatter" });
  const bottom = height - MARGIN.bottom;
  for (const tick of linearTicks(up[0], up[up.length - 1], 4)) {
    svg.append(makeSvg("line", { class: "grid", x1: MARGIN.left, x2: width - MARGIN.right, y1: py(tick), y2: py(tick) }));
    svg.append(makeSvg("text", { x: MARGIN.left - 8, y: py(tick) + 4, "text-anchor": "end" }, formatTick(tick)));
  }
  svg.append(makeSvg("line", { class: "axis", x1: MARGIN.left, x2: width - MARGIN.right, y1: bottom, y2: bottom }));
  const ticks = isNumber(x) ? linearTicks(along[0], along[along.length - 1], 5).map((tick) => [tick, formatTick(tick)]) : along.map((k) => [k, labelsOf(x)[k]]);
  const fits = Math.max(4, Math.floor(50 / ticks.length));
  for (const [tick, text] of ticks) svg.append(makeSvg("text", { x: px(tick), y: bottom + 17, "text-anchor": "middle" }, text.length > fits && !isNumber(x) ? `${text.slice(0, fits - 1)}…` : text));
  svg.append(makeSvg("text", { x: width - MARGIN.right, y: height - 8, "text-anchor": "end" }, `${NODES.names[x]} →`));
  svg.append(makeSvg("text", { x: 4, y: height - 8 }, `↑ ${NODES.names[y]}`));
  const most = Math.max(1, ...counts.flat());
  const room = Math.min(12, Math.abs(px(along[1]) - px(along[0])) / 1.6, Math.abs(py(up[1]) - py(up[0])) / 1.2);
  along.forEach((a, i) => up.forEach((b, j) => {
    const count = at(i, j);
    if (count > 0) svg.append(makeSvg("circle", { class: "rows", cx: px(a).toFixed(1), cy: py(b).toFixed(1), r: Math.max(1, room * Math.sqrt(count / most)).toFixed(2) }));
  }));
  if (means) {
    if (isNumber(x)) svg.append(makeSvg("polyline", { class: "mean", points: means.map((mean, i) => `${px(along[i]).toFixed(1)},${py(mean).toFixed(1)}`).join(" ") }));
    else means.forEach((mean, i) => svg.append(makeSvg("line", { class: "mean", x1: px(along[i]) - 16, x2: px(along[i]) + 16, y1: py(mean), y2: py(mean) })));
  }
  return make("figure", {}, [make("figcaption", { text: `${caption}${means ? "; line: expected by the network" : ""}` }), make("div", { class: "heat-scroll", tabindex: "0", role: "region", "aria-label": caption }, [svg])]);
}

/* How the numbers of a continuous node are distributed. */
function makeDensity(node, shares) {
  const [width, height, base] = [230, 74, 58];
  const values = numbersOf(node);
  const most = Math.max(...shares, 1e-9);
  const step = width / shares.length;
  const svg = makeSvg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "density", "aria-label": `Distribution of ${NODES.names[node]}, from ${values[0]} to ${values[values.length - 1]}` });
  shares.forEach((share, k) => svg.append(makeSvg("rect", { x: (k * step).toFixed(2), y: (base - (share / most) * (base - 4)).toFixed(2), width: Math.max(0.5, step - 0.7).toFixed(2), height: ((share / most) * (base - 4)).toFixed(2) })));
  for (const [k, anchor] of [[0, "start"], [Math.floor(values.length / 2), "middle"], [values.length - 1, "end"]]) {
    svg.append(makeSvg("text", { x: anchor === "start" ? 0 : anchor === "end" ? width : ((k + 0.5) * step).toFixed(1), y: height - 3, "text-anchor": anchor }, String(Number(values[k].toPrecision(4))).replace("-", MINUS)));
  }
  return svg;
}

/* Shares of the categories of a node, as bars; of a continuous one as a density. */
function showShares(node) {
  const shares = CATEGORIES?.shares?.[node] ?? [];
  const labels = labelsOf(node);
  if (isNumber(node) && shares.length) {
    byId("detail-shares").replaceChildren(make("li", { class: "rest" }, [makeDensity(node, shares)]));
    return;
  }
  byId("detail-shares").replaceChildren(
    ...shares.slice(0, CATEGORIES_AT_ONCE).map((share, k) => {
      const fill = make("span", { class: "guess" });
      fill.style.width = `${100 * share}%`;
      return make("li", {}, [make("span", { class: "name", text: labels[k], title: labels[k] }), make("span", { class: "meter" }, [fill]), make("span", { class: "figure", text: `${(100 * share).toFixed(0)} %` })]);
    }),
    ...(shares.length > CATEGORIES_AT_ONCE ? [make("li", { class: "rest", text: `and ${shares.length - CATEGORIES_AT_ONCE} more` })] : []),
  );
}
