#include "plan/fold_textures.hpp"

#include <algorithm>

#include "plan/lifetimes.hpp"
#include "program/divide.hpp"

namespace vellum {
namespace {

// Not matrices of tokens and vectors of channels, whose slices have one row of one texel each: of equal
// widths, they share objects as they are. Kernels read their slices by number (attention, scales of
// convolutions), which takes more instructions where slices are in columns: 2.5 times as many in the loop of
// attention on Adreno.
bool may_fold(const VirtualTensor& tensor) {
  const TensorDesc& desc = tensor.desc;
  if (!has_planned_memory(tensor) || desc.storage != Storage::image2d || desc.fold > 0) return false;
  const auto [n, c, h, w] = nchw(desc.shape);
  return slices(c) > 1 && h * w > 1;
}

void set_fold(Program& program, const std::vector<TensorId>& tensors, uint32_t fold) {
  std::vector<bool> changed(program.tensors.size(), false);
  for (const TensorId id : tensors) {
    program.tensors[id].desc.fold = fold;
    changed[id] = true;
  }
  for (Task& task : program.tasks) {
    if (!task.dispatch) continue;
    for (const Binding& binding : task.dispatch->bindings) {
      if (!changed[binding.tensor]) continue;
      for (auto& [macro, value] : task.dispatch->defines)
        if (macro == "STORAGE_" + binding.name)
          value = storage_macro(program.tensors[binding.tensor].desc, binding);
    }
  }
}

}  // namespace

std::vector<TensorId> fold_textures(Program& program) {
  std::vector<TensorId> tensors;
  for (TensorId id = 0; id < program.tensors.size(); ++id)
    if (may_fold(program.tensors[id])) tensors.push_back(id);
  set_fold(program, tensors, 1);
  return tensors;
}

void unfold_textures(Program& program, const std::vector<TensorId>& folded) { set_fold(program, folded, 0); }

}  // namespace vellum
