# EBICglasso of qgraph for the tables of a list: lines "table.csv,weights.csv,pearson" or "…,auto" for cor_auto.
# Prints the processor seconds of each.
suppressMessages(library(qgraph))
jobs <- read.csv(commandArgs(TRUE)[1], header = FALSE, stringsAsFactors = FALSE)
for (k in seq_len(nrow(jobs))) {
  start <- proc.time()[["user.self"]]
  X <- read.csv(jobs[k, 1])
  S <- if (jobs[k, 3] == "auto") cor_auto(X, forcePD = TRUE, verbose = FALSE) else cor(X)
  W <- suppressMessages(suppressWarnings(EBICglasso(S, nrow(X), gamma = 0.5, verbose = FALSE)))
  write.table(W, jobs[k, 2], sep = ",", row.names = FALSE, col.names = FALSE)
  cat("seconds", proc.time()[["user.self"]] - start, "\n")
}
