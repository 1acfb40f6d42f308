/* The state, which the server holds, and requests to it. The scripts of the page share their names. */

const PAGE = 200; // columns that are listed at a time
const MOST_VALUES = 12; // of a column whose values are listed, or may be groups
const ONE_VALUE = "one value"; // what a constant column is called
const MOST_LETTERS = 100; // of a value
const JOBS = {
  fit: { title: "Fit", done: "The network is fitted" },
  bootstrap: { title: "Bootstrap", done: "The report has intervals now" },
  compare: { title: "Comparison of groups", done: "The groups are compared" },
  figure: { title: "Figure", done: "The figure is drawn" },
};
const ANNOUNCE_SECONDS = 10; // between two announcements of progress
const VERBS = { fit: "Fitting", report: "Writing the report", bootstrap: "Resampling", compare: "Comparing", plot: "Drawing" };

let state = null; // of the server
const tab = { // what this tab knows beside it
  hasEnded: false, // the app does not answer
  language: "command", // of the code that is shown
  listed: PAGE, // number of columns
  pressed: false, // a mouse button or the space bar: drawing now would lose the click
  typing: false, // into a field of the settings: drawing these now would lose what was typed
  refusal: "", // why the last request was not met
};
const requests = {
  posts: Promise.resolve(), // those that must not overtake each other
  sending: null, // the one that opens a table, which is ended if another one is chosen
  confirmed: null, // the choices that the server told last
  unanswered: 0, // choices that it has not answered
  included: 0, // version of the state that has all answered ones
};
const drawn = {}; // section -> the data that it shows
const dismissed = new Set(); // numbers of jobs that ended without a result, and were seen
const announced = {}; // number of a job -> its state and when that was announced

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
    if (!response.ok) refuse(answer.error);
    return answer;
  } catch {
    if (!signal?.aborted) refuse("The app does not respond. Check that it is still running in its terminal.");
    return {};
  }
}

function refuse(text) {
  tab.refusal = text;
  showProblem();
}

/* Open a table in place of one that is being sent, and of the one that is shown. */
async function openTable(name, where, body, type) {
  const isLost = state?.results.fit || state?.jobs.some(isOpen);
  if (isLost && !confirm(`Opening ${name} discards the results of ${state.file} and stops its jobs. Open it?`)) return;
  refuse("");
  requests.sending?.abort();
  const request = new AbortController();
  requests.sending = request;
  show();
  announce(`Reading ${name}`);
  await requests.posts; // choices about the columns that are shown come first
  await post(where, body, type, request.signal);
  if (requests.sending === request) requests.sending = null;
  show();
}

function upload(file) {
  if (state && file.size > state.most_bytes) { // before the first state has come, the server refuses it
    refuse(`${file.name} is larger than ${Math.round(state.most_bytes / 2 ** 30)} GB. Use the command line for it.`);
    return;
  }
  openTable(file.name, `upload/${encodeURIComponent(file.name)}`, file, "application/octet-stream");
}

/* Show a choice at once, and send it after those before it. A state that was sent without it does not undo it. Of kinds
   and codes only what changes is sent, so that one that the server refuses does not come back with the next. */
function choose(changes) {
  const { choices, layout } = state;
  state.choices = { ...choices, ...changes };
  for (const name of ["kinds", "codes"]) state.choices[name] = { ...choices[name], ...changes[name] };
  requests.unanswered += 1;
  tab.refusal = "";
  show();
  requests.posts = requests.posts.then(() => post(`choose/${layout}`, JSON.stringify(changes)));
  requests.posts.then(({ version }) => {
    requests.included = version ?? requests.included; // none if it was refused
    requests.unanswered -= 1;
    settle();
  });
}

function settle() {
  if (!requests.unanswered && state.version >= requests.included) state.choices = requests.confirmed;
  show();
}

/* Start a job, after a question if it discards others: those that were made from the result that it replaces. */
function run(job) {
  const made = [...Object.values(state.results), ...state.jobs.filter(isOpen)].filter((one) => one.sources.includes(job));
  const lost = [...new Set(made.map(titleOf))].join(", ");
  const text = `A new ${JOBS[job].title.toLowerCase()} discards what was made from the one before: ${lost}. Start it?`;
  if (lost && !confirm(text)) return;
  refuse("");
  requests.posts = requests.posts.then(() => tab.refusal || post(`run/${job}`)); // not with other choices than those that are shown
}

async function follow() {
  let since = 0;
  for (;;) {
    try {
      const response = await fetch(`state/${since}`);
      if (!response.ok) throw new Error(response.statusText);
      const news = await response.json();
      requests.confirmed = news.choices;
      if (state?.layout === news.layout) {
        news.choices = state.choices;
      } else { // another table
        byId("find").value = "";
        tab.listed = PAGE;
      }
      state = { ...news, came: performance.now() };
      tab.hasEnded = false;
      since = state.version;
      settle();
    } catch (error) {
      if (!tab.hasEnded) {
        tab.hasEnded = true;
        if (state) console.warn(error);
        showBusy();
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
