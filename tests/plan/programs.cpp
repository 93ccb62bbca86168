#include "plan/programs.hpp"

namespace vellum::test {

TensorId ProgramMaker::tensor(std::string name, TensorDesc desc, TensorRole role) {
  program.tensors.push_back({std::move(name), std::move(desc), role, kNoTensor, {}});
  return static_cast<TensorId>(program.tensors.size() - 1);
}

TensorId ProgramMaker::alias(std::string name, TensorId of) {
  program.tensors.push_back({std::move(name), program.tensors[of].desc, program.tensors[of].role, of, {}});
  return static_cast<TensorId>(program.tensors.size() - 1);
}

void ProgramMaker::task(std::vector<Binding> bindings) {
  Dispatch dispatch;
  dispatch.bindings = std::move(bindings);
  program.tasks.push_back({std::move(dispatch), std::nullopt});
}

void ProgramMaker::host_task(const std::vector<TensorId>& inputs, std::vector<TensorId> outputs) {
  HostPartition partition;
  for (const TensorId id : inputs) partition.inputs.push_back({"", {}, id, std::nullopt});
  partition.outputs = std::move(outputs);
  program.tasks.push_back({std::nullopt, std::move(partition)});
}

TensorDesc linear(int64_t elements) {
  return {{elements}, ElementType::f32, Storage::buffer, Layout::linear};
}

TensorDesc image(int64_t channels, int64_t height, int64_t width) {
  return {{1, channels, height, width}, ElementType::f32, Storage::image2d, Layout::channels4};
}

uint64_t planned(const Program& program, MemoryMode mode) {
  return plan_memory(program, {.mode = mode}, tight_rules(kAlignment)).planned_bytes;
}

}  // namespace vellum::test
