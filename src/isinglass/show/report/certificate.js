/* What is proved about the computation, and what is known about other samples. */

/* How far the edges depend on the sample, as far as that was looked at. */
function describeUncertainty() {
  const { rows, "case-drop": subsets } = DATA.n_resamples;
  if (rows !== undefined) {
    return {
      figure: `${rows.toLocaleString("en")} resamples`,
      extra: "intervals in the tables below",
      sentence: "How much the edges depend on the sample is shown by the resamples in the tables of edges and nodes.",
    };
  }
  if (subsets !== undefined) {
    return {
      figure: `${subsets.toLocaleString("en")} subsets`,
      extra: "CS-coefficients below the table of nodes",
      sentence: "How much the order of nodes and edges depends on the sample is shown by the CS-coefficients; intervals of the edges were not assessed.",
    };
  }
  if (DATA.curve?.kind === "instability") {
    return {
      figure: "subsamples",
      extra: "shares in the table of edges",
      sentence: "How much the edges depend on the sample is shown by the shares of subsamples in the table of edges.",
    };
  }
  const commands = "isinglass bootstrap, then isinglass report --bootstrap (Python: bootstrap, write_report)";
  return {
    figure: "not assessed",
    extra: `to add it: ${commands}`,
    sentence: `How much the edges depend on the sample was not assessed here; ${commands} adds it.`,
  };
}

/* What the certificate is about, in words: one optimum, or one per regression. */
function describeProof() {
  const table = DATA.missing?.treatment === "impute" ? "the completed table" : "this table";
  const otherRows = `It says nothing about other samples. ${describeUncertainty().sentence}`;
  if (DATA.certificate.kind !== "nodewise") {
    return {
      figure: ["Computation", "exact optimum", "not at the optimum"],
      about: `for ${table} and penalty, with certificate`,
      reached: `The computation reached the optimum for ${table} and this penalty`,
      missed: "The tolerance was NOT reached: some edges may be wrong. Allow more iterations.",
      residual: "Largest violation of the optimality conditions, over all pairs and fields. Zero at the optimum.",
      gap: "The objective is at most this much above its minimum.",
      note: `This is a proof about the computation: up to the gap, no other couplings fit these rows better under this penalty. ${otherRows}`,
    };
  }
  const rule = DATA.certificate.rule === null ? "" : ` by the rule “${DATA.certificate.rule}”`;
  return {
    figure: ["Computation", "exact optima", "not all at their optimum"],
    about: `for ${table} and these penalties, with certificate`,
    reached: `Each of the ${N_NODES} regressions reached its optimum`,
    missed: "A regression did NOT reach the tolerance: some edges may be wrong. Allow more iterations.",
    residual: "Largest violation of a regression’s optimality conditions. Zero where each is at its optimum.",
    gap: "The objectives of all regressions together are at most this much above their minima.",
    note: `This is a proof about each regression: no other coefficients fit these rows better under its penalty. The couplings combine two coefficients of every pair${rule}; no single objective has the network as its optimum. ${otherRows}`,
  };
}

/* Show the certificate of network number k on the slider. */
function showCertificate(k) {
  const proof = DATA.certificate;
  const words = describeProof();
  const known = proof.kkt_residual[k] !== null;
  const converged = proof.converged[k];
  byId("certificate-aside").textContent = N_ALPHAS > 1 ? `at α = ${formatAlpha(PATH.alphas[k])}` : "";
  const tolerance = proof.tol[k] === null ? "the tolerance" : `a tolerance of ${String(proof.tol[k]).replace("-", MINUS)}`;
  const verdict = byId("verdict");
  verdict.className = `verdict ${known ? (converged ? "good" : "bad") : ""}`.trim();
  verdict.textContent = converged ? `${words.reached}, within ${tolerance}.` : words.missed;
  if (!known) verdict.textContent = "This network came without a certificate.";
  showText("certificate-note", known ? words.note : "");
  showFacts(byId("certificate-facts"), known ? listProof(proof, words, k) : []);
}

function listProof(proof, words, k) {
  const small = (value) => (value === 0 ? "0" : value.toExponential(1).replace("-", MINUS));
  const given = (value, write) => (value === null ? null : write(value));
  const count = (value) => value.toLocaleString("en");
  const pairs = (N_NODES * (N_NODES - 1)) / 2;
  const candidates = proof.candidates ?? pairs;
  const screened = (proof.n_screened[k] ?? 0) - (pairs - candidates);
  const reached = proof.converged.filter(Boolean).length;
  const empty = proof.null_objective === null ? "." : `; ${formatNumber(proof.null_objective, 6)} without edges.`;
  return [
    ["KKT residual", small(proof.kkt_residual[k]), words.residual],
    ["Duality gap", given(proof.duality_gap[k], small) ?? "–", words.gap],
    ["Relative gap", given(proof.relative_gap[k], small), "The gap as a share of the objective without edges; this share and the residual are what the tolerance bounds."],
    ["Objective", given(proof.objective[k], (value) => formatNumber(value, 6)), `Loss plus penalty${empty}`],
    ["Candidates", given(proof.candidates, count), `of ${count(pairs)} pairs: those with an edge in stage 1, which sets their penalties. The proof is about these pairs${proof.candidates < pairs ? "; the others were left out by stage 1" : ""}.`],
    ["Certified zeros", proof.certified_zeros[k] ? count(proof.certified_zeros[k]) : null, `of ${count(candidates)} ${proof.candidates === null ? "pairs" : "candidates"}. These are proved to have no edge at this penalty.`],
    ["Iterations", proof.n_iter[k] ? String(proof.n_iter[k]) : null, screened > 0 ? `Screening excluded ${formatCount(screened, "pair")}; the proof covers ${screened === 1 ? "it" : "them"}, too.` : "Newton steps of the solver."],
    ["The path", N_ALPHAS > 1 ? `${reached} of ${N_ALPHAS}` : null, "networks on the slider reached their tolerance."],
  ];
}
