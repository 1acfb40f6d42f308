# Times what IsingFit asks of glmnet, one regression of a column on all others with glmnet's own hundred penalties, for some columns of a table.
#   Rscript isingfit.R TABLE.csv.gz COLUMNS       prints processor seconds of each column, comma-separated
suppressMessages(library(glmnet))
options(warn = -1)
arguments <- commandArgs(trailingOnly = TRUE)
x <- as.matrix(read.csv(arguments[1], header = FALSE))
seconds <- sapply(as.integer(strsplit(arguments[2], ",")[[1]]), function(i)
  sum(system.time(glmnet(x[, -i], x[, i], family = "binomial"))[c("user.self", "sys.self")]))
cat(seconds, sep = ",")
