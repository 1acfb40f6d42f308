#include "rows/buffer.hpp"

#include <cstdlib>
#include <new>

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
#include <sys/mman.h>
#define ISINGLASS_LARGE_PAGES
#endif

#include "tuning.hpp"

namespace isinglass {

void FreeMemory::operator()(void* start) const {
#ifdef ISINGLASS_LARGE_PAGES
    if (mapped > 0) {
        munmap(start, mapped);
        return;
    }
#endif
    std::free(start);
}

Taken take_memory(size_t bytes) {
#ifdef ISINGLASS_LARGE_PAGES
    // Of a large array, only the pages that are written to take memory. They are large if the system has such: a
    // processor remembers where a few thousand pages are, and products read more small ones than that.
    if (bytes >= tuning::rows::LARGE_PAGE) {
        size_t room = bytes + tuning::rows::LARGE_PAGE;
        void* start = mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (start == MAP_FAILED) throw std::bad_alloc();
        Memory memory(start, FreeMemory{room});
        std::align(tuning::rows::LARGE_PAGE, bytes, start, room);
        madvise(start, bytes, MADV_HUGEPAGE);
        return {std::move(memory), start};
    }
#endif
    size_t room = bytes + ALIGNMENT;
    Memory memory(std::calloc(room, 1), FreeMemory{});
    if (!memory) throw std::bad_alloc();
    void* start = memory.get();
    std::align(ALIGNMENT, bytes, start, room);
    return {std::move(memory), start};
}

}  // namespace isinglass
