/* One node: its tooltip, and the panel with its values and neighbors. */

const CATEGORIES_AT_ONCE = 12;

/* The lines of a node's tooltip. */
function describeNode(node, network) {
  const accuracy = nodeColumn("accuracy")?.[node];
  const lines = [NODES.names[node], nodeColumn("wording")?.[node], groupOf(node)?.name];
  lines.push(`${formatCount(network.degree[node], "edge")}, strength ${formatNumber(network.strength[node], 2)}`);
  if (accuracy === null) lines.push(`${writeExplained(node)} given the others`);
  else if (accuracy !== undefined) lines.push(`predicted in ${(100 * accuracy).toFixed(1)} % of rows`);
  return lines.filter(Boolean);
}

/* The panel of a highlighted node; its neighbors lead to `page`. */
function showDetail(node, network, edges, page) {
  const strength = `strength ${formatNumber(network.strength[node], 2)}`;
  const facts = [nodeColumn("wording")?.[node], groupOf(node)?.name, formatCount(network.degree[node], "edge"), strength];
  byId("detail-name").textContent = NODES.names[node];
  byId("detail-facts").textContent = facts.filter(Boolean).join(" · ");
  showShares(node);
  byId("detail-label").textContent = edges.length ? "Neighbors, strongest first" : "No neighbors here";
  const strongest = [...edges].sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  byId("detail-list").replaceChildren(...strongest.map((pair) => makeNeighbor(pair, pair.s === node ? pair.t : pair.s, page)));
}

function makeNeighbor(pair, other, page) {
  const name = NODES.names[other];
  const lead = (focus, close) => () => {
    focus();
    byId(close).focus();
  };
  const value = make("span", { class: SIGN_CLASSES[pair.sign + 1], text: formatValue(pair, 2) });
  const button = make("button", { onclick: lead(() => page.focusNode(other), "detail-close") }, [make("span", { text: name }), value]);
  const table = make("button", {
    class: "table", "aria-label": `Table of the edge to ${name}`, title: "Table of this edge", text: "⊞",
    onclick: lead(() => page.focusEdge(pair), "edge-close"),
  });
  return make("li", {}, [button, table]);
}

/* How the numbers of a continuous node are distributed. */
function makeDensity(node, shares) {
  const [width, height, base] = [230, 74, 58];
  const values = numbersOf(node);
  const [last, middle] = [values.length - 1, Math.floor(values.length / 2)];
  const label = `Distribution of ${NODES.names[node]}, from ${values[0]} to ${values[last]}`;
  const svg = makeSvg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "density", "aria-label": label });
  const step = width / shares.length;
  const most = Math.max(...shares, 1e-9);
  shares.forEach((share, k) => {
    const tall = (share / most) * (base - 4);
    const bar = { x: k * step, y: base - tall, width: Math.max(0.5, step - 0.7), height: tall };
    svg.append(makeSvg("rect", Object.fromEntries(Object.entries(bar).map(([name, value]) => [name, value.toFixed(2)]))));
  });
  for (const [k, x, anchor] of [[0, 0, "start"], [middle, ((middle + 0.5) * step).toFixed(1), "middle"], [last, width, "end"]]) {
    const text = String(Number(values[k].toPrecision(4))).replace("-", MINUS);
    svg.append(makeSvg("text", { x, y: height - 3, "text-anchor": anchor }, text));
  }
  return svg;
}

/* Shares of the categories of a node, as bars; of a continuous one as a density. */
function showShares(node) {
  const shares = CATEGORIES?.shares?.[node] ?? [];
  const list = byId("detail-shares");
  if (isNumber(node) && shares.length) {
    list.replaceChildren(make("li", { class: "rest" }, [makeDensity(node, shares)]));
    return;
  }
  const labels = labelsOf(node);
  const named = shares.map((share, k) => ({ share, name: labels[k] })).filter(({ name }) => name !== null);
  const bars = named.map(({ share, name }) => makeBar({ name, parts: [["guess", 0, share]], figure: `${(100 * share).toFixed(0)} %` }));
  list.replaceChildren(...bars.slice(0, CATEGORIES_AT_ONCE));
  const rest = bars.length - CATEGORIES_AT_ONCE;
  if (rest > 0) list.append(make("li", { class: "rest", text: `and ${rest} more` }));
}
