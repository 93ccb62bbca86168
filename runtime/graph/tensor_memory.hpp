// Limits the memory of the tensors that a computation on the host allocates.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace vellum {

// The bytes of the tensors that were allocated under one limit and still exist.
struct TensorMemory {
  std::atomic<uint64_t> used{0};
  uint64_t most = 0;

  // Throws Error(unsupported) if there is no room for `bytes` more.
  void take(uint64_t bytes);
};

// Limits the tensors that this thread allocates while the object exists; other threads are not limited.
// Tensors may outlive it.
class TensorMemoryLimit {
 public:
  explicit TensorMemoryLimit(uint64_t most_bytes);
  TensorMemoryLimit(const TensorMemoryLimit&) = delete;
  TensorMemoryLimit& operator=(const TensorMemoryLimit&) = delete;
  ~TensorMemoryLimit();

  // While such an object exists, this thread allocates tensors without a limit.
  class Pause;

 private:
  std::shared_ptr<TensorMemory> before_;
};

class TensorMemoryLimit::Pause {
 public:
  Pause();
  Pause(const Pause&) = delete;
  Pause& operator=(const Pause&) = delete;
  ~Pause();

 private:
  std::shared_ptr<TensorMemory> before_;
};

// Returns what counts the tensors of this thread; null if it has no limit.
std::shared_ptr<TensorMemory> limited_tensor_memory();

}  // namespace vellum
