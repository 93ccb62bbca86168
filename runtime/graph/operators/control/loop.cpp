#include "graph/operators/control/loop.hpp"

#include <algorithm>

#include "graph/operators/control/branch.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/reshape.hpp"

namespace vellum {
namespace {

// A file may ask for any number of iterations.
constexpr int64_t kMostIterations = int64_t{1} << 20;

HostTensor evaluate_with(const Operator& op, const std::vector<const HostTensor*>& inputs) {
  return op.evaluate(inputs)[0];
}

HostTensor stack(std::vector<HostTensor> elements, LoopOperator::Stack order) {
  if (elements.empty())
    refuse_unsupported("a Loop on the host that ends before its first iteration has no stacked outputs");
  if (order.reversed) std::reverse(elements.begin(), elements.end());
  Unsqueeze unsqueeze;
  unsqueeze.axes = Ints{order.axis};
  Concat concat;
  concat.axis = order.axis;
  std::vector<const HostTensor*> parts;
  for (HostTensor& element : elements) {
    element = evaluate_with(unsqueeze, {&element});
    parts.push_back(&element);
  }
  return evaluate_with(concat, parts);
}

}  // namespace

Shape LoopOperator::iteration_shape() const {
  const Value& declared = body.values[body.inputs[0]];
  const Shape& shape = declared.type.shape;
  const bool one = std::ranges::all_of(shape, [](int64_t dim) { return dim == 1; });
  return declared.type_known && one ? shape : Shape{};
}

void LoopOperator::check_counts(size_t inputs, size_t outputs) const {
  if (body.inputs.size() < 2 + states || body.outputs.size() != 1 + states + stacks.size())
    refuse_model("the body has " + std::to_string(body.inputs.size()) + " inputs and " +
                 std::to_string(body.outputs.size()) + " outputs, which do not fit " +
                 std::to_string(states) + " states and " + std::to_string(stacks.size()) +
                 " stacked outputs");
  if (finished < 0 || inputs != first_element() + static_cast<size_t>(finished) * stacks.size())
    refuse_model("the node has " + std::to_string(inputs) + " inputs, which do not fit its body");
  if (outputs > states + stacks.size())
    refuse_model("the node has " + std::to_string(outputs) + " outputs, more than its body");
}

int64_t LoopOperator::iterations(const HostTensor& count) {
  if (count.dtype() != DType::i64 || count.elements() != 1)
    refuse_model("the number of iterations is " + to_string(count.type()) + ", expected one int64");
  return count.as<int64_t>()[0];
}

// Shapes of a Loop with a known number of iterations are never inferred: the iterations have replaced it.
std::vector<TensorType> LoopOperator::infer(Inputs) const {
  refuse_unsupported("the number of iterations is known only at run time");
}

std::vector<HostTensor> LoopOperator::evaluate(HostInputs inputs) const {
  return evaluate_with(inputs, [](const Graph& graph, std::span<const HostTensor> arguments) {
    return vellum::evaluate(graph, arguments);
  });
}

std::vector<HostTensor> LoopOperator::evaluate_with(HostInputs inputs, const RunBody& run) const {
  check_counts(inputs.size(), 0);
  if (std::ranges::count(inputs, nullptr) > 0) refuse_model("an input of the loop is missing");
  const int64_t most = iterations(*inputs[0]);
  std::vector<std::vector<HostTensor>> elements(stacks.size());
  for (size_t i = first_element(); i < inputs.size(); ++i)
    elements[(i - first_element()) % stacks.size()].push_back(*inputs[i]);
  std::vector<HostTensor> arguments;
  for (size_t i = 0; i < first_element(); ++i) arguments.push_back(*inputs[i]);
  const Shape shape = iteration_shape();
  for (int64_t i = finished; i < most && If::is_true(arguments[1]); ++i) {
    if (i == kMostIterations)
      refuse_unsupported("more than " + std::to_string(kMostIterations) + " iterations");
    arguments[0] = HostTensor::i64(shape, std::vector<int64_t>{i});
    std::vector<HostTensor> results = run(body, arguments);
    for (size_t k = 0; k < stacks.size(); ++k) elements[k].push_back(std::move(results[1 + states + k]));
    std::move(results.begin(), results.begin() + static_cast<ptrdiff_t>(1 + states), arguments.begin() + 1);
  }
  std::vector<HostTensor> outputs(arguments.begin() + 2,
                                  arguments.begin() + static_cast<ptrdiff_t>(2 + states));
  for (size_t k = 0; k < stacks.size(); ++k) outputs.push_back(stack(std::move(elements[k]), stacks[k]));
  return outputs;
}

}  // namespace vellum
