/* The panel that compares rows simulated from the network with those of the table. */

const CHECKED = {
  means: ["Columns", "Shares of ones in single columns."],
  pairs: ["Pairs", "Shares of rows in which two columns are both 1."],
  triples: ["Triples", "Shares of rows in which three columns are all 1, for all triples or, of many, a sample."],
  counts: ["Ones per row", "Shares of rows with at least k ones, for each k."],
};

function showCheck() {
  const { check } = DATA;
  if (check === null) return;
  byId("check-text").textContent = check.text;
  byId("check-text").className = `verdict ${check.passed ? "good" : "bad"}`;
  byId("check-consequence").textContent = check.consequence;
  const tell = ({ what, n, n_flagged }) => {
    const [name, text] = CHECKED[what];
    return [name, n_flagged ? `${n_flagged} of ${n} differ` : `no difference found in ${n}`, text];
  };
  showFacts(byId("check-facts"), check.parts.map(tell));
}
