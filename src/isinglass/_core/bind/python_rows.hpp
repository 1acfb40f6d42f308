// Rows written in Python: each call of the seam is a method of an object. One call is one batch: a list of
// nodes, and where something belongs to each of them (columns, coefficients, answers), one flat array in
// which that of node k lies from begin[k] to begin[k + 1]. solve/seam.py documents the methods.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "rows/rows.hpp"

namespace isinglass {

std::unique_ptr<Rows> python_rows(nanobind::object rows);

}  // namespace isinglass
