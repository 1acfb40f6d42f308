// What module.cpp calls: one function per file of bindings.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

namespace isinglass {
class Rows;
std::unique_ptr<Rows> python_rows(nanobind::object rows);
}  // namespace isinglass

void bind_nodewise(nanobind::module_& m);
void bind_gibbs(nanobind::module_& m);
void bind_rows(nanobind::module_& m);
void bind_words(nanobind::module_& m);
