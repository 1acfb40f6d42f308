/* The table of columns: what each is, and which of its values are missing. */

function showColumns() {
  const { table, choices } = state;
  for (const cell of document.querySelectorAll("[data-label]")) cell.textContent = state.labels[cell.dataset.label];
  const missing = table.n_missing ? `, ${formatCount(table.n_missing, "missing cell")}` : "";
  byId("size").textContent = `${formatCount(table.n_rows, "row")} × ${formatCount(table.columns.length, "column")}${missing}`;
  byId("detected").textContent = table.file.length ? `Found in the file: ${table.file.join(", ")}.` : "";
  const wanted = byId("find").value.toLowerCase();
  const found = table.columns.map((column, place) => [column, place]).filter(([column]) => column.name.toLowerCase().includes(wanted));
  byId("rows").replaceChildren(...found.slice(0, tab.listed).map(([column, place]) => makeRow(column, place, choices)));
  byId("none-found").hidden = found.length > 0;
  byId("none-found").textContent = `No column has “${wanted}” in its name.`;
  byId("show-more").hidden = found.length <= tab.listed;
  byId("show-more").textContent = `Show ${Math.min(PAGE, found.length - tab.listed)} more of ${found.length}`;
  const doubts = byId("doubts");
  doubts.hidden = !table.warnings.length;
  doubts.querySelector("summary").textContent = `${formatCount(table.warnings.length, "thing")} to check, in full`;
  doubts.querySelector("ul").replaceChildren(...table.warnings.map((text) => make("li", { text })));
}

function makeRow(column, place, choices) {
  const role = ["weights", "groups"].find((name) => choices[name] === place);
  const used = isUsed(place);
  const use = make("input", {
    type: "checkbox", id: `use-${place}`, "aria-label": `Use ${column.name}`,
    checked: used, disabled: Boolean(role) || column.kind === null,
    onchange: (event) => choose({
      covariates: withPlace("covariates", place, false),
      left_out: withPlace("left_out", place, !event.target.checked),
    }),
  });
  const adjust = make("input", {
    type: "checkbox", id: `adjust-${place}`, checked: used && choices.covariates.includes(place), disabled: !used,
    onchange: (event) => choose({ covariates: withPlace("covariates", place, event.target.checked) }),
  });
  const name = make("span", { class: "unseen", text: ` ${column.name}` });
  const notes = [...column.notes.filter(Boolean), ...(isConstant(column) ? ["the same in all rows"] : [])];
  return make("tr", { class: used ? "" : "out" }, [
    make("td", {}, [use]),
    make("th", { scope: "row", text: column.name }),
    make("td", {}, role ? [role] : makeKind(column, place, choices)),
    make("td", {}, makeValues(column, place, choices)),
    make("td", { text: column.missing ? `${(100 * column.missing).toFixed(1)} %` : "" }),
    make("td", { class: "doubt", text: role ? "" : notes.join(", ") }),
    make("td", {}, [make("label", { class: "adjust" }, [adjust, " adjust for", name])]),
  ]);
}

/* Return the places of a choice, with or without this one. */
function withPlace(name, place, isIn) {
  const others = state.choices[name].filter((one) => one !== place);
  return isIn ? [...others, place] : others;
}

/* Tell whether the column at a place is a node or a covariate. */
function isUsed(place) {
  const { table, choices } = state;
  return table.columns[place].kind !== null && ![...choices.left_out, choices.weights, choices.groups].includes(place);
}

function isConstant(column) {
  return column.kind !== null && column.is_constant;
}

function isNumber(value) {
  return value.trim() !== "" && Number.isFinite(Number(value));
}

function makeKind(column, place, choices) {
  const guess = column.stated || column.kind === null ? [] : [make("span", { class: "guess", text: "guessed" })];
  if (column.kind === "binary" && !(place in choices.kinds)) return [isConstant(column) ? ONE_VALUE : state.options.kinds.binary];
  const chosen = choices.kinds[place] ?? column.kind;
  const words = !column.values.every(isNumber); // they have no order that we know, and are no numbers
  const barred = (kind) => words && kind !== chosen && kind !== "nominal" && kind !== column.kind;
  const options = Object.entries(state.options.kinds).filter(([kind]) => kind !== "binary").map(([kind, text]) =>
    make("option", { value: kind, text, selected: kind === chosen, disabled: barred(kind) }),
  );
  if (column.kind === null) options.unshift(make("option", { value: "", text: "left out", selected: !choices.kinds[place] }));
  const change = (event) => {
    const kind = event.target.value || null;
    choose({ kinds: { [place]: kind }, ...(kind && { left_out: withPlace("left_out", place, false) }) });
  };
  const title = words ? "The order of words is not known" : "";
  return [make("select", { id: `kind-${place}`, "aria-label": `Kind of ${column.name}`, title, onchange: change }, options), ...guess];
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
  if (column.n_values > MOST_VALUES) {
    return [`${values.slice(0, 3).map(shorten).join(", ")} … ${shorten(values.at(-1))} (${column.n_values}) `, ...gone];
  }
  const more = column.kind === null && values.length >= 10 ? ["… "] : []; // of a column that is left out, only some are sent
  return [...values.map((value) => makeValue(value, false, column, place)), ...more, ...gone];
}

function shorten(value) {
  return value.length > MOST_LETTERS ? `${value.slice(0, MOST_LETTERS - 1)}…` : value;
}

function makeValue(value, gone, column, place) {
  const toggle = () => {
    const codes = (state.choices.codes[place] ?? []).filter((one) => one !== value);
    choose({ codes: { [place]: gone ? codes : [...codes, value] } });
    announce(gone ? `${value} is an answer` : `${value} counts as missing in ${column.name}`);
  };
  const title = gone ? "Counts as missing; click to count it as an answer" : "Click if this stands for a missing answer";
  return make("button", {
    class: "value", id: `value-${place}-${value}`, text: shorten(value), title,
    "aria-label": `${value} ${state.labels.na_value} ${column.name}`, "aria-pressed": String(gone), onclick: toggle,
  });
}
