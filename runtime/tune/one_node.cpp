#include "tune/one_node.hpp"

#include <chrono>

#include "exec/input_integers.hpp"

namespace vellum {

std::vector<StorageChoice> storages_of(const OneNode& one,
                                       const std::vector<StorageChoice>& network_storages) {
  std::vector<StorageChoice> storages;
  if (network_storages.empty()) return storages;
  for (const ValueId id : one.values) storages.push_back(network_storages[id]);
  return storages;
}

void set_some_inputs(Executor& executor) {
  const std::vector<Port>& ports = executor.program().inputs;
  uint64_t state = 1;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].constant) continue;
    HostTensor tensor = zeros_of(ports[i]);
    if (tensor.dtype() == DType::f32)
      for (float& value : tensor.mutable_as<float>()) {  // Knuth's MMIX linear congruential generator
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        value = static_cast<float>(state >> 40) * 0x1p-23f - 1.0f;
      }
    executor.set_input(i, tensor);
  }
}

bool is_kernel(const Task& task) { return task.dispatch && task.dispatch->op != "Convert"; }

double run_and_time(Executor& executor, bool timestamps) {
  const auto begin = std::chrono::steady_clock::now();
  executor.run();
  if (!timestamps)
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  const std::vector<double> tasks = executor.task_milliseconds();
  double sum = 0;
  for (size_t i = 0; i < tasks.size(); ++i)
    if (is_kernel(executor.program().tasks[i])) sum += tasks[i];
  return sum;
}

}  // namespace vellum
