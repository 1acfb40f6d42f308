/* The page: what the reader has chosen, and everything that follows it. */

class Page {
  constructor() {
    this.state = {
      k: SELECTED, /* number of the network on the slider */
      positive: true,
      negative: true,
      unsigned: true,
      least: 0, /* weight of the edges that are shown */
      focus: -1, /* number of a node, of an edge, and of a group that is highlighted */
      edge: -1,
      group: -1,
      labels: "auto",
      size: "strength",
      edgeColor: "sign",
      hideIsolated: false,
    };
    this.edgeTable = makeEdgeTable(() => this.nameFile("edges", "csv"), (pair) => {
      this.focusEdge(pair);
      if (this.state.edge >= 0) byId("edge").scrollIntoView({ block: "nearest" });
    });
    this.nodeTable = makeNodeTable(() => this.nameFile("nodes", "csv"), (node) => this.focusNode(node), () => this.network);
    this.view = new NetworkView(byId("canvas"), this.state);
    this.pointing = new Pointing(this.view, byId("tooltip"), {
      describe: { node: (node) => describeNode(node, this.network), pair: (pair) => [namePair(pair), writePair(pair)] },
      choose: (node, pair) => (pair === null ? this.focusNode(node) : this.focusEdge(pair)),
    });
    this.spark = new Spark(byId("spark"));
    this.chart = showChoice();
  }

  /* The network on the slider. */
  get network() {
    return networkAt(this.state.k);
  }

  nameFile(what, ending) {
    const alpha = PATH.alphas[this.state.k];
    return alpha === null ? `${what}.${ending}` : `${what}_alpha_${formatAlpha(alpha)}.${ending}`;
  }

  update() {
    const { k, least, positive, negative, unsigned, edge } = this.state;
    const shown = [negative, unsigned, positive];
    const pairs = this.network.pairs.filter(({ value, sign }) => shown[sign + 1] && Math.abs(value) >= least);
    this.view.setEdges(pairs, this.network);
    this.edgeTable.setRows([...pairs]);
    this.nodeTable.setRows([...NODES.names.keys()]);
    showCounts(k, this.network, pairs.length, least);
    this.spark.setNow(k);
    this.chart?.setNow(PATH.alphas[k]);
    showCertificate(k);
    this.showDetail();
    showEdge(pairs.find(({ e }) => e === edge) ?? null, k === SELECTED);
  }

  goTo(k) {
    this.state.k = Math.min(N_ALPHAS - 1, Math.max(0, k));
    this.update();
  }

  showDetail() {
    const node = this.state.focus;
    byId("detail").hidden = node < 0;
    if (node >= 0) showDetail(node, this.network, this.view.neighbors[node], this);
  }

  /* Highlight a node; a second time, or −1, ends that. */
  focusNode(node) {
    const { state } = this;
    state.edge = -1;
    showEdge(null, true);
    state.focus = node === state.focus ? -1 : node;
    if (state.focus >= 0) this.view.reveal(state.focus);
    this.showDetail();
    this.view.draw();
    announce(state.focus < 0 ? "No node highlighted." : `${NODES.names[node]}: ${formatCount(this.network.degree[node], "edge")}.`);
  }

  /* Show the table of an edge; a second time, or null, puts it away. */
  focusEdge(pair) {
    const { state } = this;
    state.edge = pair === null || pair.e === state.edge ? -1 : pair.e;
    state.focus = -1;
    this.showDetail();
    showEdge(state.edge < 0 ? null : pair, state.k === SELECTED);
    this.view.draw();
    announce(state.edge < 0 ? "No edge highlighted." : `${namePair(pair)}: ${writePair(pair)}.`);
  }
}

const namePair = ({ s, t }) => `${NODES.names[s]} – ${NODES.names[t]}`;
const writePair = (pair) => `${pair.sign === 0 ? "norm" : "coupling"} ${formatValue(pair)}`;

/* Say how many edges there are and how many are shown, wherever that is said. */
function showCounts(k, network, n_shown, least) {
  const alpha = formatAlpha(PATH.alphas[k]);
  const total = PATH.n_edges[k];
  const shown = n_shown === total ? formatCount(total, "edge") : `${n_shown.toLocaleString("en")} of ${formatCount(total, "edge")} shown`;
  const [at, spoken] = N_ALPHAS > 1 ? [` at α = ${alpha}`, ` at alpha ${alpha}`] : ["", ""];
  const texts = {
    alpha,
    "edge-count": shown,
    "count-positive": network.positive.toLocaleString("en"),
    "count-negative": network.negative.toLocaleString("en"),
    "count-unsigned": network.unsigned.toLocaleString("en"),
    "network-aside": shown + at,
    "edges-aside": shown + at,
    "nodes-aside": N_NODES.toLocaleString("en") + at,
    "strength-value": `${HAS_UNSIGNED ? "weight" : "|coupling|"} ≥ ${formatNumber(least, 2)}`,
  };
  for (const [id, text] of Object.entries(texts)) byId(id).textContent = text;
  byId("slider").value = String(k);
  byId("slider").setAttribute("aria-valuetext", `alpha ${alpha}, ${formatCount(total, "edge")}${k === SELECTED ? ", selected" : ""}`);
  byId("back").disabled = k === SELECTED;
  byId("canvas").setAttribute("aria-label", `Network of ${formatCount(N_NODES, "node")}, ${shown}${spoken}.`);
}

showSections();
showLead();
showReproduction();
showPredictability();
showMissing();
showCheck();
const page = new Page();
for (const connect of [connectSlider, connectFilters, connectDrawing, connectGroups, connectSearch]) connect(page);
connectTheme(page.view);
page.update();

/* For scripts that steer the page: where a node is on the screen, and how much is drawn. */
globalThis.isinglassReport = Object.freeze({
  positionOf: (name) => {
    const box = byId("canvas").getBoundingClientRect();
    const [x, y] = page.view.screen(NODES.names.indexOf(name));
    return [box.left + x, box.top + y];
  },
  drawn: () => ({ k: page.state.k, edges: page.view.pairs.length, focus: NODES.names[page.state.focus] ?? null, edge: page.state.edge, scale: page.view.scale }),
});
