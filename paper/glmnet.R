# Serves glmnet to paper/glmnet.py: reads one folder per line from standard input, does the job described there,
# writes the answer beside it and says so. The process stays, so that starting R is never part of a measured time.
#   job.txt   key=value: do = load | fit, n, p; mode = stacked | nodewise, thresh, maxit, hessian
suppressMessages({library(Matrix); library(glmnet)})
options(warn = -1)
table <- NULL; design <- NULL; response <- NULL

read_job <- function(folder) {
  parts <- strsplit(readLines(file.path(folder, "job.txt")), "=")
  setNames(lapply(parts, `[`, 2), sapply(parts, `[`, 1))
}
read <- function(folder, name, what, size) {
  file <- file.path(folder, name); readBin(file, what, n = file.size(file) / size, size = size)
}

load_table <- function(folder, job) {
  n <- as.integer(job$n); p <- as.integer(job$p)
  table <<- matrix(as.numeric(read(folder, "X.bin", "integer", 1)), n, p)
  design <<- response <<- NULL
  if (file.exists(file.path(folder, "indptr.bin"))) {
    indices <- read(folder, "indices.bin", "integer", 4)
    design <<- new("dgCMatrix", i = indices, p = read(folder, "indptr.bin", "integer", 4), x = rep(1, length(indices)),
                   Dim = c(n * p, as.integer(p * (p + 1) / 2)))
    response <<- as.vector(table)
  }
}

# One regression: list of fits, seconds of each; coefficients as (fit, column, alpha, value) with column 0 the intercept.
run_fits <- function(folder, job) {
  alphas <- read(folder, "alphas.bin", "double", 8); p <- ncol(table)
  glmnet.control(factory = TRUE)
  glmnet.control(fdev = 0, devmax = 1)  # else glmnet may end a list of penalties early
  settings <- list(family = "binomial", standardize = FALSE, thresh = as.numeric(job$thresh),
                   maxit = as.numeric(job$maxit), type.logistic = job$hessian)
  stacked <- function(k) do.call(glmnet, c(list(design, response, intercept = FALSE, lambda = alphas * (p - 1) / (p * (p + 1)),
                                                penalty.factor = rep(c(1, 0), c(p * (p - 1) / 2, p))), settings))
  node <- function(k) do.call(glmnet, c(list(table[, -k, drop = FALSE], table[, k], lambda = alphas / 2), settings))
  # glmnet refuses a node with fewer than two rows of one kind; the other nodes are fitted all the same.
  refused <- list(jerr = 9999L, npasses = 0L, lambda = numeric(0))
  fit <- if (job$mode == "stacked") stacked else function(k) tryCatch(node(k), error = function(e) refused)
  fits <- list(); times <- c()
  for (k in seq_len(if (job$mode == "stacked") 1 else p)) {
    started <- Sys.time(); fits[[k]] <- fit(k); times[k] <- as.numeric(Sys.time() - started, units = "secs")
  }
  list(fits = fits, times = times, n_alphas = length(alphas))
}

write_answer <- function(folder, found) {
  write <- function(name, value) writeBin(value, file.path(folder, name))
  parts <- lapply(seq_along(found$fits), function(k) {
    fit <- found$fits[[k]]
    if (is.null(fit$beta) || ncol(fit$beta) == 0) return(NULL)
    beta <- summary(as(fit$beta, "CsparseMatrix")); m <- ncol(fit$beta)
    data.frame(fit = k - 1, column = c(beta$i, rep(0, m)), alpha = c(beta$j, seq_len(m)) - 1, value = c(beta$x, fit$a0))
  })
  all <- do.call(rbind, parts)
  for (name in c("fit", "column", "alpha")) write(paste0(name, ".bin"), as.integer(all[[name]]))
  write("value.bin", as.double(all$value))
  write("times.bin", as.double(found$times))
  get <- function(key, otherwise) as.integer(sapply(found$fits, function(f) if (is.null(f[[key]])) otherwise else f[[key]]))
  write("passes.bin", get("npasses", 0L)); write("jerr.bin", get("jerr", 0L))
  write("solved.bin", as.integer(sapply(found$fits, function(f) length(f$lambda))))
}

# Small fits of both kinds before the first that is measured: R loads and compiles what it needs when it is first used.
warm_up <- function() {
  x <- outer(0:63, 0:3, function(row, bit) (row %/% 2^bit) %% 2); y <- rep(c(0, 1, 1, 0, 1), length.out = 64)
  for (kind in list(x, as(x, "CsparseMatrix"))) for (k in 1:3) glmnet(kind, y, family = "binomial", lambda = 0.01)
}

invisible(warm_up())
input <- file("stdin", open = "r")
cat(sprintf("ready R=%s glmnet=%s\n", getRversion(), packageVersion("glmnet"))); flush(stdout())
while (length(folder <- readLines(input, n = 1)) == 1) {
  verdict <- tryCatch({
    job <- read_job(folder)
    if (job$do == "load") load_table(folder, job) else write_answer(folder, run_fits(folder, job))
    "done"
  }, error = function(e) paste("error", gsub("[\r\n]+", " ", conditionMessage(e))))
  cat(verdict, "\n", sep = ""); flush(stdout())
}
