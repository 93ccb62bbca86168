#include "plan/in_place.hpp"

#include <algorithm>

#include "plan/lifetimes.hpp"

namespace vellum {
namespace {

// Returns whether every position is at the same address in both.
bool texels_are_identical(const TensorDesc& a, const TensorDesc& b) {
  if (a.storage != b.storage || a.layout != b.layout || a.rows_first != b.rows_first ||
      size_of(a.element) != size_of(b.element))
    return false;
  if (a.storage == Storage::buffer) return a.byte_size() == b.byte_size();
  const bool folded = a.fold > 0 || b.fold > 0;  // where slices lie depends on their size
  return a.element == b.element && a.extent() == b.extent() &&
         (!folded || (a.fold == b.fold && nchw(a.shape) == nchw(b.shape)));
}

// Returns whether the binding covers its whole root, so that no other tensor shares that memory.
bool is_whole(const Program& program, TensorId id) {
  const TensorDesc &desc = program.tensors[id].desc, &root = program.tensors[program.root(id)].desc;
  return desc.storage == root.storage && desc.byte_size() == root.byte_size();
}

bool reads_only_where_it_writes(const Program& program, const Dispatch& dispatch, TensorId root) {
  return std::all_of(dispatch.bindings.begin(), dispatch.bindings.end(), [&](const Binding& binding) {
    if (program.root(binding.tensor) != root) return true;
    // A sampled read may use a cache that does not see stores.
    return binding.access == Access::read && binding.same_position && !binding.sampled &&
           is_whole(program, binding.tensor);
  });
}

}  // namespace

std::vector<InPlacePair> in_place_pairs(const Program& program, const Task& task) {
  std::vector<InPlacePair> pairs;
  if (!task.dispatch) return pairs;
  for (const Binding& output : task.dispatch->bindings) {
    if (output.access != Access::write || program.root(output.tensor) != output.tensor) continue;
    const VirtualTensor& to = program.tensors[output.tensor];
    if (!has_planned_memory(to)) continue;
    for (const Binding& input : task.dispatch->bindings) {
      const TensorId from = program.root(input.tensor);
      if (input.access != Access::read || from == output.tensor || !has_planned_memory(program.tensors[from]))
        continue;
      if (texels_are_identical(program.tensors[input.tensor].desc, to.desc) &&
          reads_only_where_it_writes(program, *task.dispatch, from))
        pairs.push_back({from, output.tensor});
    }
  }
  return pairs;
}

void alias_in_place(Program& program) {
  disable_in_place(program);
  const std::vector<Lifetime> lives = lifetimes(program);
  std::vector<bool> taken(program.tensors.size(), false);
  for (size_t t = 0; t < program.tasks.size(); ++t) {
    const auto task = static_cast<int64_t>(t);
    for (const InPlacePair& pair : in_place_pairs(program, program.tasks[t])) {
      VirtualTensor& to = program.tensors[pair.to];
      if (taken[pair.from] || to.in_place_of != kNoTensor) continue;
      if (lives[pair.from].last != task || lives[pair.to].first != task) continue;
      to.in_place_of = pair.from;
      taken[pair.from] = true;
    }
  }
}

void disable_in_place(Program& program) {
  for (VirtualTensor& tensor : program.tensors) tensor.in_place_of = kNoTensor;
}

}  // namespace vellum
