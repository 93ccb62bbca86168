#include <algorithm>
#include <memory>
#include <optional>

#include "graph/operators/pool.hpp"
#include "graph/operators/reduce.hpp"
#include "graph/operators/squeeze_excite.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/pattern.hpp"

namespace vellum {
namespace {

bool has_one_position(const Shape& shape) {
  return shape.size() >= 3 && shape.size() <= 4 && product(shape, 2, shape.size()) == 1;
}

// The Conv that computes `value` where it is a matrix product: of one position, with constant weights.
const Conv* product_of_one_position(const GraphEditor& editor, ValueId value) {
  const auto* conv = producer_as<Conv>(editor, value);
  if (conv == nullptr || conv->group != 1) return nullptr;
  const Node& node = editor.node(*editor.producer(value));
  if (node.inputs.size() > 3 || editor.constant(node.inputs[1]) == nullptr ||
      !is_known_input(editor, node, 2))
    return nullptr;
  const bool fits = has_one_position(editor.type(node.inputs[0]).shape) &&
                    has_one_position(editor.constant(node.inputs[1])->shape()) &&
                    has_one_position(editor.type(value).shape);
  return fits && is_float_value(editor, value) ? conv : nullptr;
}

// Whether the node computes the means over all spatial dimensions of its first input.
bool takes_means(const GraphEditor& editor, size_t index) {
  const Node& node = editor.node(index);
  const Shape& shape = editor.type(node.inputs[0]).shape;
  if (!has_one_position(editor.type(node.outputs[0]).shape) || shape.size() > 4) return false;
  if (const auto* pool = dynamic_cast<const GlobalPool*>(node.op.get()))
    return pool->kind == PoolKind::average;
  if (const auto* reduce = dynamic_cast<const Reduce*>(node.op.get())) {
    if (reduce->kind != ReduceKind::mean || !reduce->keep_dims) return false;
    const std::vector<size_t> axes = reduce->reduced_axes(operator_inputs(editor.graph(), node));
    return axes.size() == shape.size() - 2 &&
           std::count_if(axes.begin(), axes.end(), [](size_t axis) { return axis < 2; }) == 0;
  }
  const auto* pool = dynamic_cast<const Pool*>(node.op.get());
  if (pool == nullptr || pool->kind != PoolKind::average) return false;
  const WindowPlacement window = pool->place(operator_inputs(editor.graph(), node));
  const auto pads = [](const std::vector<int64_t>& list) {
    return std::any_of(list.begin(), list.end(), [](int64_t amount) { return amount != 0; });
  };
  return window.kernel == window.input && !pads(window.pads_begin) && !pads(window.pads_end);
}

// Whether `value` is multiplied with `gated`: other products of means have other uses for their readers.
bool gates(const GraphEditor& editor, ValueId value, ValueId gated) {
  const auto reader = editor.only_reader(value);
  const auto* mul = reader ? dynamic_cast<const Binary*>(editor.node(*reader).op.get()) : nullptr;
  if (mul == nullptr || mul->kind != BinaryKind::mul) return false;
  const auto& inputs = editor.node(*reader).inputs;
  return inputs[0] == gated || inputs[1] == gated;
}

// The node of the second product becomes all of it.
void fuse_into(GraphEditor& editor, size_t last) {
  const ValueId output = editor.node(last).outputs[0];
  const Conv* second = output == kNoValue ? nullptr : product_of_one_position(editor, output);
  if (second == nullptr) return;
  const ValueId channels = editor.node(last).inputs[0];
  const Conv* first = product_of_one_position(editor, channels);
  if (first == nullptr || editor.only_reader(channels) != last) return;
  const size_t middle = *editor.producer(channels);
  const ValueId means = editor.node(middle).inputs[0];
  const auto pool = editor.producer(means);
  if (!pool || editor.only_reader(means) != middle || !takes_means(editor, *pool)) return;
  const ValueId x = editor.node(*pool).inputs[0];
  if (!gates(editor, output, x) || editor.type(x).dtype != editor.type(output).dtype) return;
  auto op = std::make_shared<SqueezeExcite>();
  op->hidden = first->activation;
  op->gate = second->activation;
  std::vector<ValueId> inputs{x};
  for (const size_t index : {middle, last}) {
    inputs.push_back(editor.node(index).inputs[1]);
    inputs.push_back(editor.node(index).inputs.size() > 2 ? editor.node(index).inputs[2] : kNoValue);
  }
  while (inputs.back() == kNoValue) inputs.pop_back();
  editor.remove(*pool);
  editor.remove(middle);
  editor.set_operator(last, std::move(op));
  editor.set_inputs(last, std::move(inputs));
}

}  // namespace

void fuse_squeeze_excite(Graph& graph) {
  GraphEditor editor(graph);
  for (size_t i = 0; i < editor.node_count(); ++i)
    if (!editor.removed(i)) fuse_into(editor, i);
  editor.commit();
}

}  // namespace vellum
