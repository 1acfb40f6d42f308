// Chooses the kernels once, by what the processor can do; ISINGLASS_KERNELS names one for tests.
#include <cstdlib>
#include <cstring>

#include "rows/kernels.hpp"

namespace isinglass {
namespace portable {
extern const Kernels table;
}
#ifdef ISINGLASS_X86
namespace v3 {
extern const Kernels table;
}
namespace v4 {
extern const Kernels table;
}
#endif

#ifdef ISINGLASS_X86
// What x86-64-v3 and v4 add, by the names that GCC and clang both know; processors with these have the rest.
static bool has_v3() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}

static bool has_v4() {
    return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}
#endif

static const Kernels& choose() {
    const char* wanted = std::getenv("ISINGLASS_KERNELS");
    const auto allowed = [wanted](const Kernels& k) { return !wanted || std::strcmp(wanted, k.name) == 0; };
#ifdef ISINGLASS_X86
    __builtin_cpu_init();
    if (has_v4() && allowed(v4::table)) return v4::table;
    if (has_v3() && allowed(v3::table)) return v3::table;
#else
    (void)allowed;
#endif
    return portable::table;
}

const Kernels& kernels() {
    static const Kernels& chosen = choose();
    return chosen;
}

}  // namespace isinglass
