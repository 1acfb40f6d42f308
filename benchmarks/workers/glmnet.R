# Fits glmnet on the files of one folder and writes coefficients and seconds back. Arguments: key=value.
#   mode = stacked | nodewise   thresh   maxit   repeats   budget   n   p   folder
suppressMessages({library(Matrix); library(glmnet)})
options(warn = -1)
ready <- as.numeric(Sys.time())
pairs <- strsplit(commandArgs(trailingOnly = TRUE), "=")
arg <- setNames(sapply(pairs, `[`, 2), sapply(pairs, `[`, 1))
num <- function(name) as.numeric(arg[[name]])
path <- function(name) file.path(arg[["folder"]], name)
read <- function(name, what, size) readBin(path(name), what, n = file.size(path(name)) / size, size = size)
write <- function(name, value) writeBin(value, path(name))
p <- num("p"); n <- num("n"); alphas <- read("alphas.bin", "double", 8)

if (num("thresh") < 1e-7) glmnet.control(fdev = 0, devmax = 1)  # tight runs finish the path; default runs keep glmnet's early end

last_column <- function(fit) pmin(seq_along(alphas), length(fit$lambda))  # an early end repeats the last solution

if (arg[["mode"]] == "stacked") {
  indptr <- read("indptr.bin", "integer", 4); indices <- read("indices.bin", "integer", 4)
  y <- as.numeric(readBin(path("y.bin"), "integer", n = n * p, size = 1))
  design <- new("dgCMatrix", i = indices, p = indptr, x = rep(1, length(indices)), Dim = as.integer(c(n * p, p * (p + 1) / 2)))
  factor <- c(rep(1, p * (p - 1) / 2), rep(0, p))
  lambda <- alphas * (p - 1) / (p * (p + 1))
  fit_all <- function() glmnet(design, y, family = "binomial", standardize = FALSE, intercept = FALSE,
                               penalty.factor = factor, lambda = lambda, thresh = num("thresh"), maxit = num("maxit"))
  coefficients <- function(fit) {
    beta <- summary(fit$beta[, last_column(fit), drop = FALSE])
    list(index = beta$i - 1L, alpha = beta$j - 1L, value = beta$x, fitted = length(fit$lambda))
  }
} else {
  X <- matrix(as.numeric(readBin(path("X.bin"), "integer", n = n * p, size = 1)), n, p)
  fit_node <- function(s) glmnet(X[, -s, drop = FALSE], X[, s], family = "binomial", standardize = FALSE,
                                 lambda = alphas / 2, thresh = num("thresh"), maxit = num("maxit"))
  fit_all <- function() lapply(seq_len(p), fit_node)
  coefficients <- function(fits) {
    parts <- lapply(seq_len(p), function(s) {
      fit <- fits[[s]]; k <- last_column(fit)
      beta <- summary(fit$beta[, k, drop = FALSE]); others <- setdiff(seq_len(p), s)
      list(index = c((s - 1) * p + others[beta$i] - 1, rep((s - 1) * p + s - 1, length(alphas))),
           alpha = c(beta$j, seq_along(alphas)) - 1, value = c(beta$x, fit$a0[k]))
    })
    gather <- function(key) unlist(lapply(parts, `[[`, key))
    list(index = as.integer(gather("index")), alpha = as.integer(gather("alpha")), value = gather("value"),
         fitted = min(sapply(fits, function(f) length(f$lambda))))
  }
  if (p > 50) {  # say what it would cost instead of starting something that takes hours
    started <- Sys.time(); for (s in round(seq(1, p, length.out = 5))) fit_node(s)
    estimate <- as.numeric(Sys.time() - started, units = "secs") / 5 * p
    if (estimate > num("budget")) { writeLines(sprintf("about %.0f s, estimated from 5 nodes, is over the budget of %.0f s", estimate, num("budget")), path("refused.txt")); quit(status = 0) }
  }
}

times <- c(); begun <- Sys.time()
repeat {
  started <- Sys.time(); fit <- fit_all(); times <- c(times, as.numeric(Sys.time() - started, units = "secs"))
  if (times[1] > 10) break                                   # too slow to discard: the first run is the measurement
  total <- as.numeric(Sys.time() - begun, units = "secs")
  if (length(times) > num("repeats") || (total > num("budget") / 4 && length(times) > 1)) break
}
if (length(times) > 1) times <- times[-1]
result <- coefficients(fit)
write("times.bin", times); write("index.bin", result$index); write("alpha.bin", result$alpha); write("value.bin", as.double(result$value))
writeLines(c(sprintf("ready=%.6f", ready), sprintf("version=glmnet %s, R %s", packageVersion("glmnet"), getRversion()),
             sprintf("fitted=%d", result$fitted), "threads=1"), path("report.txt"))
