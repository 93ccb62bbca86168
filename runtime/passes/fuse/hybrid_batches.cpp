#include "passes/fuse/hybrid_batches.hpp"

#include <memory>
#include <vector>

#include "graph/operators/conv/scaled_conv.hpp"
#include "graph/operators/elementwise/dynamic_steps.hpp"
#include "graph/operators/matmul/matmul.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// The real numbers that the weights of the layer stand for.
HostTensor real_weights(const GraphEditor& editor, const Node& layer) {
  const HostTensor& integers = *editor.constant(layer.inputs[1]);
  const std::vector<float> factors = editor.constant(layer.inputs[4])->to_floats();
  std::vector<float> values = integers.to_floats();
  const size_t each = values.size() / factors.size();
  for (size_t i = 0; i < values.size(); ++i) values[i] *= factors[i / each];
  return HostTensor::f32(integers.shape(), values);
}

void dequantise(GraphEditor& editor, size_t index, ValueId x) {
  const Node layer = editor.node(index);
  const auto& scaled = dynamic_cast<const ScaledConv&>(*layer.op);
  HostTensor weights = real_weights(editor, layer);
  std::shared_ptr<const Operator> op;
  if (editor.type(x).shape.size() == 2) {
    auto gemm = std::make_shared<Gemm>();
    gemm->transpose_b = true;
    gemm->activation = scaled.activation;
    weights = weights.reshaped({weights.shape()[0], weights.shape()[1]});
    op = std::move(gemm);
  } else {
    auto conv = std::make_shared<Conv>(scaled.conv);
    conv->activation = scaled.activation;
    op = std::move(conv);
  }
  std::vector<ValueId> inputs{x, editor.add_constant(layer.name + "/weights", std::move(weights))};
  if (layer.inputs[2] != kNoValue) inputs.push_back(layer.inputs[2]);
  editor.replace(index, std::move(op), std::move(inputs));
}

}  // namespace

bool dequantise_batches(GraphEditor& editor) {
  bool changed = false;
  for (const size_t index : editor.nodes()) {
    const auto steps = match_node<DynamicSteps>(editor, index);
    if (!steps || steps->form == StepsForm::bytes || editor.type(steps.input()).shape[0] <= 1) continue;
    const ValueId x = steps.input();
    const std::vector<size_t> readers = editor.readers(steps.node->outputs[0]);
    for (const size_t reader : readers) dequantise(editor, reader, x);
    changed = true;
  }
  return changed;
}

}  // namespace vellum
