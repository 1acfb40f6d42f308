/* What several panels are made of: facts with their explanations, names with values, and bars. */

const BARS_AT_ONCE = 40;

/* Fill a list with facts, each a name, a value and an explanation; one whose value is null is left out. */
function showFacts(list, facts) {
  const known = facts.filter(([, value]) => value !== null);
  list.replaceChildren(
    ...known.map(([name, value, words]) =>
      make("div", {}, [make("dt", { text: name }), make("dd", { class: "figure", text: value }), make("dd", { class: "words", text: words })]),
    ),
  );
}

/* Show a text, or hide its place if there is none. */
function showText(id, text) {
  byId(id).hidden = text === "";
  byId(id).textContent = text;
}

/* A bar has a name, parts from one share to another, each of a kind, a figure and perhaps a title. */
function makeBar({ name, parts, figure, title }) {
  const meter = make("span", { class: "meter" });
  for (const [kind, from, to] of parts) {
    const part = make("span", { class: kind });
    [part.style.left, part.style.right] = [`${100 * from}%`, `${100 * (1 - to)}%`];
    meter.append(part);
  }
  const label = make("span", { class: "name", text: name, title: name });
  return make("li", title ? { title } : {}, [label, meter, make("span", { class: "figure", text: figure })]);
}

function showBars(id, bars, noun, limit = BARS_AT_ONCE) {
  byId(id).replaceChildren(...bars.slice(0, limit).map(makeBar));
  showMore(byId(`${id}-more`), Math.min(limit, bars.length), bars.length, noun, (all) => showBars(id, bars, noun, all));
}

/* How well each node is predicted: what guessing reaches, and what the network adds; of numbers the explained variance. */
function showPredictability() {
  const [accuracy, marginal, explained] = ["accuracy", "marginal_accuracy", "r_squared"].map(nodeColumn);
  if (accuracy === null) return;
  const bars = NODES.names.map((name, node) => {
    const reached = accuracy[node] ?? Math.max(0, explained?.[node] ?? 0);
    const guess = marginal?.[node] ?? 0;
    const [low, high] = [Math.min(guess, reached), Math.max(guess, reached)];
    const figure = accuracy[node] === null ? writeExplained(node) : `${(100 * accuracy[node]).toFixed(1)} %`;
    return { name, reached, figure, parts: [["guess", 0, low], [reached < guess ? "loss" : "gain", low, high]] };
  });
  showBars("bars", bars.sort((a, b) => b.reached - a.reached), "node");
}

/* How much of the variance of a column of numbers the others explain. */
function writeExplained(node) {
  const share = nodeColumn("r_squared")?.[node] ?? null;
  return share === null ? "–" : `R² ${share.toFixed(2).replace("-", MINUS)}`;
}
