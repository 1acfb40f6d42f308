/* One edge as tables or as a chart: its couplings and the rows behind it, by category. */

const STRONGEST_TINT = 50; /* per cent of color in the strongest cell: more would hide its number */

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
  const change = kindOf(node) === "binary" ? `${quote(high)} rather than ${quote(low)}` : "one point higher";
  return `${quote(NODES.names[node])} is ${change}`;
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
  const across = make("th", { scope: "colgroup", colspan: String(columns.length), class: "side", text: names[1] });
  const down = make("th", { scope: "col", class: "side", text: names[0] });
  const heads = columns.map((text) => make("th", { scope: "col", text }));
  table.append(make("thead", {}, [make("tr", {}, [make("td"), across]), make("tr", {}, [down, ...heads])]));
  const body = make("tbody");
  cells.forEach((line, a) => {
    const row = make("tr", {}, [make("th", { scope: "row", text: rows[a] })]);
    line.forEach((value, b) => {
      const cell = make("td", { text: write(value), title: title(a, b) });
      const share = Math.max(-1, Math.min(1, tint(value, a, b)));
      const color = `var(--${share < 0 ? "negative" : "positive"}) ${(STRONGEST_TINT * Math.abs(share)).toFixed(1)}%`;
      cell.style.background = `color-mix(in srgb, ${color}, var(--surface))`;
      row.append(cell);
    });
    body.append(row);
  });
  table.append(body);
  return makeFigure(caption, table);
}

/* A table or a chart that may be scrolled, below its caption; `label` is what it is called by itself. */
function makeFigure(caption, content, label = caption) {
  const region = make("div", { class: "heat-scroll", tabindex: "0", role: "region", "aria-label": label }, [content]);
  return make("figure", {}, [make("figcaption", { text: caption }), region]);
}

/* Two decimals in every cell, so that they can be compared. */
function writeCoupling(value) {
  const text = Math.abs(value) < 0.005 ? "0.00" : value.toFixed(2).replace("-", MINUS);
  return value >= 0.005 ? `+${text}` : text;
}

function makeBlock({ s, t }, block, caption) {
  const [rows, columns] = [sideOf(s), sideOf(t)];
  const most = block.flat().reduce((a, b) => Math.max(a, Math.abs(b)), 0) || 1;
  const title = (a, b) => `${rows[a]}, ${columns[b]}`;
  return makeHeat({ caption, s, t, rows, columns, cells: block, write: writeCoupling, tint: (value) => value / most, title });
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
  const counts = countsOf(e);
  const { block = null, means = null } = DATA.edge_tables[e] ?? {};
  const hasNumbers = isNumber(s) || isNumber(t);
  byId("edge-title").textContent = namePair(pair);
  byId("edge-facts").textContent = describeFacts(pair, isSelected);
  const where = isSelected ? "" : ` at the selected α = ${formatAlpha(PATH.alphas[SELECTED])}`;
  const tables = [];
  if (block !== null) tables.push(makeBlock(pair, block, `Couplings${where}`));
  if (counts !== null) tables.push(hasNumbers ? makeScatter(pair, counts, means, where) : makeCounts(pair, counts));
  byId("edge-tables").replaceChildren(...tables);
  const reading = [describeEdge(pair)];
  if (sign === 0 && block === null) reading.push(ABSENT);
  if (counts !== null) reading.push(hasNumbers ? READ_CHART : READ_COUNTS);
  byId("edge-reading").textContent = reading.join(" ");
}

const ABSENT = "Its table of couplings is not on this page, which holds only those of the strongest edges at the selected α.";
const READ_CHART = "The chart shows the observed rows; the line is the expectation of the network with all other columns at their average, so it is flatter where they explain part of the relation.";
const READ_COUNTS = "In the table of rows, blue cells have more rows and vermillion ones fewer than if the two columns were independent; couplings exclude what other columns explain.";

function describeFacts(pair, isSelected) {
  const facts = [writePair(pair)];
  const r = edgeColumn("partial_correlation")?.[pair.e] ?? null;
  if (r !== null && isSelected) facts.push(`partial correlation ${formatNumber(r, 2)}`);
  if (CATEGORIES !== null) facts.push(`${kindOf(pair.s)} – ${kindOf(pair.t)}`);
  return facts.join(" · ");
}

/* Where values lie on an axis from one pixel to another, with half a step of room at both ends. */
function makeScale(values, from, to) {
  const last = values[values.length - 1];
  const slack = (last - values[0]) / (2 * (values.length - 1) || 1) || 0.5;
  return (value) => from + ((value - values[0] + slack) / (last - values[0] + 2 * slack)) * (to - from);
}

/* The rows of an edge with a continuous column: a disc for every pair of steps, its area the number of rows, and the
   mean that the network expects; `where` says which network. */
function makeScatter({ s, t }, counts, means, where) {
  const [x, y] = isNumber(t) ? [s, t] : [t, s];
  const at = (a, b) => (x === s ? counts[a][b] : counts[b][a]);
  const [along, up] = [isNumber(x) ? numbersOf(x) : labelsOf(x).map((_, k) => k), numbersOf(y)];
  const [width, height] = [420, 300];
  const [px, py] = [makeScale(along, MARGIN.left, width - MARGIN.right), makeScale(up, height - MARGIN.bottom, MARGIN.top)];
  const caption = `Rows by ${NODES.names[x]} and ${NODES.names[y]}`;
  const svg = makeSvg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": caption, class: "scatter" });
  drawScatterAxes(svg, { x, y, along, up, px, py, width, height });
  const most = Math.max(1, ...counts.flat());
  const room = Math.min(12, Math.abs(px(along[1]) - px(along[0])) / 1.6, Math.abs(py(up[1]) - py(up[0])) / 1.2);
  along.forEach((a, i) => up.forEach((b, j) => {
    const r = Math.max(1, room * Math.sqrt(at(i, j) / most)).toFixed(2);
    if (at(i, j) > 0) svg.append(makeSvg("circle", { class: "rows", cx: px(a).toFixed(1), cy: py(b).toFixed(1), r }));
  }));
  if (means !== null && isNumber(x)) {
    const points = means.map((mean, i) => `${px(along[i]).toFixed(1)},${py(mean).toFixed(1)}`);
    svg.append(makeSvg("polyline", { class: "mean", points: points.join(" ") }));
  } else {
    const bar = (mean, i) => makeSvg("line", { class: "mean", x1: px(along[i]) - 16, x2: px(along[i]) + 16, y1: py(mean), y2: py(mean) });
    svg.append(...(means ?? []).map(bar));
  }
  return makeFigure(`${caption}${means ? `; line: expected by the network${where}` : ""}`, svg, caption);
}

/* Lines, ticks and names of the axes; categories are named as far as there is room. */
function drawScatterAxes(svg, { x, y, along, up, px, py, width, height }) {
  const bottom = height - MARGIN.bottom;
  const write = (place, text, anchor) => svg.append(makeSvg("text", { ...place, ...(anchor ? { "text-anchor": anchor } : {}) }, text));
  for (const tick of linearTicks(up[0], up[up.length - 1], 4)) {
    svg.append(makeSvg("line", { class: "grid", x1: MARGIN.left, x2: width - MARGIN.right, y1: py(tick), y2: py(tick) }));
    write({ x: MARGIN.left - 8, y: py(tick) + 4 }, formatTick(tick), "end");
  }
  svg.append(makeSvg("line", { class: "axis", x1: MARGIN.left, x2: width - MARGIN.right, y1: bottom, y2: bottom }));
  const fits = Math.max(4, Math.floor(50 / along.length));
  const shorten = (text) => (text.length > fits ? `${text.slice(0, fits - 1)}…` : text);
  const numbers = () => linearTicks(along[0], along[along.length - 1], 5).map((tick) => [tick, formatTick(tick)]);
  const ticks = isNumber(x) ? numbers() : along.map((k) => [k, shorten(labelsOf(x)[k])]);
  for (const [tick, text] of ticks) write({ x: px(tick), y: bottom + 17 }, text, "middle");
  write({ x: width - MARGIN.right, y: height - 8 }, `${NODES.names[x]} →`, "end");
  write({ x: 4, y: height - 8 }, `↑ ${NODES.names[y]}`, null);
}
