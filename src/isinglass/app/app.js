/* The page of the app. The server holds the state; the page shows it, and sends what is chosen. */

const PAGE = 200; // columns that are listed at a time
const KINDS = { binary: "two values", ordinal: "ordered", nominal: "unordered", continuous: "number" };
const COUNTED = { binary: "with two values", ordinal: "ordered", nominal: "unordered", continuous: "numeric" };
const TITLES = { fit: "Fit", bootstrap: "Bootstrap", compare: "Comparison of groups", figure: "Figure" }; // of jobs
const DONE = { fit: "The network is fitted", bootstrap: "The report has intervals now", compare: "The groups are compared", figure: "The figure is drawn" };
const TELL_SECONDS = 10; // between two announcements of progress
const WORDS = { fit: "Fitting", report: "Writing the report", bootstrap: "Resampling", compare: "Comparing", plot: "Drawing" };

let state = null;
let hasEnded = false; // the app does not answer
let language = "command";
let listed = PAGE;
let confirmed = null; // the choices that the server told last
let unanswered = 0; // choices that it has not answered
let included = 0; // version of the state that has all answered ones
let pressed = false; // a mouse button or the space bar: drawing now would lose the click
let typing = false; // into a field of the settings: drawing these now would lose what was typed
let posts = Promise.resolve(); // requests that must not overtake each other
let opening = new AbortController(); // ends the upload of a table if another one is chosen
const drawn = {}; // section -> the data that it shows
const dismissed = new Set(); // numbers of jobs that ended without a result, and were seen
const told = {}; // number of a job -> its state and when that was announced

/* Draw a section again only if what it shows has changed; the focus stays on the element with the same id, or goes to
   ``next`` if that is gone. */
function redraw(name, data, draw, next = null) {
  const text = JSON.stringify(data);
  if (drawn[name] === text) return;
  drawn[name] = text;
  const focused = document.activeElement?.id;
  draw();
  if (focused && document.activeElement?.id !== focused) (byId(focused) ?? next)?.focus({ preventScroll: true });
}

/* Talking to the server */

async function post(where, body = "", type = "application/json", signal = null) {
  try {
    const response = await fetch(where, { method: "POST", body, headers: { "Content-Type": type }, signal });
    const answer = await response.json();
    if (!response.ok) complain(answer.error);
    return answer;
  } catch {
    if (!signal?.aborted) complain("The app does not respond. Check that it is still running in its terminal.");
    return {};
  }
}

function complain(text) {
  if (text === byId("problem").textContent) return; // it is shown
  byId("problem").textContent = text;
  byId("problem").hidden = !text;
  if (text) byId("problem").scrollIntoView({ block: "nearest" });
}

/* Open a table in place of one that is being sent. */
function openTable(where, body, type) {
  complain("");
  opening.abort();
  opening = new AbortController();
  return post(where, body, type, opening.signal);
}

function upload(file) {
  if (state && file.size > state.most_bytes) { // before the first state has come, the server refuses it
    complain(`${file.name} is larger than ${Math.round(state.most_bytes / 2 ** 30)} GB. Use the command line for it.`);
    return;
  }
  announce(`Reading ${file.name}`);
  byId("busy").textContent = "Sending the file …";
  openTable(`upload/${encodeURIComponent(file.name)}`, file, "application/octet-stream");
}

/* Show a choice at once, and send it after those before it. A state that was sent without it does not undo it. Of kinds
   and codes only what changes is sent, so that one that the server refuses does not come back with the next. */
function choose(changes) {
  const { choices, layout } = state;
  state.choices = { ...choices, ...changes };
  for (const name of ["kinds", "codes"]) state.choices[name] = { ...choices[name], ...changes[name] };
  state.is_moving ||= "row_names" in changes;
  unanswered += 1;
  show();
  posts = posts.then(() => post(`choose/${layout}`, JSON.stringify(changes)));
  posts.then(({ version }) => {
    included = version ?? included; // none if it was refused
    unanswered -= 1;
    settle();
  });
}

function settle() {
  if (!unanswered && state.version >= included) state.choices = confirmed;
  show();
}

function run(job) {
  complain("");
  posts = posts.then(() => post(`run/${job}`));
}

async function follow() {
  let since = 0;
  for (;;) {
    try {
      const response = await fetch(`state/${since}`);
      if (!response.ok) throw new Error(response.statusText);
      const news = await response.json();
      confirmed = news.choices;
      if (state?.layout === news.layout) {
        news.choices = state.choices;
      } else { // another table
        byId("find").value = "";
        listed = PAGE;
      }
      state = { ...news, came: performance.now() };
      hasEnded = false;
      since = state.version;
      settle();
    } catch (error) {
      if (!hasEnded) {
        hasEnded = true;
        if (state) console.warn(error);
        byId("busy").textContent = "The app has ended.";
        announce("The app has ended.");
      }
      await new Promise((wait) => setTimeout(wait, 2000));
      since = 0;
    }
    const busy = state && state.jobs.some(isOpen);
    await new Promise((wait) => setTimeout(wait, busy ? 250 : 20));
  }
}

/* Return the seconds since the state came; 0 if nothing runs. A job that has nothing to report sends no other state. */
function sinceState() {
  return state.jobs.some(isOpen) ? (performance.now() - state.came) / 1000 : 0;
}

function isOpen(job) {
  return job.state === "waiting" || job.state === "running";
}

/* Showing the state */

function show() {
  if (pressed || !state) return;
  const { table, choices, results } = state;
  const reading = state.jobs.some((job) => isOpen(job) && !(job.kind in TITLES));
  byId("busy").textContent = hasEnded ? "The app has ended." : reading ? "Reading the table …" : state.jobs.some(isOpen) ? "Working …" : "";
  byId("file-name").textContent = state.file;
  byId("columns").inert = state.is_moving;
  redraw("problem", [state.problem, state.version * (state.problem !== "")], () => complain(state.problem));
  for (const id of ["columns", "fit"]) byId(id).hidden = !table;
  for (const id of ["network", "more"]) byId(id).hidden = !results.fit;
  for (const link of document.querySelectorAll("nav a")) link.hidden = byId(link.hash.slice(1)).hidden;
  if (table) {
    redraw("table", [state.file, table.n_rows, table.columns.length], () => announce(`${state.file}: ${table.n_rows} rows, ${table.columns.length} columns`));
    redraw("columns", [table, choices, state.codes_read, listed, byId("find").value], showColumns);
    if (!typing) redraw("settings", [table, choices], showSettings);
    redraw("fit", [table, choices, state.is_moving, state.jobs.map((job) => [job.key, job.state])], showFit);
    redraw("code", [state.steps, language], showCode);
  }
  redraw("jobs", [state.jobs, dismissed.size, Math.floor(sinceState())], showJobs, byId("run-fit"));
  state.jobs.filter((job) => job.kind in TITLES).forEach(tell);
  if (results.fit) {
    redraw("network", [results, state.stale], showNetwork);
    if (!typing) redraw("more", [results, choices, state.stale, state.jobs.map((job) => [job.key, job.state])], showMore);
  }
}

function showColumns() {
  const { table, choices } = state;
  const missing = table.n_missing ? `, ${table.n_missing} missing cells` : "";
  byId("size").textContent = `${table.n_rows} rows × ${table.columns.length} columns${missing}`;
  byId("detected").textContent = table.file.length ? `Found in the file: ${table.file.join(", ")}.` : "";
  const wanted = byId("find").value.toLowerCase();
  const found = table.columns.map((column, place) => [column, place]).filter(([column]) => column.name.toLowerCase().includes(wanted));
  byId("rows").replaceChildren(...found.slice(0, listed).map(([column, place]) => makeRow(column, place, choices)));
  byId("none-found").hidden = found.length > 0;
  byId("none-found").textContent = `No column has “${wanted}” in its name.`;
  byId("show-more").hidden = found.length <= listed;
  byId("show-more").textContent = `Show ${Math.min(PAGE, found.length - listed)} more of ${found.length}`;
  const doubts = byId("doubts");
  doubts.hidden = !table.warnings.length;
  doubts.querySelector("summary").textContent = `${table.warnings.length} ${table.warnings.length === 1 ? "thing" : "things"} to check, in full`;
  doubts.querySelector("ul").replaceChildren(...table.warnings.map((text) => make("li", { text })));
}

function makeRow(column, place, choices) {
  const role = place === choices.weights ? "weights" : place === choices.groups ? "groups" : null;
  const out = choices.left_out.includes(place);
  const use = make("input", {
    type: "checkbox", id: `use-${place}`, checked: !out && !role, disabled: role !== null, "aria-label": `Use ${column.name}`,
    onchange: (event) => choose({ covariates: state.choices.covariates.filter((one) => one !== place), left_out: event.target.checked ? state.choices.left_out.filter((one) => one !== place) : [...state.choices.left_out, place] }),
  });
  const adjust = make("input", {
    type: "checkbox", id: `adjust-${place}`, checked: choices.covariates.includes(place) && !out && !role, disabled: out || role !== null,
    onchange: (event) => choose({ covariates: event.target.checked ? [...state.choices.covariates, place] : state.choices.covariates.filter((one) => one !== place) }),
  });
  const row = make("tr", { class: out || role ? "out" : "" }, [
    make("td", {}, [use]),
    make("th", { scope: "row", text: column.name }),
    make("td", {}, role ? [role] : makeKind(column, place, choices)),
    make("td", {}, makeValues(column, place, choices)),
    make("td", { text: column.missing ? `${(100 * column.missing).toFixed(1)} %` : "" }),
    make("td", { class: "doubt", text: role ? "" : column.notes.filter(Boolean).join(", ") }),
    make("td", {}, [make("label", { class: "adjust" }, [adjust, " adjust for", make("span", { class: "unseen", text: ` ${column.name}` })])]),
  ]);
  return row;
}

function isNumber(value) {
  return value.trim() !== "" && Number.isFinite(Number(value));
}

function makeKind(column, place, choices) {
  const guess = column.stated || column.kind === null ? [] : [make("span", { class: "guess", text: "guessed" })];
  if (column.kind === "binary" && !(place in choices.kinds)) return [KINDS.binary];
  const chosen = choices.kinds[place] ?? column.kind;
  const words = !column.values.every(isNumber); // they have no order that we know, and are no numbers
  const barred = (kind) => words && kind !== chosen && kind !== "nominal" && kind !== column.kind;
  const options = Object.entries(KINDS).filter(([kind]) => kind !== "binary").map(([kind, text]) =>
    make("option", { value: kind, text, selected: kind === chosen, disabled: barred(kind) }),
  );
  if (column.kind === null) options.unshift(make("option", { value: "", text: "left out", selected: !choices.kinds[place] }));
  const change = (event) => {
    const kind = event.target.value || null;
    choose({ kinds: { [place]: kind }, left_out: kind ? state.choices.left_out.filter((one) => one !== place) : state.choices.left_out });
  };
  return [make("select", { id: `kind-${place}`, "aria-label": `Kind of ${column.name}`, onchange: change }, options), ...guess];
}

function makeValues(column, place, choices) {
  const codes = choices.codes[place] ?? [];
  const named = [...new Set([...(state.codes_read[place] ?? []), ...codes])]; // missing now, or when the table was read
  const gone = named.map((code) => makeValue(code, codes.includes(code), column, place));
  const values = column.values.filter((value) => !named.includes(value));
  if (column.kind === "continuous") {
    const ends = column.range.map(String).map((end) => named.includes(end) ? end : makeValue(end, false, column, place));
    return [ends[0], " … ", ends[1], ` (${column.n_values} steps) `, ...gone];
  }
  if (column.n_values > 12) return [`${values.slice(0, 3).join(", ")} … ${values.at(-1)} (${column.n_values}) `, ...gone];
  const more = column.kind === null && values.length >= 10 ? ["… "] : []; // of a column that is left out, only some are sent
  return [...values.map((value) => makeValue(value, false, column, place)), ...more, ...gone];
}

function makeValue(value, gone, column, place) {
  const toggle = () => {
    const codes = (state.choices.codes[place] ?? []).filter((one) => one !== value);
    choose({ codes: { [place]: gone ? codes : [...codes, value] } });
    announce(gone ? `${value} is an answer` : `${value} counts as missing in ${column.name}`);
  };
  const title = gone ? "Counts as missing; click to count it as an answer" : "Click if this stands for a missing answer";
  const label = `${value} is missing in ${column.name}`;
  return make("button", { type: "button", class: "value", id: `value-${place}-${value}`, "aria-label": label, "aria-pressed": String(gone), title, text: value, onclick: toggle });
}

function makeChoice(id, label, options, chosen, change) {
  const items = options.map(([value, text]) => make("option", { value, text, selected: String(chosen ?? "") === value }));
  return make("label", { class: "field", text: `${label} ` }, [make("select", { id, onchange: (event) => change(event.target.value) }, items)]);
}

function showSettings() {
  const { table, choices } = state;
  const columns = table.columns.map((column, place) => [String(place), column.name]);
  const numbers = columns.filter(([place]) => table.columns[place].values.length && table.columns[place].values.every(isNumber));
  const groups = columns.filter(([place]) => table.columns[place].n_values >= 2 && table.columns[place].n_values <= 12 && !["continuous", null].includes(table.columns[place].kind));
  const number = (value) => (value === "" ? null : Number(value));
  const fields = [
    makeChoice("weights", "Weights of the rows", [["", "none"], ...numbers], choices.weights, (value) => choose({ weights: number(value), groups: state.choices.groups === number(value) ? null : state.choices.groups })),
    makeChoice("group-column", "Groups to compare", [["", "none"], ...groups], choices.groups, (value) => choose({ groups: number(value), weights: state.choices.weights === number(value) ? null : state.choices.weights })),
  ];
  if (choices.weights !== null) {
    const kinds = [["", "counts if whole numbers"], ["sampling", "sampling weights"], ["counts", "counts of equal rows"]];
    fields.splice(1, 0, makeChoice("weight-kind", "They are", kinds, choices.weight_kind, (value) => choose({ weight_kind: value || null })));
  }
  if (table.n_missing) {
    const taken = [...choices.left_out, choices.weights, choices.groups];
    const zeros = table.columns.every((column, place) => !column.missing || column.kind === "binary" || taken.includes(place));
    const treatments = [["impute", "impute them"], ["drop", "leave out their rows"]];
    if (zeros || choices.missing === "zero") treatments.push(["zero", "read them as 0"]);
    fields.push(makeChoice("treatment", "Missing cells", treatments, choices.missing, (value) => choose({ missing: value })));
  }
  const everywhere = make("input", {
    type: "text", id: "codes", value: (choices.codes[-1] ?? []).join(", "), placeholder: "such as 99, -1",
    onchange: (event) => choose({ codes: { "-1": event.target.value.split(",").map((word) => word.trim()).filter(Boolean) } }),
  });
  fields.push(make("label", { class: "field", text: "Codes for missing answers, in all columns " }, [everywhere]));
  if (!choices.row_names || table.file.some((words) => words.startsWith("row labels from"))) {
    const box = make("input", { type: "checkbox", id: "row-names", checked: choices.row_names, onchange: (event) => choose({ row_names: event.target.checked }) });
    fields.push(make("label", { class: "field" }, [box, "The first column names the rows"]));
  }
  byId("settings").replaceChildren(...fields);
}

function showFit() {
  const { table, choices } = state;
  const taken = [...choices.left_out, choices.weights, choices.groups];
  const covariates = choices.covariates.filter((place) => !taken.includes(place));
  const nodes = table.columns.filter((column, place) => ![...taken, ...covariates].includes(place));
  const counts = Object.entries(COUNTED).map(([kind, text]) => [text, nodes.filter((column) => column.kind === kind).length]).filter(([, count]) => count);
  const holed = choices.missing === "drop" && table.columns.some((column, place) => column.missing && !taken.includes(place));
  const rows = holed ? `those of ${table.n_rows} rows that have no missing cell` : `${table.n_rows} rows`;
  byId("chosen").textContent = nodes.length < 2 ? "A network needs at least two columns. Tick them under Columns." : `A network of ${nodes.length} columns (${counts.map(([text, count]) => `${count} ${text}`).join(", ")}), from ${rows}${covariates.length ? `, adjusted for ${covariates.map((place) => table.columns[place].name).join(", ")}` : ""}. The penalty is chosen from the data.`;
  byId("run-fit").disabled = nodes.length < 2 || state.is_moving || isRunning("fit");
}

function isRunning(kind) {
  return state.jobs.some((job) => job.kind === kind && isOpen(job));
}

function showCode() {
  for (const box of document.querySelectorAll(".code")) {
    const step = state.steps[box.dataset.step];
    if (!step) {
      box.replaceChildren();
      continue;
    }
    const what = TITLES[box.dataset.step].toLowerCase();
    const tabs = [["command", "Command line"], ["python", "Python"]].map(([key, text]) =>
      make("button", { type: "button", id: `${key}-${box.dataset.step}`, "aria-pressed": String(language === key), "aria-label": `${text} of the ${what}`, text, onclick: () => { language = key; show(); } }),
    );
    const copy = make("button", {
      type: "button", class: "copy", id: `copy-${box.dataset.step}`, "aria-label": `Copy ${language === "command" ? "command line" : "Python code"} of the ${what}`, text: "Copy",
      onclick: async (event) => {
        await navigator.clipboard.writeText(step[language]);
        event.target.textContent = "Copied";
        announce("Copied");
      },
    });
    const name = `The ${what} without clicking`;
    box.replaceChildren(make("div", { class: "tabs", role: "group", "aria-label": name }, [...tabs, copy]), make("pre", { id: `text-${box.dataset.step}`, tabindex: "0", role: "group", "aria-label": name, text: step[language] }));
  }
}

function inWords(seconds) {
  if (seconds < 1) return "a second";
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : whole < 3600 ? `${Math.floor(whole / 60)} min ${whole % 60} s` : `${(whole / 3600).toFixed(1)} h`;
}

function showJobs() {
  const shown = state.jobs.filter((job) => job.kind in TITLES && job.state !== "done" && !dismissed.has(job.number));
  byId("jobs").replaceChildren(...shown.map((job) => {
    const title = job.kind === "figure" ? `Figure: ${figureName(job.key)}` : TITLES[job.kind];
    const heading = make("h3", { text: `${title}${job.state === "waiting" ? ", waiting" : ""}` });
    const ended = { failed: `Failed: ${job.error}`, stopped: "Stopped. Nothing was kept." }[job.state];
    if (ended) {
      const close = make("button", { type: "button", id: `close-${job.number}`, "aria-label": `Close: ${title}`, text: "Close", onclick: () => { dismissed.add(job.number); show(); } });
      return make("section", { class: `card job ${job.state}`, role: "alert" }, [make("div", {}, [heading, make("p", { text: ended })]), close]);
    }
    const what = WORDS[job.text] ?? job.text;
    const steps = job.total ? `, ${job.count} of ${job.total}` : "";
    const left = job.left === null || job.count === job.total ? "" : `, about ${inWords(job.left)} left`;
    const line = job.state === "running" ? [what + steps, `${inWords(job.seconds + sinceState())} so far${left}`].filter(Boolean).join(": ") : "";
    job.line = `${title}: ${line}`;
    const bar = make("progress", { max: job.total ?? 1, "aria-label": title });
    if (job.total) bar.value = job.count;
    const stop = make("button", { type: "button", id: `stop-${job.number}`, "aria-label": `Stop: ${title}`, text: "Stop", onclick: () => post(`stop/${job.number}`) });
    return make("section", { class: "card job", "aria-label": title }, [make("div", {}, [heading, make("p", { class: "label", text: line })]), stop, bar]);
  }));
}

/* Say to those who do not see the page how far a job is: when its state changes, and now and then while it runs. */
function tell(job) {
  const before = told[job.number];
  if (before?.state === job.state && !(job.state === "running" && job.seconds - before.seconds > TELL_SECONDS)) return;
  told[job.number] = { state: job.state, seconds: job.seconds };
  if (job.state === "running") announce(before?.state === "running" ? job.line : `${TITLES[job.kind]}: started`);
  else if (job.state === "done") announce(DONE[job.kind]);
}

function showFacts(list, facts) {
  list.replaceChildren(...facts.filter(([name]) => name !== "Wrote").flatMap(([name, value]) => [make("dt", { text: name }), make("dd", { text: value })]));
}

function linkTo(name) {
  return `files/${name.split("/").map(encodeURIComponent).join("/")}`;
}

function makeLinks(files) {
  return files.map((name) => make("a", { href: linkTo(name), download: name.split("/").pop(), text: name.split("/").pop() }));
}

function showNetwork() {
  const { results, stale } = state;
  for (const hint of document.querySelectorAll("#stale, #stale-more")) hint.hidden = !stale;
  for (const list of document.querySelectorAll("[data-warnings]")) {
    const warnings = results[list.dataset.warnings]?.warnings ?? [];
    list.hidden = !warnings.length;
    list.replaceChildren(...warnings.map((text) => make("li", { text })));
  }
  showFacts(byId("facts"), results.fit.facts);
  byId("files").replaceChildren(...makeLinks(results.fit.files));
  const page = linkTo(results.fit.files.find((name) => name.endsWith(".html")));
  byId("open-report").href = page;
  const key = JSON.stringify([results.fit.made, results.bootstrap?.made]);
  if (byId("report").dataset.key !== key) {
    byId("report").dataset.key = key;
    byId("report").src = page;
    if (!results.bootstrap) byId("network").scrollIntoView({ block: "start" });
  }
}

function figureName(file) {
  return state.figures.find(([name]) => name === file.split(".")[0])[1];
}

function showMore() {
  const { results, choices, stale } = state;
  byId("resamples").value = choices.resamples;
  const barred = stale || isRunning("fit");
  byId("run-bootstrap").disabled = barred || isRunning("bootstrap");
  byId("run-compare").disabled = barred || choices.groups === null || isRunning("compare");
  byId("run-figure").disabled = barred || isRunning("figure");
  byId("group-hint").textContent = choices.groups === null ? "Choose the column with the groups under Columns." : `Shuffles the groups of ${state.table.columns[choices.groups].name} and compares the networks each time.`;
  for (const box of document.querySelectorAll("[data-files]")) {
    const result = results[box.dataset.files];
    const links = result ? makeLinks(result.files) : [];
    const page = result?.files.find((name) => name.endsWith(".html"));
    if (page) links.unshift(make("a", { class: "button", href: linkTo(page), target: "_blank", rel: "noopener", text: "Open the comparison in a tab" }));
    box.replaceChildren(...links);
  }
  for (const list of document.querySelectorAll("[data-facts]")) {
    const result = results[list.dataset.facts];
    showFacts(list, result ? result.facts : []);
  }
  byId("figure").replaceChildren(...state.figures.map(([value, text, resampled]) => make("option", { value, text, disabled: resampled && !results.bootstrap })));
  for (const name of ["figure", "ending"]) byId(name).value = choices[name];
  const figures = Object.entries(results).filter(([key]) => key.includes("."));
  byId("drawn").replaceChildren(...figures.map(([key, result]) => {
    const picture = key.endsWith(".pdf") ? [] : [make("img", { src: `${linkTo(result.files[0])}?made=${result.made}`, alt: `Figure: ${figureName(key)}` })];
    return make("figure", {}, [...picture, make("figcaption", {}, makeLinks(result.files))]);
  }));
}

/* Controls that are always there */

byId("file").addEventListener("click", (event) => { event.target.value = ""; }); // the same file may be chosen again
byId("file").addEventListener("change", (event) => event.target.files[0] && upload(event.target.files[0]));
const zone = byId("drop");
for (const name of ["dragover", "drop"]) {
  document.addEventListener(name, (event) => {
    event.preventDefault();
    zone.classList.toggle("over", name === "dragover");
    if (name === "drop" && event.dataTransfer.files[0]) upload(event.dataTransfer.files[0]);
  });
}
document.addEventListener("dragleave", () => zone.classList.remove("over"));
for (const button of byId("examples").children) button.addEventListener("click", () => openTable(`example/${button.value}`));
byId("find").addEventListener("input", show);
byId("show-more").addEventListener("click", () => { listed += PAGE; show(); });
for (const job of ["fit", "bootstrap", "compare", "figure"]) byId(`run-${job}`).addEventListener("click", () => run(job));
byId("resamples").addEventListener("change", (event) => choose({ resamples: Math.max(1, Math.round(Number(event.target.value))) }));
for (const name of ["figure", "ending"]) byId(name).addEventListener("change", (event) => choose({ [name]: event.target.value }));
document.addEventListener("input", (event) => { typing ||= event.target.matches("#codes, #resamples"); }, true);
document.addEventListener("change", () => { typing = false; }, true);
document.addEventListener("focusout", () => { if (typing) { typing = false; show(); } });
document.addEventListener("pointerdown", (event) => { pressed = event.button === 0 && !event.target.closest("select"); }, true);
document.addEventListener("keydown", (event) => { pressed ||= event.key === " " && !event.target.closest("select"); }, true);
for (const name of ["pointerup", "pointercancel", "pointermove", "contextmenu", "keyup"]) {
  document.addEventListener(name, (event) => {
    if (!pressed || (name === "pointermove" && event.buttons)) return;
    pressed = false;
    setTimeout(show); // after the click
  }, true);
}
byId("theme").addEventListener("click", () => {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = document.documentElement.dataset.theme ?? (dark ? "dark" : "light");
  document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
});

setInterval(show, 1000);
follow();
