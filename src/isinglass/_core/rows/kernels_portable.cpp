// Base instruction set of the compiler's target: the fallback everywhere.
#include <utility>

#include "rows/kernels.hpp"

#define ISINGLASS_ISA portable
#define ISINGLASS_NAME "portable"
#include "rows/kernels_impl.hpp"
