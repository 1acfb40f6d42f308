/* The other choices, what a fit would use, and the commands and code for it. */

function showSettings() {
  const { table, choices, options } = state;
  const fields = [makeRole("weights", "groups", holdsNumbers)];
  if (choices.weights !== null) fields.push(makeChoice("weight_kind", Object.entries(options.weight_kind)));
  fields.push(makeRole("groups", "weights", holdsGroups));
  if (table.n_missing) fields.push(makeChoice("missing", listTreatments()));
  fields.push(makeCodes());
  if (!state.row_names || table.has_row_names) fields.push(makeRowNames());
  byId("settings").replaceChildren(...fields);
}

/* A control with which one of some options, pairs of value and text, is chosen. */
function makeChoice(name, options, change = (value) => choose({ [name]: value })) {
  const chosen = String(state.choices[name] ?? "");
  const items = options.map(([value, text]) => make("option", { value, text, selected: value === chosen }));
  const select = make("select", { id: name, onchange: (event) => change(event.target.value || null) }, items);
  return make("label", { class: "field", text: `${state.labels[name]} ` }, [select]);
}

/* The choice of the column that has a role; a column that has the other one loses that. */
function makeRole(role, other, isFit) {
  const { table, choices } = state;
  const found = [...table.columns.entries()].filter(([place, column]) => isFit(column) || place === choices[role]);
  const options = [["", "none"], ...found.map(([place, { name }]) => [String(place), name])];
  return makeChoice(role, options, (value) => {
    const place = value === null ? null : Number(value);
    choose({ [role]: place, [other]: state.choices[other] === place ? null : state.choices[other] });
  });
}

function holdsNumbers({ values }) {
  return values.length > 0 && values.every(isNumber);
}

function holdsGroups({ kind, n_values }) {
  return kind !== null && kind !== "continuous" && n_values >= 2 && n_values <= MOST_VALUES;
}

/* Missing cells may be read as 0 only where all of them are in columns of two values. */
function listTreatments() {
  const { table, choices, options } = state;
  const zeros = table.columns.every((column, place) => !column.missing || column.kind === "binary" || !isUsed(place));
  return Object.entries(options.missing).filter(([value]) => value !== "zero" || zeros || choices.missing === "zero");
}

function makeCodes() {
  const mark = state.table.has_decimal_commas ? ";" : ","; // between codes
  const split = (text) => text.split(mark).map((word) => word.trim()).filter(Boolean);
  const field = make("input", {
    type: "text", id: "codes", value: (state.choices.codes[-1] ?? []).join(`${mark} `), placeholder: `such as 99${mark} -1`,
    onchange: (event) => choose({ codes: { "-1": split(event.target.value) } }),
  });
  return make("label", { class: "field", text: `${state.labels.na_values}, in all columns ` }, [field]);
}

function makeRowNames() {
  const box = make("input", {
    type: "checkbox", id: "row-names", checked: state.row_names,
    onchange: async ({ target }) => {
      await openTable(state.file, `again/${target.checked ? "names" : "variable"}`);
      target.checked = state.row_names; // until it has been read
    },
  });
  return make("label", { class: "field" }, [box, state.labels.id_column]);
}

function showFit() {
  const { table, choices } = state;
  const used = [...table.columns.entries()].filter(([place]) => isUsed(place));
  const [covariates, nodes] = [true, false].map((adjusted) =>
    used.filter(([place]) => choices.covariates.includes(place) === adjusted).map(([, column]) => column),
  );
  byId("run-fit").disabled = nodes.length < 2 || isBeingReplaced() || isRunning("fit") || isFitted();
  if (nodes.length < 2) {
    byId("chosen").textContent = "A network needs at least two columns. Tick them under Columns.";
    return;
  }
  const omits = choices.missing === "drop" && used.some(([, column]) => column.missing);
  const rows = `${omits ? "those of " : ""}${formatCount(table.n_rows, "row")}${omits ? " that have no missing cell" : ""}`;
  const adjusted = covariates.length ? `, adjusted for ${covariates.map(({ name }) => name).join(", ")}` : "";
  const size = `A network of ${nodes.length} columns (${countKinds(nodes)}), from ${rows}${adjusted}.`;
  const sentences = [size, "The penalty is chosen from the data."];
  if (isFitted()) sentences.push("It is fitted.");
  byId("chosen").textContent = sentences.join(" ");
}

function countKinds(columns) {
  const kinds = columns.map((column) => (isConstant(column) ? ONE_VALUE : state.options.kinds[column.kind]));
  const counts = [...Object.values(state.options.kinds), ONE_VALUE].map((kind) => [kind, kinds.filter((one) => one === kind).length]);
  return counts.filter(([, number]) => number).map(([kind, number]) => `${kind}: ${number}`).join(", ");
}

/* Tell whether the network is of the choices now; false while the server has not seen them. */
function isFitted() {
  return !state.stale && state.choices === requests.confirmed;
}

/* Tell whether another table is on its way, which discards what is made of this one. */
function isBeingReplaced() {
  return requests.sending !== null || state.is_opening;
}

/* Tell whether a job of this kind runs or waits. */
function isRunning(kind) {
  return state.jobs.some((job) => job.kind === kind && isOpen(job));
}

function showCode() {
  for (const box of document.querySelectorAll(".code")) {
    const job = box.dataset.step;
    box.replaceChildren(...(state.steps[job] ? makeCode(job, state.steps[job]) : []));
  }
}

/* The command line or the Python code of a job, with buttons that choose between them and copy it. */
function makeCode(job, step) {
  const what = JOBS[job].title.toLowerCase();
  const languages = { command: "Command line", python: "Python" };
  const tabs = Object.entries(languages).map(([key, text]) => make("button", {
    id: `${key}-${job}`, "aria-pressed": String(tab.language === key), "aria-label": `${text} of the ${what}`, text,
    onclick: () => {
      tab.language = key;
      show();
    },
  }));
  const copy = make("button", {
    class: "copy", id: `copy-${job}`, "aria-label": `Copy ${tab.language === "command" ? "command line" : "Python code"} of the ${what}`, text: "Copy",
    onclick: async (event) => {
      await navigator.clipboard.writeText(step[tab.language]);
      event.target.textContent = "Copied";
      announce("Copied");
    },
  });
  const group = { role: "group", "aria-label": `The ${what} without clicking` };
  return [
    make("div", { ...group, class: "tabs" }, [...tabs, copy]),
    make("pre", { ...group, id: `text-${job}`, tabindex: "0", text: step[tab.language] }),
  ];
}
