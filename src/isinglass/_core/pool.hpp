// A small pool of threads owned by one Problem: no global state, so that forked workers start clean.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace isinglass {

class Pool {
 public:
    explicit Pool(int size) : size_(size < 1 ? 1 : size) {
        try {
            for (int k = 1; k < size_; ++k) threads_.emplace_back([this, k] { work(k); });
        } catch (...) {  // no more threads to be had: those that started will do
        }
        size_ = static_cast<int>(threads_.size()) + 1;
    }
    ~Pool() {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            stopping_ = true;
        }
        wake_.notify_all();
        for (auto& thread : threads_) thread.join();
    }
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    int size() const { return size_; }

    // Calls task(index, worker) for 0 <= index < count. Every index writes only what belongs to it, so that
    // the schedule cannot change a result.
    void each(int count, const std::function<void(int, int)>& task) {
        if (size_ == 1 || count < 2) {
            for (int index = 0; index < count; ++index) task(index, 0);
            return;
        }
        task_ = &task;
        count_ = count;
        next_ = 0;
        running_ = size_ - 1;
        {
            std::lock_guard<std::mutex> lock(
                mutex_);  // a worker going to sleep sees the new round or is woken
            ++round_;
        }
        if (sleeping_ > 0) wake_.notify_all();
        drain(0);
        // The others are at their last index: yielding costs less than being woken.
        while (running_.load(std::memory_order_acquire) > 0) std::this_thread::yield();
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }

 private:
    // A task that throws ends the round for everybody; the caller of each() gets the exception.
    void drain(int worker) {
        try {
            for (int index; (index = next_.fetch_add(1, std::memory_order_relaxed)) < count_;)
                (*task_)(index, worker);
        } catch (...) {
            next_ = count_;
            std::lock_guard<std::mutex> lock(mutex_);
            if (!failure_) failure_ = std::current_exception();
        }
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
        for (int turn = 0; turn < PATIENCE; ++turn) {
            if (stopping_) return false;
            if (round_ != seen) return true;
            std::this_thread::yield();
        }
        std::unique_lock<std::mutex> lock(mutex_);
        ++sleeping_;
        wake_.wait(lock, [&] { return stopping_ || round_ != seen; });
        --sleeping_;
        return !stopping_;
    }

    static constexpr int PATIENCE = 20000;  // a few milliseconds: longer than the serial part of a step
    int size_;
    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable wake_;
    const std::function<void(int, int)>* task_ = nullptr;
    std::atomic<int> next_{0}, running_{0}, sleeping_{0};
    std::atomic<long> round_{0};
    int count_ = 0;
    std::exception_ptr failure_;
    std::atomic<bool> stopping_{false};
};

}  // namespace isinglass
