#include "quantize/equalize.hpp"

#include <cmath>
#include <optional>

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/elementwise/select.hpp"
#include "graph/operators/elementwise/unary.hpp"
#include "passes/rewrite/graph_editor.hpp"
#include "quantize/layers.hpp"

namespace vellum::quantization {
namespace {

const Conv* conv_of(const GraphEditor& editor, size_t index) {
  const Node& node = editor.node(index);
  const auto* conv = dynamic_cast<const Conv*>(node.op.get());
  return conv != nullptr && has_weights(editor.graph(), node) && node.inputs.size() <= 3 ? conv : nullptr;
}

// f(s x) = s f(x) for s > 0.
bool scales_along(const Operator& op) {
  if (dynamic_cast<const PRelu*>(&op)) return true;
  const auto* unary = dynamic_cast<const Unary*>(&op);
  return unary != nullptr && unary->kind == UnaryKind::activation && !unary->activation.is_scaled() &&
         !unary->activation.is_rounded() &&
         (unary->activation.kind == ActivationKind::relu ||
          unary->activation.kind == ActivationKind::leaky_relu);
}

// The convolution that alone reads the result of node `index`, at once or after such a function.
std::optional<size_t> next_conv(const GraphEditor& editor, size_t index) {
  auto reader = editor.only_reader(editor.node(index).outputs[0]);
  if (reader && scales_along(*editor.node(*reader).op))
    reader = editor.only_reader(editor.node(*reader).outputs[0]);
  if (!reader || conv_of(editor, *reader) == nullptr) return std::nullopt;
  return reader;
}

// The channel of the input that element `i` of the weights is multiplied with.
size_t input_channel(const Shape& weights, int64_t group, size_t i) {
  const int64_t kernel = element_count(weights) / (weights[0] * weights[1]);
  const auto at = static_cast<int64_t>(i);
  const int64_t filter = at / (kernel * weights[1]), channel = at / kernel % weights[1];
  return static_cast<size_t>(filter / (weights[0] / group) * weights[1] + channel);
}

void set_constant(GraphEditor& editor, size_t node, size_t slot, const HostTensor& value) {
  std::vector<ValueId> inputs = editor.node(node).inputs;
  const std::string name = editor.graph().values[inputs[slot]].name;
  inputs[slot] = editor.add_constant(name, value);
  editor.set_inputs(node, std::move(inputs));
}

void equalize_pair(GraphEditor& editor, size_t first, size_t second) {
  const int64_t group = conv_of(editor, second)->group;
  HostTensor before = *editor.constant_input(first, 1), after = *editor.constant_input(second, 1);
  const auto channels = static_cast<size_t>(before.shape()[0]);
  const size_t each = static_cast<size_t>(before.elements()) / channels;
  const auto out = before.mutable_as<float>(), in = after.mutable_as<float>();
  std::vector<float> of_out(channels, 0.0f), of_in(channels, 0.0f), factor(channels, 1.0f);
  for (size_t i = 0; i < out.size(); ++i) of_out[i / each] = std::max(of_out[i / each], std::fabs(out[i]));
  const Shape shape = after.shape();
  for (size_t i = 0; i < in.size(); ++i) {
    float& largest = of_in[input_channel(shape, group, i)];
    largest = std::max(largest, std::fabs(in[i]));
  }
  for (size_t c = 0; c < channels; ++c)
    if (of_out[c] > 0 && of_in[c] > 0) factor[c] = std::sqrt(of_out[c] / of_in[c]);
  for (size_t i = 0; i < out.size(); ++i) out[i] /= factor[i / each];
  for (size_t i = 0; i < in.size(); ++i) in[i] *= factor[input_channel(shape, group, i)];
  if (const HostTensor* given = editor.constant_input(first, 2)) {
    HostTensor bias = *given;
    const auto values = bias.mutable_as<float>();
    for (size_t c = 0; c < channels; ++c) values[c] /= factor[c];
    set_constant(editor, first, 2, bias);
  }
  set_constant(editor, first, 1, before);
  set_constant(editor, second, 1, after);
}

}  // namespace

void equalize(Graph& graph) {
  constexpr int kRounds = 8;  // pairs share layers
  for (int round = 0; round < kRounds; ++round) {
    GraphEditor editor(graph);
    for (const size_t index : editor.nodes()) {
      if (conv_of(editor, index) == nullptr) continue;
      if (const auto next = next_conv(editor, index)) equalize_pair(editor, index, *next);
    }
    editor.commit();
  }
}

}  // namespace vellum::quantization
