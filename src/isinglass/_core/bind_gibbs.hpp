// Declared apart, so that module.cpp need not know the sampler.
#pragma once

#include <nanobind/nanobind.h>

void bind_gibbs(nanobind::module_& m);
