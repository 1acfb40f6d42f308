// AVX2 and FMA.
#include <utility>

#include "rows/kernels.hpp"

#define ISINGLASS_ISA v3
#define ISINGLASS_NAME "v3"
#include "rows/kernels_impl.hpp"
