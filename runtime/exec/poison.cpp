#include "exec/poison.hpp"

#include <algorithm>

#include "plan/lifetimes.hpp"
#include "vulkan/buffer.hpp"

namespace vellum {
namespace {

bool is_written_by_tasks(const VirtualTensor& tensor) {
  return has_planned_memory(tensor) || tensor.role == TensorRole::output;
}

}  // namespace

Poison::Poison(const CompiledModel& model) : begun_(model.program.tasks.size()) {
  const Program& program = model.program;
  const std::vector<Lifetime> lives = lifetimes(program, is_written_by_tasks);
  for (size_t t = 0; t < begun_.size(); ++t) {
    if (program.tasks[t].host) continue;
    std::vector<TensorId> roots;
    visit_accesses(program.tasks[t], [&](TensorId id, Access access) {
      const TensorId root = program.root(id);
      // The content of an output that aliases an input in place is the input's.
      if (access == Access::read || lives[root].first != static_cast<int64_t>(t) ||
          program.tensors[root].in_place_of != kNoTensor || std::ranges::count(roots, root) > 0)
        return;
      roots.push_back(root);
    });
    for (const TensorId root : roots) {
      const bool image = program.tensors[root].desc.storage != Storage::buffer;
      begun_[t].push_back({root, image ? model.plan.object_of[root] : kNoObject});
    }
  }
}

void Poison::record(gpu::CommandBuffer& commands, const DeviceTensors& tensors, size_t task) const {
  if (begun_[task].empty()) return;
  for (const Begun& begun : begun_[task]) {
    if (begun.image != kNoObject) {
      commands.fill_with_ones(tensors.object_image(begun.image));
      continue;
    }
    const gpu::Buffer& buffer = tensors.buffer(begun.root);
    constexpr uint64_t kWord = 4;
    commands.fill(buffer, 0, buffer.size() / kWord * kWord, UINT32_MAX);
  }
  commands.barrier(gpu::kTransferWrite, gpu::kComputeReadWrite | gpu::kTransferRead | gpu::kTransferWrite);
}

}  // namespace vellum
