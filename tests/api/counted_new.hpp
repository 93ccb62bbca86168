// The program's operator new, which counts its calls and can fail. It is defined in counted_new.cpp and so
// holds for the whole program that is linked with it.
#pragma once

#include <cstdint>

namespace vellum::test {

// Counts the calls of operator new on this thread (drivers and their compilers have threads of their own) as
// long as it exists, and fails the call of this number, from 1; 0: none.
class CountedNew {
 public:
  explicit CountedNew(uint64_t failing_call = 0);
  ~CountedNew();
  CountedNew(const CountedNew&) = delete;
  CountedNew& operator=(const CountedNew&) = delete;
  uint64_t calls() const;
  bool failed() const;
};

// Blocks of operator new that nobody has deleted, of all threads.
int64_t live_blocks();

}  // namespace vellum::test
