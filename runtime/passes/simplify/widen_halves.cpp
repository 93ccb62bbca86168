// Kernels compute floats of 16 and of 32 bits alike, in the precision of the session. So a graph of halves,
// or with halves in parts of it, becomes one of float32: Casts between the two go, patterns match, and
// constants that passes fold are not rounded to halves again. Graph inputs and outputs keep their type.
#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/element.hpp"
#include "graph/operators/conv/conv.hpp"
#include "graph/operators/conv/conv_transpose.hpp"
#include "graph/operators/elementwise/cast.hpp"
#include "graph/operators/matmul/matmul.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

std::shared_ptr<const Operator> cast_to(DType dtype) {
  auto op = std::make_shared<Cast>();
  op->to = dtype;
  return op;
}

class Widening {
 public:
  explicit Widening(Graph& graph) : editor_(graph) {}

  void run() {
    for (const size_t index : editor_.nodes()) widen(index);
    editor_.commit();
  }

 private:
  bool is_half(ValueId value) const { return value != kNoValue && editor_.type(value).dtype == DType::f16; }

  void widen(size_t index) {
    Node node = editor_.node(index);
    bool changes = false;
    for (size_t slot = 0; slot < node.inputs.size(); ++slot) {
      if (!is_half(node.inputs[slot]) || is_matrix_of_weights(index, slot)) continue;
      node.inputs[slot] = widened(index, node.inputs[slot]);
      changes = true;
    }
    const auto* cast = dynamic_cast<const Cast*>(node.op.get());
    const bool rounds = cast != nullptr && cast->to == DType::f16 && cast->narrow == nullptr;
    if (rounds && !editor_.is_graph_output(node.outputs[0])) {
      node.op = cast_to(DType::f32);
      changes = true;
    }
    if (!changes) return;
    const std::vector<ValueId> outputs = node.outputs;
    std::vector<OperatorInput> inputs;
    for (const ValueId input : node.inputs)
      inputs.push_back(input == kNoValue ? OperatorInput{}
                                         : OperatorInput{true, editor_.type(input), editor_.constant(input)});
    const std::vector<TensorType> types = node.op->infer(inputs);
    for (size_t i = 0; i < std::min(outputs.size(), types.size()); ++i)
      if (is_half(outputs[i]) && types[i].dtype == DType::f32) node.outputs[i] = add_wide(outputs[i]);
    // An operator whose results are halves whatever it reads keeps them, and its readers read a Cast.
    editor_.replace(index, node);
    for (size_t i = 0; i < outputs.size(); ++i)
      if (node.outputs[i] != outputs[i] && editor_.is_graph_output(outputs[i]))
        editor_.insert_after(index,
                             {name_of(outputs[i]), cast_to(DType::f16), {node.outputs[i]}, {outputs[i]}});
  }

  // Weights stay as they are stored: they would take twice the memory of the host.
  bool is_matrix_of_weights(size_t index, size_t slot) const {
    const Operator& op = *editor_.node(index).op;
    const bool multiplies = dynamic_cast<const Conv*>(&op) || dynamic_cast<const ConvTranspose*>(&op) ||
                            dynamic_cast<const MatMul*>(&op) || dynamic_cast<const Gemm*>(&op);
    return slot == 1 && multiplies && editor_.constant_input(index, slot) != nullptr;
  }

  ValueId widened(size_t index, ValueId value) {
    if (const auto found = wide_.find(value); found != wide_.end()) return found->second;
    if (const HostTensor* constant = editor_.constant(value))
      return wide_[value] = editor_.add_constant(name_of(value), cast(*constant, DType::f32));
    const TensorType type{DType::f32, editor_.type(value).shape};
    return wide_[value] =
               editor_.compute_before(index, name_of(value) + "/float", cast_to(DType::f32), {value}, type);
  }

  ValueId add_wide(ValueId value) {
    return wide_[value] =
               editor_.add_value(name_of(value) + "/float", {DType::f32, editor_.type(value).shape});
  }

  std::string name_of(ValueId value) const { return editor_.graph().values[value].name; }

  GraphEditor editor_;
  std::unordered_map<ValueId, ValueId> wide_;  // of halves
};

bool has_halves(const Graph& graph) {
  for (const Value& value : graph.values)
    if (value.type.dtype == DType::f16) return true;
  return false;
}

}  // namespace

void widen_halves(Graph& graph) {
  if (!has_halves(graph)) return;
  Widening(graph).run();
  remove_dead_code(graph);
}

}  // namespace vellum
