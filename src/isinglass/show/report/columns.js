/* The tables of edges and of nodes: their columns. */

const VALUE_WORD = HAS_UNSIGNED ? (HAS_SIGNED ? "Coupling or norm" : "Norm") : "Coupling";
const SIGN_CLASSES = ["minus", "none", "plus"];

function describeColumn({ label, values }) {
  const number = values.some((value) => typeof value === "number");
  return { number, whole: isWhole(values), field: label.replaceAll(" ", "_") };
}

function headEdgeColumn(label) {
  if (/^(mean$|q\d)/.test(label)) return `Bootstrap ${label}`;
  return (/^[a-z]\d/.test(label) ? label : capitalize(label)).replaceAll("_", " ");
}

/* `filename` names the file of a download, and `pick` is told which row was clicked. */
function makeEdgeTable(filename, pick) {
  const columns = [
    { label: "Node", field: "source", value: (pair) => NODES.names[pair.s], searched: true },
    { label: "Neighbor", field: "target", value: (pair) => NODES.names[pair.t], searched: true },
    {
      label: VALUE_WORD, field: "coupling", number: true,
      value: (pair) => pair.value, write: (pair) => formatValue(pair), tone: (pair) => SIGN_CLASSES[pair.sign + 1],
    },
    { label: "Weight", field: "weight", number: true, minor: true, value: (pair) => Math.abs(pair.value) },
    ...DATA.edge_columns.map((column) => ({
      ...describeColumn(column),
      label: headEdgeColumn(column.label),
      minor: isCount(column.label),
      counts: isCount(column.label),
      value: (pair) => column.values[pair.e],
    })),
  ];
  return new DataTable("edges", { noun: "edge", columns, sortBy: 3, descending: true, filename, pick, nameRow: namePair });
}

/* `measure` returns the network whose measures are listed. */
function makeNodeTable(filename, pick, measure) {
  const nameGroup = (node) => groupOf(node)?.name ?? "";
  const group = { label: "Group", field: "group", value: nameGroup, write: nameGroup };
  const columns = [
    { label: "Node", field: "name", value: (node) => NODES.names[node], searched: true },
    ...(HAS_GROUPS ? [group] : []),
    { label: "Degree", field: "degree", number: true, whole: true, value: (node) => measure().degree[node] },
    { label: "Strength", field: "strength", number: true, value: (node) => measure().strength[node] },
    { label: "Expected influence", field: "expected_influence", number: true, value: (node) => measure().influence[node] },
    ...(NODES.fields === null ? [] : [{ label: "Field", field: "field", number: true, value: (node) => NODES.fields[node] }]),
    ...NODES.columns.map((column) => ({
      ...describeColumn(column),
      label: capitalize(column.label).replaceAll("_", " "),
      tucked: column.label === "wording",
      value: (node) => column.values[node],
    })),
  ];
  const order = { sortBy: HAS_GROUPS ? 3 : 2, descending: true };
  return new DataTable("nodes", { noun: "node", columns, ...order, filename, pick, nameRow: (node) => NODES.names[node] });
}
