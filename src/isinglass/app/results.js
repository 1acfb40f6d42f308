/* What was found, and the files it is in. */

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
  for (const name of ["resamples", "permutations"]) Object.assign(byId(name), { max: state.most_resamples, value: choices[name] });
  const barred = stale || isRunning("fit");
  byId("run-bootstrap").disabled = barred || isRunning("bootstrap");
  byId("run-compare").disabled = barred || choices.groups === null || isRunning("compare");
  byId("stale-compare").hidden = stale || !results.compare?.stale;
  const lacksBootstrap = (!results.bootstrap || isRunning("bootstrap")) && state.figures.some(([name, , needsBootstrap]) => name === choices.figure && needsBootstrap);
  byId("run-figure").disabled = barred || lacksBootstrap || isRunning("figure");
  byId("figure-hint").hidden = !lacksBootstrap;
  byId("group-hint").textContent = choices.groups === null ? "Choose the column with the groups under Columns." : `Shuffles the groups of ${state.table.columns[choices.groups].name} and compares the networks each time.`;
  for (const box of document.querySelectorAll("[data-files]")) {
    const result = results[box.dataset.files];
    const links = result ? makeLinks(result.files) : [];
    const page = result?.kind === "compare" && result.files.find((name) => name.endsWith(".html"));
    if (page) links.unshift(make("a", { class: "button", href: linkTo(page), target: "_blank", rel: "noopener", text: "Open the comparison in a tab" }));
    box.replaceChildren(...links);
  }
  for (const list of document.querySelectorAll("[data-facts]")) {
    const result = results[list.dataset.facts];
    showFacts(list, result ? result.facts : []);
  }
  byId("figure").replaceChildren(...state.figures.map(([value, text, needsBootstrap]) => make("option", { value, text, disabled: needsBootstrap && !results.bootstrap })));
  for (const name of ["figure", "ending"]) byId(name).value = choices[name];
  const figures = Object.values(results).filter(({ kind }) => kind === "figure");
  byId("drawn").replaceChildren(...figures.map((result) => {
    const picture = result.key.endsWith(".pdf") ? [] : [make("img", { src: `${linkTo(result.files[0])}?made=${result.made}`, alt: titleOf(result) })];
    return make("figure", {}, [...picture, make("figcaption", {}, makeLinks(result.files))]);
  }));
}
