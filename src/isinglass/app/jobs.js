/* What runs, and what ended without a result. */

function inWords(seconds) {
  if (seconds < 1) return "a second";
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : whole < 3600 ? `${Math.floor(whole / 60)} min ${whole % 60} s` : `${(whole / 3600).toFixed(1)} h`;
}

function progressOf(job) {
  const steps = job.total ? `, ${job.count} of ${job.total}` : "";
  const left = job.left === null || job.count === job.total ? "" : `, about ${inWords(job.left)} left`;
  return `${VERBS[job.text] ?? job.text}${steps}: ${inWords(job.seconds + sinceState())} so far${left}`;
}

function titleOf(job) {
  return job.kind === "figure" ? `Figure: ${figureName(job.key)}` : JOBS[job.kind].title;
}

function makeEnded(job) {
  const close = () => {
    dismissed.add(job.number);
    show();
  };
  const text = job.state === "failed" ? `Failed: ${job.error}` : "Stopped. Nothing was kept.";
  const texts = make("div", {}, [make("h3", { text: titleOf(job) }), make("p", { text })]);
  return make("section", { class: `card job ${job.state}`, role: "alert" }, [texts, makeEnd("Close", job, close)]);
}

function makeProgress(job) {
  const title = titleOf(job);
  const bar = make("progress", { max: job.total ?? 1, "aria-label": title });
  if (job.total || job.state === "waiting") bar.value = job.count;
  const texts = make("div", {}, [
    make("h3", { text: `${title}${job.state === "waiting" ? ", waiting" : ""}` }),
    make("p", { class: "label", text: job.state === "running" ? progressOf(job) : "" }),
  ]);
  const stop = makeEnd("Stop", job, () => post(`stop/${job.number}`));
  return make("section", { class: "card job", "aria-label": title }, [texts, stop, bar]);
}

/* A button that ends a job, or puts away what it says. */
function makeEnd(text, job, onclick) {
  return make("button", { id: `${text.toLowerCase()}-${job.number}`, "aria-label": `${text}: ${titleOf(job)}`, text, onclick });
}

/* Say to those who do not see the page how far a job is: when its state changes, and now and then while it runs. */
function announceJob(job) {
  const before = announced[job.number];
  if (before?.state === job.state && !(job.state === "running" && job.seconds - before.seconds > ANNOUNCE_SECONDS)) return;
  announced[job.number] = { state: job.state, seconds: job.seconds };
  if (job.state === "running") announce(`${titleOf(job)}: ${before?.state === "running" ? progressOf(job) : "started"}`);
  else if (job.state === "done") announce(JOBS[job.kind].done);
}
