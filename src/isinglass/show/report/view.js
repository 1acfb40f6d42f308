/* The drawing: a canvas that can be moved, zoomed and pulled at. */

const MANY_EDGES = 800; /* from here on dashes wait until nothing moves */
const FONT = "11.5px system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Helvetica Neue', Arial, sans-serif";

class NetworkView {
  /* `state` says how the network is drawn and what is highlighted; after a change of it, `draw` is called. */
  constructor(canvas, state) {
    Object.assign(this, { canvas, state });
    this.context = canvas.getContext("2d");
    this.x = Float64Array.from(NODES.x);
    this.y = Float64Array.from(NODES.y, (y) => -y); /* screens count downwards */
    this.pairs = [];
    this.buckets = [];
    this.neighbors = Array.from({ length: N_NODES }, () => []);
    this.radius = new Float64Array(N_NODES).fill(1);
    this.importance = Array.from({ length: N_NODES }, (_, k) => k);
    this.loneliness = nearestDistances(this.x, this.y);
    this.hover = -1;
    this.beforeFrame = () => {}; /* called before every frame, such as to let nodes follow a dragged one */
    this.moved = false; /* whether the reader has changed the view: then a new size keeps it */
    this.pending = false;
    this.context.font = FONT;
    this.names = NODES.names.map((name) => (name.length > 40 ? `${name.slice(0, 39)}…` : name));
    this.widths = this.names.map((name) => this.context.measureText(name).width);
    this.readColors();
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.resize();
  }

  /* ------------------------------------------------------------------ what is drawn */

  /* Take the edges that pass the filters, and the network they come from. */
  setEdges(pairs, network) {
    this.pairs = pairs;
    for (const list of this.neighbors) list.length = 0;
    for (const pair of pairs) {
      this.neighbors[pair.s].push(pair);
      this.neighbors[pair.t].push(pair);
    }
    const measure = this.state.size === "equal" ? null : network[this.state.size];
    const largest = measure === null ? 0 : measure.reduce((a, b) => Math.max(a, b), 0);
    for (let k = 0; k < N_NODES; k += 1) {
      this.radius[k] = largest > 0 ? 0.55 + 0.75 * Math.sqrt(measure[k] / largest) : 0.9;
    }
    /* Strong nodes come first, and those that stand alone: they are what one asks about. */
    const most = network.strength.reduce((a, b) => Math.max(a, b), 1e-300);
    const rank = this.loneliness.map((distance, k) => distance + network.strength[k] / most);
    this.importance.sort((a, b) => rank[b] - rank[a] || a - b);
    this.fillBuckets();
    this.hurry();
  }

  /* Take the colors of the theme. */
  readColors() {
    Object.assign(this, themeColors());
  }

  /* Arrange the edges for drawing, after they or their colors have changed. */
  fillBuckets() {
    this.buckets = bucketsOf(this.pairs, (pair) => edgeColor(this, pair));
  }

  isHidden(node) {
    return this.state.hideIsolated && this.neighbors[node].length === 0;
  }

  /* What is highlighted: null for everything, else the nodes and a test of pairs. */
  highlight() {
    const center = this.hover >= 0 ? this.hover : this.state.focus;
    if (center >= 0) {
      const nodes = new Set([center]);
      for (const { s, t } of this.neighbors[center]) nodes.add(s).add(t);
      return { center, nodes, has: (pair) => pair.s === center || pair.t === center };
    }
    const edge = this.pairs.find(({ e }) => e === this.state.edge);
    if (edge !== undefined) return { center: -1, nodes: new Set([edge.s, edge.t]), has: (pair) => pair === edge };
    if (this.state.group >= 0) {
      const inside = (node) => NODES.groups[node] === this.state.group;
      const nodes = new Set([...NODES.names.keys()].filter(inside));
      return { center: -1, nodes, has: (pair) => inside(pair.s) && inside(pair.t) };
    }
    return null;
  }

  /* ------------------------------------------------------------------ where it is drawn */

  screen(node) {
    return [this.left + this.x[node] * this.scale, this.top + this.y[node] * this.scale];
  }

  resize() {
    const wanted = this.setHeight();
    const { clientWidth } = this.canvas;
    const clientHeight = "printing" in document.documentElement.dataset ? Math.round(wanted) : this.canvas.clientHeight;
    if (clientWidth === 0 || clientHeight === 0) return;
    this.ratio = Math.min(3, window.devicePixelRatio || 1);
    const before = [this.width, this.height];
    [this.width, this.height] = [clientWidth, clientHeight];
    this.canvas.width = Math.round(clientWidth * this.ratio);
    this.canvas.height = Math.round(clientHeight * this.ratio);
    if (!this.moved || before[0] === undefined) this.fit();
    else {
      this.left += (this.width - before[0]) / 2;
      this.top += (this.height - before[1]) / 2;
    }
    this.paintNow();
  }

  /* Give the frame the height that the drawing needs at its width, within reason, and return it. */
  setHeight() {
    const [x0, x1, y0, y1] = this.extent();
    const needed = ((this.canvas.clientWidth - 110) * (y1 - y0)) / Math.max(x1 - x0, 0.3) + 80;
    const least = Math.min(490, 0.65 * window.innerHeight, 0.75 * this.canvas.clientWidth);
    /* On paper the canvas is scaled as it is: no room around the drawing, and none taken from the window. */
    const printing = "printing" in document.documentElement.dataset;
    const height = printing
      ? Math.min(Math.max(needed, 160), 1.15 * this.canvas.clientWidth)
      : Math.max(Math.min(needed, 0.72 * window.innerHeight, 720), least, 280);
    this.canvas.parentElement.style.height = `${height}px`;
    byId("panel").style.maxHeight = `${height}px`;
    return height;
  }

  extent() {
    const nodes = [...NODES.names.keys()].filter((node) => !this.isHidden(node));
    if (nodes.length === 0) return [-1, 1, -1, 1];
    const range = (values) => {
      const seen = nodes.map((node) => values[node]);
      return [seen.reduce((a, b) => Math.min(a, b), Infinity), seen.reduce((a, b) => Math.max(a, b), -Infinity)];
    };
    return [...range(this.x), ...range(this.y)];
  }

  fit() {
    const [x0, x1, y0, y1] = this.extent();
    const [left, right, above] = [50, 75, 35]; /* room for labels, and for the buttons on the right */
    const room = [Math.max(50, this.width - left - right), Math.max(50, this.height - 2 * above)];
    const fill = Math.min(room[0] / Math.max(x1 - x0, 1e-6), room[1] / Math.max(y1 - y0, 1e-6));
    this.fitted = Math.min(fill, 0.5 * Math.max(...room)); /* one node must not fill the frame */
    this.scale = this.fitted;
    this.left = (this.width + left - right) / 2 - (this.scale * (x0 + x1)) / 2;
    this.top = this.height / 2 - (this.scale * (y0 + y1)) / 2;
    this.moved = false;
    /* Nodes take a fixed share of the area that the drawing covers, on any screen. */
    const area = (x1 - x0 + 0.1) * (y1 - y0 + 0.1) * this.scale ** 2;
    this.unit = Math.min(9, Math.max(2.2, 0.125 * Math.sqrt(area / N_NODES)));
    this.draw();
  }

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const scale = Math.min(Math.max(this.scale * factor, this.fitted / 4), this.fitted * 40);
    this.left = x - ((x - this.left) * scale) / this.scale;
    this.top = y - ((y - this.top) * scale) / this.scale;
    this.scale = scale;
    this.moved = true;
    this.hurry();
  }

  pan(dx, dy) {
    this.left += dx;
    this.top += dy;
    this.moved = true;
    this.hurry();
  }

  /* Bring a node into the frame if it is outside. */
  reveal(node) {
    const [x, y] = this.screen(node);
    const outside = x < 40 || y < 40 || x > this.width - 40 || y > this.height - 40;
    if (outside) this.pan(this.width / 2 - x, this.height / 2 - y);
  }

  resetPositions() {
    this.x.set(NODES.x);
    for (let k = 0; k < N_NODES; k += 1) this.y[k] = -NODES.y[k];
    this.fit();
  }

  /* ------------------------------------------------------------------ drawing */

  /* Draw soon, with dashes left out while things move; and once more when they have come to rest. */
  hurry() {
    this.hurried = this.pairs.length > MANY_EDGES;
    this.draw();
    clearTimeout(this.resting);
    if (this.hurried) {
      this.resting = setTimeout(() => {
        this.hurried = false;
        this.draw();
      }, 150);
    }
  }

  draw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.beforeFrame();
      this.paintNow();
    });
  }

  paintNow() {
    const { context } = this;
    if (this.scale === undefined) return;
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.globalAlpha = 1;
    context.fillStyle = this.colors.sunken;
    context.fillRect(0, 0, this.width, this.height);
    const lit = this.highlight();
    drawEdges(this, lit);
    drawNodes(this, lit);
    if (this.state.labels !== "none" || lit !== null) drawLabels(this, lit);
  }

  /* Give a function the picture as a file: twice as large as on the screen, in light colors on white. */
  takePicture(use) {
    const root = document.documentElement;
    const [ratio, { width, height }] = [this.ratio, this.canvas];
    const paint = () => {
      this.readColors();
      this.paintNow();
    };
    root.dataset.printing = "";
    this.ratio = 2 * Math.max(1, ratio);
    [this.canvas.width, this.canvas.height] = [Math.round(this.width * this.ratio), Math.round(this.height * this.ratio)];
    paint();
    this.canvas.toBlob(use); /* takes what is painted now */
    delete root.dataset.printing;
    this.ratio = ratio;
    [this.canvas.width, this.canvas.height] = [width, height];
    paint();
  }

  size(node) {
    return this.radius[node] * this.unit * Math.min(2.5, Math.sqrt(this.scale / this.fitted));
  }
}

/* Distance of every node to its nearest, as a multiple of the median. */
function nearestDistances(x, y) {
  const distance = (a, b) => (a === b ? Infinity : Math.hypot(x[a] - x[b], y[a] - y[b]));
  const nearest = x.map((_, a) => x.reduce((least, _x, b) => Math.min(least, distance(a, b)), Infinity));
  const median = [...nearest].sort((a, b) => a - b)[Math.floor(nearest.length / 2)];
  return nearest.map((least) => (Number.isFinite(least) && median > 0 ? least / median : 1));
}
