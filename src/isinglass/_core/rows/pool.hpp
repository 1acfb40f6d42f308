// A small pool of threads owned by one problem (no global state, so that forked workers start clean), and the question
// whether to go on, asked between two pieces of work. A forked process has no thread of a pool that it inherits: it
// works alone there.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "tuning.hpp"

namespace isinglass {

// Thrown on the calling thread when Python has a signal to handle; its exception is then pending.
struct Interrupted {};

// Asked often, answers quickly: the calling thread looks for signals a few times a second, the others for what it has
// found.
class Poll {
 public:
    // Set by the module: runs Python's signal handlers, true if one of them raised.
    static inline bool (*is_interrupted)() = nullptr;

    void begin() {
        caller_ = std::this_thread::get_id();
        stopped_ = false;
    }
    void operator()() {
        if (stopped_.load(std::memory_order_relaxed)) throw Interrupted();
        if (std::this_thread::get_id() != caller_) return;
        if (!has_signal(last_)) return;
        stopped_ = true;
        throw Interrupted();
    }
    // For code that has no pool.
    static void here() {
        thread_local uint64_t last = 0;
        if (has_signal(last)) throw Interrupted();
    }

 private:
    static bool has_signal(uint64_t& last) {
        const uint64_t now = ticks();
        if (now - last < tuning::POLL_TICKS) return false;
        last = now;
        return is_interrupted && is_interrupted();
    }
#ifdef ISINGLASS_X86
    static uint64_t ticks() { return __builtin_ia32_rdtsc(); }
#else
    static uint64_t ticks() { return 2 * std::chrono::steady_clock::now().time_since_epoch().count(); }
#endif
    std::thread::id caller_ = std::this_thread::get_id();
    uint64_t last_ = ticks();
    std::atomic<bool> stopped_{false};
};

class Pool {
 public:
    Pool(int size, Poll& poll) : size_(std::clamp(size, 1, tuning::MAX_THREADS)), poll_(poll) {
        try {
            for (int k = 1; k < size_; ++k) crew_->threads.emplace_back([this, k] { work(k); });
        } catch (...) {  // no more threads to be had: those that started will do
        }
        size_ = static_cast<int>(crew_->threads.size()) + 1;
    }
    ~Pool() {
        if (is_forked()) {
            [[maybe_unused]] const Crew* left = crew_.release();  // there is no thread to wait for
            return;
        }
        {
            std::lock_guard<std::mutex> lock(crew_->mutex);
            stopping_ = true;
        }
        crew_->wake.notify_all();
        for (auto& thread : crew_->threads) thread.join();
    }
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    int size() const { return size_; }
    Poll& poll() { return poll_; }

    // Calls task(index, worker) for 0 <= index < count. Every index writes only what belongs to it, so that the
    // schedule cannot change a result.
    template <class Task>
    void each(size_t count, Task&& task) {
        if (size_ == 1 || count < 2 || is_forked()) {
            for (size_t index = 0; index < count; ++index) {
                task(static_cast<int>(index), 0);
                poll_();
            }
            return;
        }
        task_ = &task;
        call_ = [](void* what, int index, int worker) {
            (*static_cast<std::remove_reference_t<Task>*>(what))(index, worker);
        };
        count_ = static_cast<int>(count);
        next_ = 0;
        running_ = size_ - 1;
        {
            // A worker going to sleep sees the new round or is woken.
            std::lock_guard<std::mutex> lock(crew_->mutex);
            ++round_;
        }
        if (sleeping_ > 0) crew_->wake.notify_all();
        drain(0);
        // The others are at their last index: yielding costs less than being woken.
        while (running_.load(std::memory_order_acquire) > 0) {
            std::this_thread::yield();
            guarded([this] { poll_(); });
        }
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }

    // ask(item, worker) of every item.
    template <class Items, class Ask>
    auto map(const Items& items, Ask ask) {
        using Answer = decltype(ask(items[0], 0));
        static_assert(!std::is_same_v<Answer, bool>, "bits of one byte cannot be written by several threads");
        std::vector<Answer> answers(items.size());
        each(items.size(), [&](int k, int worker) { answers[k] = ask(items[k], worker); });
        return answers;
    }

 private:
    struct Crew {
        std::vector<std::thread> threads;
        std::mutex mutex;
        std::condition_variable wake;
    };
    bool is_forked() const { return getpid() != owner_; }
    // What throws ends the round for everybody; the caller of each() gets the first exception.
    template <class Action>
    void guarded(Action&& action) {
        try {
            action();
        } catch (...) {
            next_ = count_;
            std::lock_guard<std::mutex> lock(crew_->mutex);
            if (!failure_) failure_ = std::current_exception();
        }
    }
    void drain(int worker) {
        guarded([&] {
            for (int index; (index = next_.fetch_add(1, std::memory_order_relaxed)) < count_; poll_())
                call_(task_, index, worker);
        });
    }
    void work(int worker) {
        for (long seen = 0;;) {
            if (!await(seen)) return;
            seen = round_;
            drain(worker);
            running_.fetch_sub(1, std::memory_order_release);
        }
    }
    // Waits for the next round: awake for a moment, because rounds follow each other closely, then asleep.
    bool await(long seen) {
        for (int turn = 0; turn < tuning::YIELDS_BEFORE_SLEEP; ++turn) {
            if (stopping_) return false;
            if (round_ != seen) return true;
            std::this_thread::yield();
        }
        std::unique_lock<std::mutex> lock(crew_->mutex);
        ++sleeping_;
        crew_->wake.wait(lock, [&] { return stopping_ || round_ != seen; });
        --sleeping_;
        return !stopping_;
    }

    int size_;
    Poll& poll_;
    const pid_t owner_ = getpid();
    std::unique_ptr<Crew> crew_ = std::make_unique<Crew>();
    void* task_ = nullptr;
    void (*call_)(void*, int, int) = nullptr;
    std::atomic<int> next_{0}, running_{0}, sleeping_{0};
    std::atomic<long> round_{0};
    int count_ = 0;
    std::exception_ptr failure_;
    std::atomic<bool> stopping_{false};
};

}  // namespace isinglass
