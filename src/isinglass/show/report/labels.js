/* The names of nodes, where there is room for them. */

/* Labels of important nodes first; in "auto", each only where it covers neither a label nor a node, and preferably no
   edge. `lit` is what is highlighted. */
function drawLabels(view, lit) {
  const { context } = view;
  const crowd = new Crowd();
  const [frame, buttons] = [view.canvas, byId("zoom")].map((element) => element.getBoundingClientRect());
  crowd.add([buttons.left - frame.left, buttons.top - frame.top, buttons.right - frame.left, buttons.bottom - frame.top]);
  const shown = view.importance.filter((node) => {
    const [x, y] = view.screen(node);
    return !view.isHidden(node) && x > -50 && y > -20 && x < view.width + 50 && y < view.height + 20;
  });
  for (const node of shown) {
    if (lit !== null && !lit.nodes.has(node)) continue; /* what is dimmed may be covered */
    const [x, y] = view.screen(node);
    const size = view.size(node);
    crowd.add([x - size, y - size, x + size, y + size]);
  }
  context.font = FONT;
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.lineWidth = 3;
  context.strokeStyle = view.colors.sunken;
  const order = lit === null ? shown : shown.filter((node) => lit.nodes.has(node));
  if (lit !== null) order.sort((a, b) => (b === lit.center) - (a === lit.center));
  const sides = sidesWithEdges(view);
  for (const node of order) {
    const always = view.state.labels === "all" || (lit !== null && node === lit.center);
    const box = placeLabel(view, node, crowd, always, sides[node]);
    if (box === null) continue;
    crowd.add(box);
    context.strokeText(view.names[node], box[0] + 2, (box[1] + box[3]) / 2);
    context.fillStyle = view.colors.ink;
    context.fillText(view.names[node], box[0] + 2, (box[1] + box[3]) / 2);
  }
}

/* Per node, bits of the sides that an edge leaves by, in the order of the places of labels. */
function sidesWithEdges(view) {
  const sides = new Uint8Array(N_NODES);
  if (view.pairs.length > MANY_EDGES) return sides;
  for (const { s, t } of view.pairs) {
    const [dx, dy] = [view.x[t] - view.x[s], view.y[t] - view.y[s]];
    const side = Math.abs(dy) < Math.abs(dx) / 2 ? (dx > 0 ? 0 : 1) : dy < 0 ? 2 : 3;
    sides[s] |= 1 << side;
    sides[t] |= 1 << (side ^ 1);
  }
  return sides;
}

/* The box of a node's label; null if there is no room for it. */
function placeLabel(view, node, crowd, always, sides) {
  const [x, y] = view.screen(node);
  const size = view.size(node);
  const width = view.widths[node] + 4;
  const isInside = x >= 0 && x <= view.width; /* then the label is moved in at the sides */
  const centered = isInside ? Math.max(0, Math.min(x - width / 2, view.width - width)) : x - width / 2;
  const places = [
    [x + size + 1, y - 7],
    [x - size - 1 - width, y - 7],
    [centered, y - size - 15],
    [centered, y + size + 1],
  ];
  const order = [0, 1, 2, 3].sort((a, b) => ((sides >> a) & 1) - ((sides >> b) & 1));
  for (const [left, top] of order.map((place) => places[place])) {
    const box = [left, top, left + width, top + 14];
    if (left >= 0 && left + width <= view.width && crowd.hasRoom(box)) return box;
  }
  return always ? [places[0][0], places[0][1], places[0][0] + width, places[0][1] + 14] : null;
}

/* Rectangles that labels must not cover, in a coarse grid so that looking is cheap. */
class Crowd {
  constructor() {
    this.cells = new Map();
  }

  *cellsOf([left, top, right, bottom]) {
    for (let i = Math.floor(left / 40); i <= Math.floor(right / 40); i += 1) {
      for (let j = Math.floor(top / 40); j <= Math.floor(bottom / 40); j += 1) yield i * 100_003 + j;
    }
  }

  add(box) {
    for (const cell of this.cellsOf(box)) {
      if (!this.cells.has(cell)) this.cells.set(cell, []);
      this.cells.get(cell).push(box);
    }
  }

  hasRoom(box) {
    for (const cell of this.cellsOf(box)) {
      for (const other of this.cells.get(cell) ?? []) {
        if (box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3]) return false;
      }
    }
    return true;
  }
}
