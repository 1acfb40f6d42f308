/* Making and finding elements, for the report and for the app. Text always goes in as text: a label cannot become
   markup. */

function byId(id) {
  return document.getElementById(id);
}

function make(tag, options = {}, children = []) {
  const element = document.createElement(tag);
  if (tag === "button") element.type = "button"; /* which sends no form */
  for (const [name, value] of Object.entries(options)) {
    if (name === "text") element.textContent = value;
    else if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

function announce(text) {
  byId("status").textContent = text;
}

/* Fill a list with names and values. */
function showPairs(list, pairs) {
  list.replaceChildren(...pairs.flatMap(([name, value]) => [make("dt", { text: name }), make("dd", { text: value })]));
}

function formatCount(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/* Whether the page is dark: as the reader chose, else as the system is. */
function isDark() {
  const { theme } = document.documentElement.dataset;
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function switchTheme() {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
}
