/* The other choices, what a fit would use, and the commands and code for it. */

function showSettings() {
  const { table, choices, labels, options } = state;
  const holdsWeights = (column) => column.values.length && column.values.every(isNumber);
  const holdsGroups = (column) => column.n_values >= 2 && column.n_values <= MOST_VALUES && !["continuous", null].includes(column.kind);
  const columnsFor = (role, fits) => [
    ["", "none"],
    ...[...table.columns.entries()].filter(([place, column]) => place === choices[role] || fits(column)).map(([place, { name }]) => [String(place), name]),
  ];
  const chooseRole = (role, other, value) => {
    const place = value === null ? null : Number(value);
    choose({ [role]: place, [other]: state.choices[other] === place ? null : state.choices[other] });
  };
  const fields = [makeChoice("weights", columnsFor("weights", holdsWeights), choices.weights, (value) => chooseRole("weights", "groups", value))];
  if (choices.weights !== null) fields.push(makeChoice("weight_kind", Object.entries(options.weight_kind), choices.weight_kind, (value) => choose({ weight_kind: value })));
  fields.push(makeChoice("groups", columnsFor("groups", holdsGroups), choices.groups, (value) => chooseRole("groups", "weights", value)));
  if (table.n_missing) {
    const zeros = table.columns.every((column, place) => !column.missing || column.kind === "binary" || !isUsed(place));
    const treatments = Object.entries(options.missing).filter(([value]) => value !== "zero" || zeros || choices.missing === "zero");
    fields.push(makeChoice("missing", treatments, choices.missing, (value) => choose({ missing: value })));
  }
  const mark = table.has_decimal_commas ? ";" : ","; // between codes
  const everywhere = make("input", {
    type: "text", id: "codes", value: (choices.codes[-1] ?? []).join(`${mark} `), placeholder: `such as 99${mark} -1`,
    onchange: (event) => choose({ codes: { "-1": event.target.value.split(mark).map((word) => word.trim()).filter(Boolean) } }),
  });
  fields.push(make("label", { class: "field", text: `${labels.na_values}, in all columns ` }, [everywhere]));
  if (!state.row_names || table.has_row_names) {
    const box = make("input", {
      type: "checkbox", id: "row-names", checked: state.row_names,
      onchange: async ({ target }) => {
        await openTable(state.file, `again/${target.checked ? "names" : "variable"}`);
        target.checked = state.row_names; // until it has been read
      },
    });
    fields.push(make("label", { class: "field" }, [box, labels.id_column]));
  }
  byId("settings").replaceChildren(...fields);
}

function showFit() {
  const { table, choices } = state;
  const used = [...table.columns.keys()].filter(isUsed);
  const covariates = used.filter((place) => choices.covariates.includes(place)).map((place) => table.columns[place].name);
  const nodes = used.filter((place) => !choices.covariates.includes(place)).map((place) => table.columns[place]);
  const counts = Object.entries(state.options.kinds).map(([kind, text]) => [text, nodes.filter((column) => column.kind === kind && !isConstant(column)).length]);
  counts.push([ONE_VALUE, nodes.filter(isConstant).length]);
  const kinds = counts.filter(([, number]) => number).map(([text, number]) => `${text}: ${number}`).join(", ");
  const rows = choices.missing === "drop" && used.some((place) => table.columns[place].missing) ? `those of ${count(table.n_rows, "row")} that have no missing cell` : count(table.n_rows, "row");
  const adjusted = covariates.length ? `, adjusted for ${covariates.join(", ")}` : "";
  byId("chosen").textContent = nodes.length < 2 ? "A network needs at least two columns. Tick them under Columns." : `A network of ${nodes.length} columns (${kinds}), from ${rows}${adjusted}. The penalty is chosen from the data.${isFitted() ? " It is fitted." : state.pending === "fit" ? " The fit begins when the table has been read." : ""}`;
  byId("run-fit").disabled = nodes.length < 2 || state.is_opening || isRunning("fit") || isFitted();
}

/* Tell whether the network is of the choices now; false while the server has not seen them. */
function isFitted() {
  return !state.stale && state.choices === confirmed;
}

/* Tell whether a job of this kind runs or waits, for others or for the table to be read. */
function isRunning(kind) {
  return state.pending === kind || state.jobs.some((job) => job.kind === kind && isOpen(job));
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
