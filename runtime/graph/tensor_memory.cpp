#include "graph/tensor_memory.hpp"

#include <string>
#include <utility>

#include "vellum/error.hpp"

namespace vellum {
namespace {

thread_local std::shared_ptr<TensorMemory> memory_of_thread;

}  // namespace

void TensorMemory::take(uint64_t bytes) {
  const uint64_t before = used.fetch_add(bytes);
  if (bytes <= most && before <= most - bytes) return;
  used.fetch_sub(bytes);
  throw Error(ErrorCode::unsupported, "a tensor of " + std::to_string(bytes) +
                                          " bytes, whose shape only a run determines, takes more "
                                          "than is left of the limit for such tensors (" +
                                          std::to_string(most) + " bytes, which grow with folded_bytes)");
}

TensorMemoryLimit::TensorMemoryLimit(uint64_t most_bytes) {
  auto memory = std::make_shared<TensorMemory>();
  memory->most = most_bytes;
  before_ = std::exchange(memory_of_thread, std::move(memory));
}

TensorMemoryLimit::~TensorMemoryLimit() { memory_of_thread = std::move(before_); }

TensorMemoryLimit::Pause::Pause() : before_(std::exchange(memory_of_thread, nullptr)) {}

TensorMemoryLimit::Pause::~Pause() { memory_of_thread = std::move(before_); }

std::shared_ptr<TensorMemory> limited_tensor_memory() { return memory_of_thread; }

}  // namespace vellum
