/* Shows the state: every section is drawn again if what it shows has changed. */

function showBusy() {
  const isWorking = state?.jobs.some(isOpen);
  const found = [
    [tab.hasEnded, "The app has ended."],
    [requests.sending, "Sending the file …"],
    [state?.is_reading, "Reading the table …"],
    [isWorking, "Working …"],
  ].find(([holds]) => holds);
  byId("busy").textContent = found?.[1] ?? "";
}

function showProblem() {
  const text = tab.refusal || (state?.problem ?? "");
  const box = byId("problem");
  if (text === box.textContent) return;
  box.textContent = text;
  box.hidden = !text;
  if (text) box.scrollIntoView({ block: "nearest" });
}

function show() {
  showBusy();
  if (tab.pressed || !state) return;
  const { table, choices, results } = state;
  showProblem();
  byId("file-name").textContent = state.file;
  for (const id of ["columns", "fit"]) byId(id).hidden = !table;
  for (const id of ["network", "more"]) byId(id).hidden = !results.fit;
  for (const link of document.querySelectorAll("nav a")) link.hidden = byId(link.hash.slice(1)).hidden;
  if (table) {
    const size = `${formatCount(table.n_rows, "row")}, ${formatCount(table.columns.length, "column")}`;
    redraw("table", [state.file, size], () => announce(`${state.file}: ${size}`));
    redraw("columns", [table, choices, state.codes_read, tab.listed, byId("find").value], showColumns);
    if (!tab.typing) redraw("settings", [table, choices, state.row_names], showSettings);
    redraw("fit", [table, choices, isBeingReplaced(), isFitted(), state.jobs.map((job) => [job.key, job.state])], showFit);
    redraw("code", [state.steps, tab.language], showCode);
  }
  if (results.fit) {
    redraw("network", [results, state.stale], showNetwork);
    if (!tab.typing) redraw("more", [results, choices, isBeingReplaced(), state.stale, state.jobs.map((job) => [job.key, job.state])], showMore);
  }
  const start = byId(`run-${state.jobs.at(-1)?.kind ?? "fit"}`); // the button of the last job
  const next = start.disabled ? byId("main") : start;
  const shown = state.jobs.filter((job) => job.state !== "done" && !dismissed.has(job.number));
  const [unfinished, ended] = [shown.filter(isOpen), shown.filter((job) => !isOpen(job))];
  const showEnded = () => byId("ended").replaceChildren(...ended.map(makeEnded));
  redraw("ended", ended.map((job) => [job.number, job.state, job.error]), showEnded, next); // drawn twice, an alert is said twice
  const showUnfinished = () => byId("jobs").replaceChildren(...unfinished.map(makeProgress));
  redraw("jobs", [unfinished, Math.floor(sinceState())], showUnfinished, next);
  state.jobs.forEach(announceJob);
}
