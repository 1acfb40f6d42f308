// A small pool of threads owned by one Problem: no global state, so that forked workers start clean.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace isinglass {

class Pool {
   public:
    explicit Pool(int size) : size_(size < 1 ? 1 : size) {
        for (int k = 1; k < size_; ++k) threads_.emplace_back([this, k] { work(k); });
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
        {
            std::lock_guard<std::mutex> lock(mutex_);
            task_ = &task;
            count_ = count;
            next_ = 0;
            running_ = size_ - 1;
            ++round_;
        }
        wake_.notify_all();
        drain(0);
        std::unique_lock<std::mutex> lock(mutex_);
        done_.wait(lock, [this] { return running_ == 0; });
    }

   private:
    void drain(int worker) {
        for (int index; (index = next_.fetch_add(1, std::memory_order_relaxed)) < count_;) (*task_)(index, worker);
    }
    void work(int worker) {
        long seen = 0;
        for (;;) {
            {
                std::unique_lock<std::mutex> lock(mutex_);
                wake_.wait(lock, [&] { return stopping_ || round_ != seen; });
                if (stopping_) return;
                seen = round_;
            }
            drain(worker);
            std::lock_guard<std::mutex> lock(mutex_);
            if (--running_ == 0) done_.notify_one();
        }
    }

    const int size_;
    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    const std::function<void(int, int)>* task_ = nullptr;
    std::atomic<int> next_{0};
    int count_ = 0, running_ = 0;
    long round_ = 0;
    bool stopping_ = false;
};

}  // namespace isinglass
