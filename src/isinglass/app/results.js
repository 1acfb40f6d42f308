/* What was found, and the files it is in. */

/* Show the facts of a result; what was written is shown as links. */
function showFacts(list, facts) {
  showPairs(list, facts.filter(([name]) => name !== "Wrote"));
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
  const { choices } = state;
  for (const name of ["resamples", "permutations"]) Object.assign(byId(name), { max: state.most_resamples, value: choices[name] });
  const groups = state.table.columns[choices.groups]?.name;
  byId("group-hint").textContent = groups === undefined
    ? "Choose the column with the groups under Columns."
    : `Shuffles the groups of ${groups} and compares the networks each time.`;
  byId("stale-compare").hidden = state.stale || !state.results.compare?.stale;
  showSteps();
  showFiles();
  showFigures();
}

/* Switch off the buttons of what cannot be started now. */
function showSteps() {
  const { results, choices } = state;
  const [, , needsBootstrap] = state.figures.find(([name]) => name === choices.figure);
  const lacksBootstrap = needsBootstrap && (!results.bootstrap || isRunning("bootstrap"));
  const barred = { bootstrap: false, compare: choices.groups === null, figure: lacksBootstrap };
  for (const job of Object.keys(barred)) {
    byId(`run-${job}`).disabled = state.stale || isBeingReplaced() || barred[job] || isRunning("fit") || isRunning(job);
  }
  byId("figure-hint").hidden = !lacksBootstrap;
}

function showFiles() {
  const { results } = state;
  for (const box of document.querySelectorAll("[data-files]")) {
    const result = results[box.dataset.files];
    const links = result ? makeLinks(result.files) : [];
    const page = result?.kind === "compare" && result.files.find((name) => name.endsWith(".html"));
    const open = { class: "button", target: "_blank", rel: "noopener", text: "Open the comparison in a tab" };
    if (page) links.unshift(make("a", { ...open, href: linkTo(page) }));
    box.replaceChildren(...links);
  }
  for (const list of document.querySelectorAll("[data-facts]")) {
    const result = results[list.dataset.facts];
    showFacts(list, result ? result.facts : []);
  }
}

function showFigures() {
  const { results, choices } = state;
  const options = state.figures.map(([value, text, needsBootstrap]) =>
    make("option", { value, text, disabled: needsBootstrap && !results.bootstrap }),
  );
  byId("figure").replaceChildren(...options);
  for (const name of ["figure", "ending"]) byId(name).value = choices[name];
  const figures = Object.values(results).filter(({ kind }) => kind === "figure");
  byId("drawn").replaceChildren(...figures.map((result) => {
    const picture = () => make("img", { src: `${linkTo(result.files[0])}?made=${result.made}`, alt: titleOf(result) });
    const caption = make("figcaption", {}, makeLinks(result.files));
    return make("figure", {}, result.key.endsWith(".pdf") ? [caption] : [picture(), caption]);
  }));
}
