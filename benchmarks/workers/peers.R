# One job of compares.py: Rscript peers.R JOB TABLE.csv OUT.csv. Prints the processor seconds of the job alone.
args <- commandArgs(TRUE); job <- args[1]; out <- args[3]
if (job == "tables") {                                       # TABLE is the folder to write to
  data(bfi, package = "psych"); items <- bfi[, 1:25]
  whole <- complete.cases(items)
  write.csv(items[whole, ], file.path(args[2], "bfi.csv"), row.names = FALSE)
  write.csv(1 * (items[whole, ] > 3), file.path(args[2], "bfi_yes.csv"), row.names = FALSE)
  write.csv(data.frame(gender = bfi$gender[whole]), file.path(args[2], "gender.csv"), row.names = FALSE)
  data(big5, package = "qgraph")
  write.csv(1 * (big5[, 1:30] > 3), file.path(args[2], "big5_yes.csv"), row.names = FALSE)
  quit()
}
x <- as.matrix(read.csv(args[2])); p <- ncol(x)
spent <- function(expression) { time <- system.time(value <- expression); cat(sum(time[1:2]), "\n"); value }
quiet <- function(expression) { sink(tempfile()); on.exit(sink()); suppressMessages(suppressWarnings(expression)) }
invisible(quiet(switch(job, isingfit = library(IsingFit), glmnet = library(glmnet), ebicglasso = library(qgraph), mgm = library(mgm),
  bgms = library(bgms), bootnet = library(bootnet), nct = library(NetworkComparisonTest))))
lambdas <- exp(seq(log(0.2), log(0.002), length.out = 50))
set.seed(1)
found <- switch(job,
  isingfit = spent(quiet(IsingFit(x, plot = FALSE, progressbar = FALSE)$weiadj)),
  glmnet = spent(t(sapply(1:p, function(s) {
    fit <- glmnet(x[, -s], x[, s], family = "binomial", lambda = lambdas)
    append(fit$beta[, 50], 0, s - 1)
  }))),
  ebicglasso = spent(quiet(EBICglasso(cor(x), nrow(x), gamma = 0.5))),
  mgm = spent(quiet({
    fit <- mgm(x, type = rep("g", p), level = rep(1, p), pbar = FALSE, signInfo = FALSE)$pairwise
    sign <- fit$signs; sign[is.na(sign)] <- 1
    fit$wadj * sign
  })),
  bgms = spent(quiet({
    fit <- bgm(x, iter = 1000, burnin = 200, display_progress = FALSE)
    fit$interactions * (fit$gamma > 0.5)
  })),
  bootnet = {
    net <- quiet(estimateNetwork(x, default = "IsingFit", verbose = FALSE))
    spent(quiet(bootnet(net, nBoots = 20, nCores = 1, verbose = FALSE)))
    net$graph
  },
  nct = {
    groups <- read.csv(file.path(dirname(args[2]), "gender.csv"))$gender
    test <- spent(quiet(NCT(x[groups == 1, ], x[groups == 2, ], it = 50, binary.data = TRUE, progressbar = FALSE)))
    matrix(c(test$nwinv.real, test$glstrinv.real, test$nwinv.pval, test$glstrinv.pval), 1)
  })
write.table(found, out, sep = ",", row.names = FALSE, col.names = FALSE)
