// When the memory of each tensor of a program is in use, in tasks.
#pragma once

#include <cstdint>
#include <vector>

#include "program/program.hpp"

namespace vellum {

// Intermediates and workspace: neither weights nor inputs and outputs.
bool has_planned_memory(const VirtualTensor& tensor);

// First and last task, both inclusive, of the memory of each tensor whose root counts. Aliases share the life
// of their root; others, and tensors that no task touches, have no lifetime (first > last).
struct Lifetime {
  int64_t first = 0, last = -1;
  bool planned() const { return first <= last; }
};
std::vector<Lifetime> lifetimes(const Program& program,
                                bool (*counts)(const VirtualTensor&) = has_planned_memory);

// Calls visit(tensor, access) for all that a task touches.
template <typename Visit>
void visit_accesses(const Task& task, Visit visit) {
  if (task.dispatch)
    for (const Binding& binding : task.dispatch->bindings) visit(binding.tensor, binding.access);
  if (task.host) {
    for (TensorId id : task.host->inputs)
      if (id != kNoTensor) visit(id, Access::read);
    for (TensorId id : task.host->outputs) visit(id, Access::write);
  }
}

}  // namespace vellum
