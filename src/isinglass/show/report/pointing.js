/* Pointing at the drawing: tooltips, highlighting, dragging, zooming, and the keys that do the same. */

class Pointing {
  /* `describe` makes a tooltip's lines for a node or a pair; `choose` is told when a node or a pair is clicked. */
  constructor(view, tooltip, { describe, choose }) {
    Object.assign(this, { view, tooltip, describe, choose });
    this.pointers = new Map();
    this.dragged = -1;
    view.beforeFrame = () => this.dragged >= 0 && this.followDragged();
    this.listen();
  }

  pointAt(x, y) {
    const node = nodeAt(this.view, x, y);
    const pair = node < 0 ? pairAt(this.view, x, y) : null;
    if (node !== this.view.hover) {
      this.view.hover = node;
      this.view.draw();
    }
    this.view.canvas.parentElement.classList.toggle("over-node", node >= 0 || pair !== null);
    if (node < 0 && pair === null) this.tooltip.hidden = true;
    else this.showTooltip(node >= 0 ? this.describe.node(node) : this.describe.pair(pair), x, y);
  }

  showTooltip(lines, x, y) {
    this.tooltip.replaceChildren(...lines.map((text, k) => make(k === 0 ? "strong" : "span", { text })));
    this.tooltip.hidden = false;
    const { offsetWidth, offsetHeight } = this.tooltip;
    const left = x + 14 + offsetWidth > this.view.width ? Math.max(0, x - 14 - offsetWidth) : x + 14;
    const top = y + 14 + offsetHeight > this.view.height ? Math.max(0, y - 14 - offsetHeight) : y + 14;
    this.tooltip.style.translate = `${left}px ${top}px`;
  }

  clearPointing() {
    this.tooltip.hidden = true;
    if (this.view.hover >= 0) {
      this.view.hover = -1;
      this.view.draw();
    }
  }

  grab(node) {
    this.dragged = node;
    this.home = [Float64Array.from(this.view.x), Float64Array.from(this.view.y)];
  }

  /* Let the others follow the dragged node. A node's shift is the mean of its neighbors' shifts, weighted by coupling
     and held back by a spring to where it was: a few rounds of that per frame are smooth and cannot run away. */
  followDragged() {
    const { x, y, scale, importance, neighbors } = this.view;
    const [homeX, homeY] = this.home;
    const held = 0.5 * (STRONGEST || 1);
    let still = true;
    for (let round = 0; round < 3; round += 1) {
      for (const node of importance) {
        if (node === this.dragged || neighbors[node].length === 0) continue;
        let [total, dx, dy] = [held, 0, 0];
        for (const { s, t, value } of neighbors[node]) {
          const other = s === node ? t : s;
          const weight = Math.max(value, 0);
          total += weight;
          dx += weight * (x[other] - homeX[other]);
          dy += weight * (y[other] - homeY[other]);
        }
        const [stepX, stepY] = [homeX[node] + dx / total - x[node], homeY[node] + dy / total - y[node]];
        x[node] += 0.5 * stepX;
        y[node] += 0.5 * stepY;
        if (Math.hypot(stepX, stepY) * scale > 0.3) still = false;
      }
    }
    if (!still) this.view.hurry();
  }

  listen() {
    const { canvas } = this.view;
    const place = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener("pointerdown", (event) => {
      const [x, y] = place(event);
      canvas.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, [x, y]);
      this.traveled = this.pointers.size > 1 ? Infinity : 0;
      const node = this.pointers.size === 1 ? nodeAt(this.view, x, y) : -1;
      if (node >= 0) this.grab(node);
      else this.dragged = -1;
      canvas.parentElement.classList.add("dragging");
      this.clearPointing();
    });
    canvas.addEventListener("pointermove", (event) => {
      const [x, y] = place(event);
      if (!this.pointers.has(event.pointerId)) {
        if (event.pointerType !== "touch") this.pointAt(x, y);
        return;
      }
      this.dragTo(event.pointerId, x, y);
    });
    const release = (event) => {
      if (!this.pointers.delete(event.pointerId)) return;
      const clicked = event.type === "pointerup" && this.traveled < 5;
      const reach = event.pointerType === "touch" ? 10 : 5;
      if (clicked) this.choose(this.dragged, this.dragged < 0 ? pairAt(this.view, ...place(event), reach) : null);
      this.dragged = -1;
      canvas.parentElement.classList.remove("dragging");
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
    canvas.addEventListener("pointerleave", () => this.clearPointing());
    canvas.addEventListener("wheel", (event) => this.wheel(event, ...place(event)), { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  dragTo(pointer, x, y) {
    const [x0, y0] = this.pointers.get(pointer);
    const [dx, dy] = [x - x0, y - y0];
    this.traveled += Math.hypot(dx, dy);
    if (this.pointers.size === 2) {
      const [other] = [...this.pointers].filter(([id]) => id !== pointer).map(([, point]) => point);
      const before = Math.hypot(x0 - other[0], y0 - other[1]) || 1;
      this.view.zoom(Math.hypot(x - other[0], y - other[1]) / before, (x + other[0]) / 2, (y + other[1]) / 2);
      this.view.pan(dx / 2, dy / 2);
    } else if (this.dragged >= 0) {
      this.view.x[this.dragged] += dx / this.view.scale;
      this.view.y[this.dragged] += dy / this.view.scale;
      this.view.hurry();
    } else if (this.pointers.size === 1) {
      this.view.pan(dx, dy);
    }
    this.pointers.set(pointer, [x, y]);
  }

  /* The wheel scrolls the page until the reader has turned to the network. */
  wheel(event, x, y) {
    if (document.activeElement !== this.view.canvas && !event.ctrlKey && !event.metaKey) {
      const hint = byId("wheel-hint");
      hint.hidden = false;
      clearTimeout(this.hinting);
      this.hinting = setTimeout(() => { hint.hidden = true; }, 1600);
      return;
    }
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    this.view.zoom(Math.exp((-event.deltaY * lines * (event.ctrlKey ? 3 : 1)) / 500), x, y);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const actions = {
      "+": () => this.view.zoom(1.25),
      "=": () => this.view.zoom(1.25),
      "-": () => this.view.zoom(0.8),
      0: () => this.view.fit(),
      ArrowLeft: () => this.view.pan(40, 0),
      ArrowRight: () => this.view.pan(-40, 0),
      ArrowUp: () => this.view.pan(0, 40),
      ArrowDown: () => this.view.pan(0, -40),
      Escape: () => this.choose(-1, null),
    };
    if (!(event.key in actions)) return;
    event.preventDefault();
    actions[event.key]();
  }
}

/* The node under the pointer, or near it; -1 if there is none. */
function nodeAt(view, x, y) {
  let best = -1;
  let nearest = Infinity;
  for (let node = 0; node < N_NODES; node += 1) {
    if (view.isHidden(node)) continue;
    const [sx, sy] = view.screen(node);
    const distance = Math.hypot(sx - x, sy - y) - view.size(node);
    if (distance < nearest) [best, nearest] = [node, distance];
  }
  return nearest < 6 ? best : -1;
}

/* The edge under the pointer; null if there is none. */
function pairAt(view, x, y, within = 4) {
  let best = null;
  let nearest = within;
  for (const pair of view.pairs) {
    const [x0, y0] = view.screen(pair.s);
    const [x1, y1] = view.screen(pair.t);
    const length = (x1 - x0) ** 2 + (y1 - y0) ** 2 || 1;
    const along = Math.min(1, Math.max(0, ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / length));
    const distance = Math.hypot(x0 + along * (x1 - x0) - x, y0 + along * (y1 - y0) - y);
    if (distance < nearest) [best, nearest] = [pair, distance];
  }
  return best;
}
