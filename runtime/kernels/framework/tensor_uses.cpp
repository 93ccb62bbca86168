#include "kernels/framework/tensor_uses.hpp"

#include <algorithm>
#include <iterator>

namespace vellum {

TensorUses::TensorUses(const Program& program) : program_(program), uses_(program.tensors.size()) {
  for (size_t t = 0; t < program.tasks.size(); ++t) add(t);
  for (const VirtualTensor& tensor : program.tensors)
    if (tensor.alias_of != kNoTensor) uses_[tensor.alias_of].is_viewed = true;
  for (const std::vector<Port>* ports : {&program.inputs, &program.outputs})
    for (const Port& port : *ports)
      if (port.tensor != kNoTensor)
        uses_[port.tensor].is_viewed = uses_[program.root(port.tensor)].is_port = true;
}

void TensorUses::add(size_t task) {
  const Task& added = program_.tasks[task];
  uses_.resize(program_.tensors.size());
  if (added.dispatch)
    for (const Binding& binding : added.dispatch->bindings)
      add(task, binding.tensor, binding.access != Access::read);
  if (!added.host) return;
  for (const Port& port : added.host->inputs) add(task, port.tensor, false);
  for (const TensorId output : added.host->outputs) add(task, output, true);
}

void TensorUses::remove(size_t task) {
  for (const TensorId root : roots_of(task, true))
    uses_[root].tasks.erase(task), uses_[root].writers.erase(task);
}

std::set<TensorId> TensorUses::roots_of(size_t task, bool also_read) const {
  std::set<TensorId> roots;
  const Task& of = program_.tasks[task];
  const auto insert = [&](TensorId id) {
    if (id != kNoTensor) roots.insert(program_.root(id));
  };
  if (of.dispatch)
    for (const Binding& binding : of.dispatch->bindings)
      if (also_read || binding.access != Access::read) insert(binding.tensor);
  if (!of.host) return roots;
  for (const TensorId output : of.host->outputs) insert(output);
  if (also_read)
    for (const Port& port : of.host->inputs) insert(port.tensor);
  return roots;
}

std::vector<size_t> TensorUses::readers_of(TensorId root) const {
  std::vector<size_t> readers;
  std::ranges::set_difference(uses_[root].tasks, uses_[root].writers, std::back_inserter(readers));
  return readers;
}

void TensorUses::add(size_t task, TensorId id, bool writes) {
  if (id == kNoTensor) return;
  Uses& uses = uses_[program_.root(id)];
  uses.tasks.insert(task);
  if (writes) uses.writers.insert(task);
}

}  // namespace vellum
