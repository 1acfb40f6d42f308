/* Shows the state: every section is drawn again if what it shows has changed. */

function showBusy() {
  const isWorking = state?.jobs.some(isOpen);
  byId("busy").textContent = hasEnded ? "The app has ended." : sending ? "Sending the file …" : state?.is_reading ? "Reading the table …" : isWorking ? "Working …" : "";
}

function showProblem() {
  const text = refusal || (state?.problem ?? "");
  const box = byId("problem");
  if (text === box.textContent) return;
  box.textContent = text;
  box.hidden = !text;
  if (text) box.scrollIntoView({ block: "nearest" });
}

function show() {
  if (pressed || !state) return;
  const { table, choices, results } = state;
  showBusy();
  showProblem();
  byId("file-name").textContent = state.file;
  for (const id of ["columns", "fit"]) byId(id).hidden = !table;
  for (const id of ["network", "more"]) byId(id).hidden = !results.fit;
  for (const link of document.querySelectorAll("nav a")) link.hidden = byId(link.hash.slice(1)).hidden;
  if (table) {
    redraw("table", [state.file, table.n_rows, table.columns.length], () => announce(`${state.file}: ${count(table.n_rows, "row")}, ${count(table.columns.length, "column")}`));
    redraw("columns", [table, choices, state.codes_read, listed, byId("find").value], showColumns);
    if (!typing) redraw("settings", [table, choices, state.row_names], showSettings);
    redraw("fit", [table, choices, state.is_opening, state.pending, isFitted(), state.jobs.map((job) => [job.key, job.state])], showFit);
    redraw("code", [state.steps, language], showCode);
  }
  if (results.fit) {
    redraw("network", [results, state.stale], showNetwork);
    if (!typing) redraw("more", [results, choices, state.stale, state.jobs.map((job) => [job.key, job.state])], showMore);
  }
  const start = byId(`run-${state.jobs.at(-1)?.kind ?? "fit"}`); // the button of the last job
  const next = start.disabled ? byId("main") : start;
  const shown = state.jobs.filter((job) => job.state !== "done" && !dismissed.has(job.number));
  const [unfinished, ended] = [shown.filter(isOpen), shown.filter((job) => !isOpen(job))];
  redraw("ended", ended.map((job) => [job.number, job.state, job.error]), () => byId("ended").replaceChildren(...ended.map(makeEnded)), next); // an alert is read again when it is drawn again
  redraw("jobs", [unfinished, Math.floor(sinceState())], () => byId("jobs").replaceChildren(...unfinished.map(makeProgress)), next);
  state.jobs.forEach(announceJob);
}
