// AVX2 and FMA.
#include <utility>

#include "kernels.hpp"

#define ISINGLASS_ISA v3
#define ISINGLASS_NAME "v3"
#include "kernels_impl.hpp"
