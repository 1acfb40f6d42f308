"""
Who is most central, and is that certain?
=========================================

Strength, closeness and betweenness of every node, with intervals, and a check whether their order can be
interpreted at all.
"""

from isinglass import bootstrap, plot, read_table

survey = read_table("../mood.csv", encode="auto", missing="drop", drop=["weight"])
resampled = bootstrap(survey, 0.05, n_boot=200, random_state=0)
plot.centrality(resampled, of=["strength", "closeness", "betweenness"])

# %%
# The case-dropping bootstrap leaves out a growing share of the people. The CS-coefficient is the largest share
# that can be dropped while the order stays (correlation 0.7 with probability 95 %). Below 0.25 the order should
# not be interpreted.

dropped = bootstrap(survey, 0.05, n_boot=210, kind="case-drop", random_state=0)
for measure in ("strength", "closeness", "betweenness"):
    print(f"{measure:12} {dropped.cs_coefficient(measure):.2f}")
