/* The data of the page, and the network at one point of the path. */

const DATA = JSON.parse(document.getElementById("report-data").textContent);
const NODES = DATA.nodes;
const PATH = DATA.path;
const N_NODES = NODES.names.length;
const N_ALPHAS = PATH.alphas.length;
const SELECTED = PATH.selected;
const HAS_GROUPS = DATA.groups.length > 0;
/* Kinds, labels, scores and shares of the categories; null where every column is 0 or 1. The other category of a constant has no label. */
const CATEGORIES = DATA.categories;
/* Edges between columns without an order have a norm and no sign. */
const HAS_UNSIGNED = PATH.signed.includes(false);
const HAS_SIGNED = PATH.signed.includes(true) || !HAS_UNSIGNED;
/* The page stores fewer pairs than the path has. */
const IS_CAPPED = PATH.n_pairs > PATH.s.length;

/* Coupling of stored pair e at alpha number k; the selected network is kept with all digits. */
function couplingAt(e, k) {
  if (k === SELECTED) return PATH.exact[e];
  const place = k - PATH.first[e];
  const values = PATH.values[e];
  return place >= 0 && place < values.length ? values[place] : 0;
}

const networks = new Map();

/* The network at alpha number k: pairs, couplings, counts, and what they say about the nodes. */
function networkAt(k) {
  if (!networks.has(k)) networks.set(k, readNetwork(k));
  return networks.get(k);
}

function readNetwork(k) {
  const pairs = [];
  const degree = new Float64Array(N_NODES);
  const strength = new Float64Array(N_NODES);
  const influence = new Float64Array(N_NODES);
  const signed = new Float64Array(N_NODES); /* edges with a sign */
  let [positive, negative] = [0, 0];
  let strongest = 0;
  for (let e = 0; e < PATH.s.length; e += 1) {
    const value = couplingAt(e, k);
    if (value === 0) continue;
    const sign = PATH.signed[e] ? Math.sign(value) : 0; /* a norm has none */
    pairs.push({ e, s: PATH.s[e], t: PATH.t[e], value, sign });
    if (sign > 0) positive += 1;
    if (sign < 0) negative += 1;
    strongest = Math.max(strongest, Math.abs(value));
    for (const node of [PATH.s[e], PATH.t[e]]) {
      degree[node] += 1;
      strength[node] += Math.abs(value);
      influence[node] += sign * Math.abs(value);
      signed[node] += Math.abs(sign);
    }
  }
  const isKnown = (node) => kindOf(node) !== "nominal" && (signed[node] > 0 || degree[node] === 0);
  return {
    pairs, degree, strength, strongest, positive, negative,
    unsigned: pairs.length - positive - negative,
    influence: Array.from(influence, (sum, node) => (isKnown(node) ? sum : null)),
  };
}

/* Largest coupling anywhere on the path: widths mean the same at every alpha. */
const STRONGEST = (() => {
  let most = 0;
  for (const values of PATH.values) for (const value of values) most = Math.max(most, Math.abs(value));
  return most;
})();

/* The values of a further column of the table of nodes or of edges; null if there is none of that name. */
const findValues = (columns, name) => columns.find(({ label }) => label === name)?.values ?? null;
const nodeColumn = (name) => findValues(NODES.columns, name);
const edgeColumn = (name) => findValues(DATA.edge_columns, name);

function groupOf(node) {
  const number = HAS_GROUPS ? NODES.groups[node] : -1;
  return number >= 0 ? DATA.groups[number] : null;
}

/* Numbers as text. */
const MINUS = "\u2212";

/* A number with some decimals, more if two significant digits take more. */
function formatNumber(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "\u2013";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return value.toString().replace("-", MINUS);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(digits - 1).replace(/-/g, MINUS);
  const decimals = size === 0 ? digits : Math.max(digits, 1 - Math.floor(Math.log10(size)));
  return value.toFixed(decimals).replace("-", MINUS);
}

function formatSigned(value, digits = 3) {
  return (value > 0 ? "+" : "") + formatNumber(value, digits);
}

/* The number of an edge: with its sign, if it has one. */
function formatValue({ value, sign }, digits = 3) {
  return sign === 0 ? formatNumber(value, digits) : formatSigned(value, digits);
}

function formatAlpha(alpha) {
  if (alpha === null) return PATH.per_node ? "one per node" : "not known";
  return alpha === 0 ? "0" : Number(alpha.toPrecision(4)).toString();
}

function capitalize(text) {
  return text[0].toUpperCase() + text.slice(1);
}
