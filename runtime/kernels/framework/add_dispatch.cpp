// Adds dispatches to a Program.
#include <algorithm>
#include <utility>

#include "kernels/framework/elements.hpp"
#include "kernels/framework/finish_dispatch.hpp"
#include "kernels/framework/grid.hpp"
#include "kernels/framework/program_builder.hpp"
#include "program/packing.hpp"
#include "shaders/movement/copy_linear.h"

namespace vellum {

std::pair<TensorId, int64_t> ProgramBuilder::counters(int64_t count) {
  constexpr int64_t kUsual = 64;
  const int64_t size = (std::max(count, kUsual) + 3) / 4 * 4;
  auto& [tensor, taken] = counters_;
  if (tensor == kNoTensor || taken + count > program_.tensors[tensor].desc.shape[0]) {
    const TensorDesc desc{{size}, ElementType::i32, Storage::buffer, Layout::linear};
    const std::vector<int64_t> values(static_cast<size_t>(size), 0);
    const TensorId zeros = add_tensor(
        {"zeros", desc, TensorRole::weight, kNoTensor, [desc, values] { return pack_ints(desc, values); }});
    tensor = add_tensor({"counters", desc, TensorRole::intermediate, kNoTensor, {}});
    taken = 0;
    add_dispatch(
        make_dispatch("copy_linear", grid_1d(caps_, size / 4), {reads("x", zeros), writes("y", tensor)},
                      CopyLinearParameters{.count4 = size / 4}),
        nullptr);
  }
  taken += count;
  return {tensor, taken - count};
}

void ProgramBuilder::add_dispatch(Dispatch dispatch, const Node* node) {
  if (!node) node = current_;
  if (dispatch.name.empty()) dispatch.name = node ? node->name : "output";
  if (dispatch.op.empty()) dispatch.op = node ? std::string(node->op->type()) : "Convert";
  if (dispatch.op != "Convert")
    for (const NodeChoice& choice : node_choices_)
      dispatch.candidate += (dispatch.candidate.empty() ? "" : ", ") + choice.taken.text();
  finish_dispatch(program_, caps_, dispatch);
  program_.tasks.push_back({std::move(dispatch), std::nullopt});
}

std::vector<Dispatch> ProgramBuilder::without_adding(const std::function<void()>& emit) {
  const size_t first = program_.tasks.size();
  emit();
  std::vector<Dispatch> added;
  for (size_t t = first; t < program_.tasks.size(); ++t)
    added.push_back(std::move(program_.tasks[t].dispatch.value()));
  program_.tasks.resize(first);
  return added;
}

}  // namespace vellum
