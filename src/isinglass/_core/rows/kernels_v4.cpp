// AVX-512.
#include <utility>

#include "rows/kernels.hpp"

#define ISINGLASS_ISA v4
#define ISINGLASS_NAME "v4"
#include "rows/kernels_impl.hpp"
