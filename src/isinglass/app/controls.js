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
for (const button of byId("examples").children) button.addEventListener("click", () => openTable(button.value, `example/${button.value}`));
byId("find").addEventListener("input", show);
byId("show-more").addEventListener("click", () => { tab.listed += PAGE; show(); });
for (const job of Object.keys(JOBS)) byId(`run-${job}`).addEventListener("click", () => run(job));
for (const name of ["resamples", "permutations"]) {
  byId(name).addEventListener("change", ({ target }) => {
    if (target.value && target.validity.valid) {
      choose({ [name]: Number(target.value) });
    } else {
      refuse(`The number of ${name} must be a whole number from ${target.min} to ${target.max}.`);
      target.value = state.choices[name];
    }
  });
}
for (const name of ["figure", "ending"]) byId(name).addEventListener("change", (event) => choose({ [name]: event.target.value }));
document.addEventListener("input", (event) => { tab.typing ||= event.target.matches("#codes, #resamples, #permutations"); }, true);
document.addEventListener("change", () => { tab.typing = false; }, true);
document.addEventListener("focusout", () => { if (tab.typing) { tab.typing = false; show(); } });
document.addEventListener("pointerdown", (event) => { tab.pressed = event.button === 0 && !event.target.closest("select"); }, true);
document.addEventListener("keydown", (event) => { tab.pressed ||= event.key === " " && !event.target.closest("select"); }, true);
for (const name of ["pointerup", "pointercancel", "pointermove", "contextmenu", "keyup"]) {
  document.addEventListener(name, (event) => {
    if (!tab.pressed || (name === "pointermove" && event.buttons)) return;
    tab.pressed = false;
    setTimeout(show); // after the click
  }, true);
}
byId("theme").addEventListener("click", switchTheme);

setInterval(show, 1000);
follow();
