// Lifetimes: the tasks during which the memory of each tensor of a program is in use.
#pragma once

#include <cstdint>
#include <vector>

#include "program/program.hpp"

namespace vellum {

// Returns whether the memory plan contains the tensor: intermediates and workspace, but not weights, inputs
// and outputs.
bool has_planned_memory(const VirtualTensor& tensor);

// The first and last task, both inclusive, that use the memory of a tensor. A tensor without a lifetime has
// first > last.
struct Lifetime {
  int64_t first = 0, last = -1;
  bool planned() const { return first <= last; }
};
// Returns the lifetime of each tensor whose root satisfies `counts`. Aliases have the lifetime of their root.
// Other tensors, and tensors that no task uses, have no lifetime.
std::vector<Lifetime> lifetimes(const Program& program,
                                bool (*counts)(const VirtualTensor&) = has_planned_memory);

// Calls visit(tensor, access) for every tensor that a task reads or writes.
template <typename Visit>
void visit_accesses(const Task& task, Visit visit) {
  if (task.dispatch)
    for (const Binding& binding : task.dispatch->bindings) visit(binding.tensor, binding.access);
  if (task.host) {
    for (const Port& input : task.host->inputs)
      if (input.tensor != kNoTensor) visit(input.tensor, Access::read);
    for (TensorId id : task.host->outputs) visit(id, Access::write);
  }
}

}  // namespace vellum
