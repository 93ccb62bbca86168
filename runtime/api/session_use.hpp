// Detects two threads that call functions of one session at the same time, where the interface allows one.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "vellum/error.hpp"

namespace vellum {

// Counts the threads that are inside functions of a session: any number in submit() and try_submit(), or one
// in the other functions, which may call each other.
class SessionUses {
 public:
  // The constructor throws Error(invalid_argument) while another thread is inside the session.
  class Exclusive {
   public:
    explicit Exclusive(SessionUses& uses) : uses_(uses) {
      int32_t none = 0;
      is_outermost_ = uses.count_.compare_exchange_strong(none, kExclusive);
      if (is_outermost_)
        uses.owner_ = std::this_thread::get_id();
      else if (none != kExclusive || uses.owner_ != std::this_thread::get_id())
        refuse();
    }
    ~Exclusive() {
      if (!is_outermost_) return;
      uses_.owner_ = std::thread::id();
      uses_.count_ = 0;
    }
    Exclusive(const Exclusive&) = delete;
    Exclusive& operator=(const Exclusive&) = delete;

   private:
    SessionUses& uses_;
    bool is_outermost_ = false;
  };

  // The constructor throws Error(invalid_argument) during an exclusive use.
  class Shared {
   public:
    explicit Shared(SessionUses& uses) : uses_(uses) {
      int32_t count = uses.count_;
      do
        if (count == kExclusive) refuse();
      while (!uses.count_.compare_exchange_weak(count, count + 1));
    }
    ~Shared() { --uses_.count_; }
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;

   private:
    SessionUses& uses_;
  };

 private:
  static constexpr int32_t kExclusive = -1;

  [[noreturn]] static void refuse() {
    throw Error(
        ErrorCode::invalid_argument,
        "the session is in use by another thread: beside other calls, only submit() and try_submit() may "
        "be called, beside each other");
  }

  std::atomic<int32_t> count_ = 0;
  std::atomic<std::thread::id> owner_ = {};
};

}  // namespace vellum
