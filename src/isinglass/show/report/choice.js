/* The panel of the choice of α: the curve that the choice was read from, and what it means. */

/* Show the panel if there is a curve, and return its chart. */
function showChoice() {
  if (DATA.curve === null) return null;
  const alpha = formatAlpha(DATA.curve.alphas[DATA.curve.choice]);
  const { title, text, summary, ...chart } = DESCRIBE_CURVE[DATA.curve.kind](DATA.curve, alpha);
  byId("choice-title").textContent = title;
  byId("choice-text").textContent = text;
  return new CurveChart(byId("choice-chart"), { alphas: DATA.curve.alphas, choice: DATA.curve.choice, summary, ...chart });
}

const DESCRIBE_CURVE = { instability: describeInstability, score: describeScore, ebic: describeEbic };

function describeInstability(curve, alpha) {
  const { threshold, monotone, choice } = curve;
  return {
    title: "Stability of the edges (StARS)",
    text: `The network was estimated again from ${curve.n_subsamples} subsamples of ${curve.subsample_size} rows. The dotted curve shows how much they disagree about the edges, the solid line its running maximum. The choice, α = ${alpha}, is the smallest penalty at which the solid line is at most ${threshold}.`,
    summary: `Instability along the path; the choice is alpha ${alpha}, where it is ${formatNumber(monotone[choice])}, below the threshold ${threshold}.`,
    lines: [{ kind: "side", values: curve.values }, { kind: "main", values: monotone }],
    limit: threshold,
    limitLabel: `threshold ${threshold}`,
    fromZero: true,
    yLabel: "instability",
  };
}

function describeScore(curve, alpha) {
  const around = (sign) => curve.values.map((value, k) => (value === null ? null : value + sign * (curve.errors?.[k] ?? 0)));
  return {
    title: "Prediction of rows left out (cross-validation)",
    text: `Mean log pseudo-likelihood of rows that were held out, larger is better; the band is one standard error. The choice by the rule “${curve.rule}” is α = ${alpha}.`,
    summary: `Held-out score along the path; the choice is alpha ${alpha}.`,
    lines: [{ kind: "main", values: curve.values }],
    band: [around(-1), around(1)],
    yLabel: "held-out score per row",
  };
}

function describeEbic(curve, alpha) {
  return {
    title: "Extended BIC",
    text: `A trade-off of fit and number of edges (γ = ${curve.gamma}), smaller is better. ${curve.reason || `The choice is α = ${alpha}.`}`,
    summary: `Extended BIC along the path; the choice is alpha ${alpha}.`,
    lines: [{ kind: "main", values: curve.values }],
    yLabel: "EBIC",
  };
}
