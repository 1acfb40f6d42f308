// Memory for the arrays that kernels read.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace isinglass {

struct FreeMemory {
    size_t mapped = 0;  // bytes that were not taken from malloc
    void operator()(void* start) const;
};
using Memory = std::unique_ptr<void, FreeMemory>;

constexpr size_t ALIGNMENT = 64;  // bytes

// Zeros; room for `bytes` from the aligned `start`.
struct Taken {
    Memory memory;
    void* start;
};
Taken take_memory(size_t bytes);

// An aligned array of plain numbers, zero at the start.
template <class T>
class Buffer {
 public:
    explicit Buffer(size_t size = 0) { resize(size); }
    void resize(size_t size) {  // forgets the contents; empty if there is no memory for them
        size_ = 0;
        data_ = nullptr;
        memory_.reset();
        if (size == 0) return;
        Taken taken = take_memory(size * sizeof(T));
        memory_ = std::move(taken.memory);
        data_ = static_cast<T*>(taken.start);
        size_ = size;
        keep_to(size);
    }
    // Nothing beyond the first `count` numbers is used until this is called again; the address sanitizer sees to it.
    void keep_to([[maybe_unused]] size_t count) {
#ifdef __SANITIZE_ADDRESS__
        if (size_ == 0) return;
        const char* end = static_cast<char*>(memory_.get()) + size_ * sizeof(T) + ALIGNMENT;
        __asan_unpoison_memory_region(data_, end - reinterpret_cast<char*>(data_));
        __asan_poison_memory_region(data_ + count, end - reinterpret_cast<char*>(data_ + count));
#endif
    }
    size_t size() const { return size_; }
    T* data() { return data_; }
    const T* data() const { return data_; }
    T& operator[](size_t i) { return data_[i]; }
    const T& operator[](size_t i) const { return data_[i]; }

 private:
    Memory memory_;
    T* data_ = nullptr;
    size_t size_ = 0;
};

}  // namespace isinglass
