// The size of what is allocated, for tests; in a file of its own, so that no call is inlined.
#include <atomic>
#include <cstdlib>
#include <new>

std::atomic<size_t> largest_allocation{0};  // of bytes, at once

void* operator new(size_t size, const std::nothrow_t&) noexcept {
    if (size > largest_allocation) largest_allocation = size;
    return std::malloc(size > 0 ? size : 1);
}
void* operator new(size_t size) {
    if (void* memory = operator new(size, std::nothrow)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
    std::free(memory);
}
