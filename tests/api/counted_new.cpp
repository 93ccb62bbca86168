#include "counted_new.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<int64_t> live = 0;
thread_local bool is_counted = false;
thread_local uint64_t calls_here = 0, failing = 0;

void* allocate(size_t bytes) {
  if (is_counted && ++calls_here == failing) throw std::bad_alloc();
  if (void* memory = std::malloc(bytes ? bytes : 1)) {
    ++live;
    return memory;
  }
  throw std::bad_alloc();
}

void release(void* memory) {
  if (memory != nullptr) --live;
  std::free(memory);
}

}  // namespace

void* operator new(size_t bytes) { return allocate(bytes); }
void* operator new[](size_t bytes) { return allocate(bytes); }
// A sanitizer's own would not fit the operator delete below.
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return allocate(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, size_t) noexcept { release(memory); }
void operator delete[](void* memory, size_t) noexcept { release(memory); }

namespace vellum::test {

CountedNew::CountedNew(uint64_t failing_call) {
  calls_here = 0;
  failing = failing_call;
  is_counted = true;
}
CountedNew::~CountedNew() { is_counted = false; }
uint64_t CountedNew::calls() const { return calls_here; }
bool CountedNew::failed() const { return failing != 0 && calls_here >= failing; }

int64_t live_blocks() { return live; }

}  // namespace vellum::test
