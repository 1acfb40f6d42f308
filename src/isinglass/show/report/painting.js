/* How edges and nodes look, and drawing them. */

const LEVELS = 8; /* steps of line width; edges of one step are drawn with one pen */
const LINES_PER_STROKE = 8; /* measured without a graphics card: single lines and very long paths are both slower */
const DIMMED = 0.1;
const COLORS = ["ink", "muted", "sunken", "surface", "positive", "negative", "unsigned", "node", "accent"];

/* The colors of the theme, and those of the rims of groups that could not be seen without. */
function themeColors() {
  const probe = make("span", { hidden: "" });
  document.body.append(probe);
  const colors = {};
  for (const name of COLORS) {
    probe.style.color = `var(--${name})`;
    colors[name] = getComputedStyle(probe).color;
  }
  const rims = new Map();
  const ground = luminance(colors.sunken);
  for (const group of DATA.groups) {
    probe.style.color = group.color;
    const [low, high] = [ground, luminance(getComputedStyle(probe).color)].sort((a, b) => a - b);
    /* Yellow on white and black on black need a rim to be seen. */
    if ((high + 0.05) / (low + 0.05) < 1.8) rims.set(group, colors.muted);
  }
  probe.remove();
  return { colors, rims };
}

/* Relative luminance of a computed color, as in the web's rules of contrast. */
function luminance(color) {
  const [red, green, blue] = color.match(/[\d.]+/g).map((part) => {
    const share = Number(part) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/* Sort edges by how their lines look, weak ones first so that strong ones lie on top; `colorOf` an edge. */
function bucketsOf(pairs, colorOf) {
  const buckets = new Map();
  for (const pair of pairs) {
    const level = Math.min(LEVELS - 1, Math.floor((LEVELS * Math.abs(pair.value)) / (STRONGEST || 1)));
    const [kind, color] = colorOf(pair);
    const key = `${level}/${kind}/${pair.sign < 0}`;
    if (!buckets.has(key)) buckets.set(key, { level, color, dashed: pair.sign < 0, pairs: [] });
    buckets.get(key).pairs.push(pair);
  }
  const sorted = [...buckets.values()].sort((a, b) => a.level - b.level);
  for (const bucket of sorted) {
    const share = (bucket.level + 0.5) / LEVELS;
    bucket.width = 0.7 + 4.3 * share;
    bucket.opacity = (pairs.length > 1500 ? 0.12 : 0.2) + 0.75 * share;
  }
  return sorted;
}

/* Color of an edge, as a name that stays when the theme changes. */
function edgeColor(view, { s, t, sign }) {
  if (view.state.edgeColor === "group") {
    const group = groupOf(s);
    return group !== null && group === groupOf(t) ? [group.name, () => group.color] : ["", () => view.colors.muted];
  }
  if (sign === 0) return ["0", () => view.colors.unsigned];
  return sign > 0 ? ["+", () => view.colors.positive] : ["-", () => view.colors.negative];
}

function drawEdges(view, lit) {
  const { context } = view;
  for (const bucket of view.buckets) strokePairs(view, bucket, bucket.pairs, lit === null ? 1 : DIMMED);
  if (lit !== null) for (const bucket of view.buckets) strokePairs(view, bucket, bucket.pairs.filter(lit.has), 1.6);
  context.setLineDash([]);
}

function strokePairs(view, bucket, pairs, emphasis) {
  const { context, x, y, left, top, scale } = view;
  context.strokeStyle = bucket.color();
  context.lineWidth = bucket.width;
  context.setLineDash(bucket.dashed && !view.hurried ? [2 + 2 * bucket.width, 2 + 1.5 * bucket.width] : []);
  context.globalAlpha = Math.min(1, bucket.opacity * emphasis);
  for (let first = 0; first < pairs.length; first += LINES_PER_STROKE) {
    context.beginPath();
    for (let k = first; k < Math.min(first + LINES_PER_STROKE, pairs.length); k += 1) {
      const { s, t } = pairs[k];
      context.moveTo(left + x[s] * scale, top + y[s] * scale);
      context.lineTo(left + x[t] * scale, top + y[t] * scale);
    }
    context.stroke();
  }
}

function drawNodes(view, lit) {
  const { context } = view;
  context.lineWidth = 1.4;
  for (let i = N_NODES - 1; i >= 0; i -= 1) {
    const node = view.importance[i];
    if (view.isHidden(node)) continue;
    const [x, y] = view.screen(node);
    const group = groupOf(node);
    const isLit = lit === null || lit.nodes.has(node);
    context.globalAlpha = isLit ? 1 : 0.22;
    context.fillStyle = group === null ? view.colors.node : group.color;
    const marked = node === view.state.focus || (lit !== null && node === lit.center);
    context.strokeStyle = marked ? view.colors.ink : view.rims.get(group) ?? view.colors.sunken;
    outline(context, shapeOf(node), x, y, view.size(node));
    context.fill();
    context.stroke();
  }
  context.globalAlpha = 1;
}

function outline(context, shape, x, y, size) {
  const corners = CORNERS[shape];
  context.beginPath();
  if (corners === null) context.arc(x, y, size, 0, 2 * Math.PI);
  else {
    for (const [dx, dy] of corners) context.lineTo(x + size * dx, y + size * dy);
    context.closePath();
  }
}
