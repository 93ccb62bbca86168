#include "plan/lifetimes.hpp"

namespace vellum {
namespace {

void extend(Lifetime& lifetime, int64_t task) {
  if (!lifetime.planned()) lifetime.first = task;
  lifetime.last = task;
}

}  // namespace

bool has_planned_memory(const VirtualTensor& tensor) {
  return tensor.role == TensorRole::intermediate || tensor.role == TensorRole::workspace;
}

std::vector<Lifetime> lifetimes(const Program& program, bool (*counts)(const VirtualTensor&)) {
  std::vector<Lifetime> of_root(program.tensors.size());
  for (size_t t = 0; t < program.tasks.size(); ++t)
    visit_accesses(program.tasks[t], [&](TensorId id, Access) {
      const TensorId root = program.root(id);
      if (counts(program.tensors[root])) extend(of_root[root], static_cast<int64_t>(t));
    });
  std::vector<Lifetime> all(program.tensors.size());
  for (TensorId id = 0; id < all.size(); ++id) all[id] = of_root[program.root(id)];
  return all;
}

}  // namespace vellum
