/* The controls of the page. Each function connects some of them with `page`, which they change and ask. */

function connectSlider(page) {
  const slider = byId("slider");
  slider.max = String(N_ALPHAS - 1);
  markSelected(N_ALPHAS > 1 ? SELECTED / (N_ALPHAS - 1) : 0);
  const player = new Player(page);
  slider.addEventListener("input", () => {
    player.pause();
    page.goTo(Number(slider.value));
  });
  byId("back").addEventListener("click", () => {
    player.pause();
    page.goTo(SELECTED);
    announce(`Back at the selected alpha: ${formatCount(PATH.n_edges[SELECTED], "edge")}.`);
  });
  byId("play").addEventListener("click", () => (player.timer === null ? player.play() : player.pause()));
}

/* Mark the selected network, at a share of the slider; the words at its ends make room for the mark. */
function markSelected(share) {
  const label = byId("mark-label");
  byId("mark").style.left = label.style.left = `calc(9px + (100% - 18px) * ${share})`;
  label.textContent = `selected: α = ${formatAlpha(PATH.alphas[SELECTED])}`;
  label.hidden = false;
  for (const [end, near] of [[0, share < 0.2], [2, share > 0.8]]) label.parentElement.children[end].classList.toggle("unseen", near);
  if (share < 0.1 || share > 0.9) label.style.translate = share < 0.1 ? "0 0" : "-100% 0";
}

/* Lets the network appear, from the empty end or from where the slider stands. */
class Player {
  constructor(page) {
    Object.assign(this, { page, timer: null });
  }

  play() {
    const last = N_ALPHAS - 1;
    if (this.page.state.k === last) this.page.goTo(0);
    this.timer = setInterval(() => {
      this.page.goTo(this.page.state.k + 1);
      if (this.page.state.k === last) this.pause();
    }, Math.max(60, 6000 / N_ALPHAS));
    this.show("true", "Pause");
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    this.show("false", "Play the path");
  }

  show(pressed, label) {
    byId("play").setAttribute("aria-pressed", pressed);
    byId("play").setAttribute("aria-label", label);
  }
}

function connectFilters(page) {
  const { state } = page;
  const [positive, negative, unsigned, only] = ["show-positive", "show-negative", "show-unsigned", "positive-only"].map(byId);
  const apply = () => {
    [state.positive, state.negative, state.unsigned] = [positive.checked, negative.checked, unsigned.checked];
    only.checked = positive.checked && !negative.checked && (!unsigned.checked || !HAS_UNSIGNED);
    page.update();
  };
  for (const box of [positive, negative, unsigned]) box.addEventListener("change", apply);
  only.addEventListener("change", () => {
    [positive.checked, negative.checked, unsigned.checked] = [true, !only.checked, !only.checked];
    apply();
  });
  byId("strength").addEventListener("input", (event) => {
    /* Squared: most couplings are small, so that the slider is finer there. */
    state.least = STRONGEST * (Number(event.target.value) / 200) ** 2;
    byId("strength").setAttribute("aria-valuetext", `at least ${formatNumber(state.least, 2)}`);
    page.update();
  });
}

function connectDrawing(page) {
  const { state, view } = page;
  for (const [id, name] of [["labels", "labels"], ["size", "size"], ["edge-color", "edgeColor"]]) {
    byId(id).addEventListener("change", (event) => {
      state[name] = event.target.value;
      page.update();
    });
  }
  byId("hide-isolated").addEventListener("change", (event) => {
    state.hideIsolated = event.target.checked;
    page.update();
    if (!view.moved) view.fit();
  });
  byId("zoom-in").addEventListener("click", () => view.zoom(1.4));
  byId("zoom-out").addEventListener("click", () => view.zoom(1 / 1.4));
  byId("zoom-fit").addEventListener("click", () => view.fit());
  byId("reset").addEventListener("click", () => view.resetPositions());
  byId("save-image").addEventListener("click", () => view.takePicture((blob) => saveBlob(blob, page.nameFile("network", "png"))));
}

function connectGroups(page) {
  const buttons = DATA.groups.map(({ name, color }, number) => {
    const size = NODES.groups.filter((group) => group === number).length;
    const mark = makeShape(SHAPES[number % SHAPES.length], color);
    const parts = [mark, make("span", { text: name }), make("span", { class: "n", text: size.toLocaleString("en") })];
    return make("button", { "aria-pressed": "false" }, parts);
  });
  buttons.forEach((button, number) => {
    button.addEventListener("click", () => {
      page.state.group = page.state.group === number ? -1 : number;
      buttons.forEach((other, k) => other.setAttribute("aria-pressed", String(k === page.state.group)));
      page.view.draw();
    });
  });
  byId("groups").append(...buttons);
}

function connectSearch(page) {
  const query = byId("query");
  byId("names").append(...NODES.names.map((name) => make("option", { value: name })));
  const show = (node) => {
    if (node >= 0 && node !== page.state.focus) page.focusNode(node);
  };
  query.addEventListener("input", () => show(findNode(query.value, true)));
  byId("search").addEventListener("submit", (event) => {
    event.preventDefault();
    const node = findNode(query.value, false);
    if (node < 0) announce(`No node is called “${query.value}”.`);
    query.setAttribute("aria-invalid", String(node < 0 && query.value.trim() !== ""));
    show(node);
  });
  byId("detail-close").addEventListener("click", () => {
    page.focusNode(-1);
    query.value = "";
    query.focus();
  });
  byId("edge-close").addEventListener("click", () => {
    page.focusEdge(null);
    byId("canvas").focus();
  });
  document.addEventListener("keydown", (event) => {
    const { focus, edge } = page.state;
    if (event.key === "Escape" && (focus >= 0 || edge >= 0) && event.target !== byId("canvas")) page.focusNode(-1);
  });
}

/* The number of the node of this name, or if that need not be exact of one that begins with it or contains it; or −1. */
function findNode(text, exact) {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return -1;
  const names = NODES.names.map((name) => name.toLowerCase());
  const same = names.indexOf(wanted);
  if (same >= 0 || exact) return same;
  const start = names.findIndex((name) => name.startsWith(wanted));
  return start >= 0 ? start : names.findIndex((name) => name.includes(wanted));
}

/* Light, dark and paper. */
function connectTheme(view) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const repaint = () => {
    byId("theme").setAttribute("aria-pressed", String(isDark()));
    view.readColors();
    view.paintNow();
  };
  byId("theme").addEventListener("click", () => {
    switchTheme();
    repaint();
  });
  system.addEventListener("change", repaint);
  const print = (printing) => {
    if (printing === "printing" in root.dataset) return;
    if (printing) root.dataset.printing = "";
    else delete root.dataset.printing;
    view.resize();
    repaint();
  };
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  matchMedia("print").addEventListener("change", (event) => print(event.matches));
  repaint();
}
