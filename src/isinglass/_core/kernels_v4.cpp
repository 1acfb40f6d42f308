// AVX-512.
#include <utility>

#include "kernels.hpp"

#define ISINGLASS_ISA v4
#define ISINGLASS_NAME "v4"
#include "kernels_impl.hpp"
