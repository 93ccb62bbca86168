#include "passes/split_large_layers.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "graph/binary.hpp"
#include "graph/concat.hpp"
#include "graph/conv.hpp"
#include "graph/matmul.hpp"
#include "passes/passes.hpp"
#include "passes/unique_names.hpp"

namespace vellum {
namespace {

// A layer whose output channels can be computed in parts, each from its part of the constants.
struct Layer {
  int64_t channels = 0;
  int64_t channel_elements =
      0;                    // weights of one output channel, as kernels hold them: input channels in fours
  size_t weights_axis = 0;  // the output channels among the dimensions of input 1
  int64_t output_axis = 1;
};

// Bias and the like: nothing to cut where it is left out, or one value for all channels.
bool cuts(const Graph& graph, const Node& node, int64_t channels) {
  if (node.inputs.size() < 3 || node.inputs[2] == kNoValue) return true;
  const HostTensor* bias = graph.constant(node.inputs[2]);
  if (bias == nullptr) return false;
  return bias->elements() == 1 || (bias->elements() == channels && bias->shape().back() == channels);
}

std::optional<Layer> splittable(const Graph& graph, const Node& node) {
  const HostTensor* weights = node.inputs.size() > 1 ? graph.constant(node.inputs[1]) : nullptr;
  const bool is_gemm = dynamic_cast<const Gemm*>(node.op.get()) != nullptr;
  if (weights == nullptr || (node.inputs.size() > 3 && !is_gemm)) return std::nullopt;
  const Shape& shape = weights->shape();
  Layer layer;
  size_t inputs_axis = 1;
  if (const auto* conv = dynamic_cast<const Conv*>(node.op.get())) {
    if (conv->group != 1) return std::nullopt;
  } else if (const auto* gemm = dynamic_cast<const Gemm*>(node.op.get())) {
    layer.weights_axis = gemm->transpose_b ? 0 : 1;
    inputs_axis = 1 - layer.weights_axis;
  } else if (dynamic_cast<const MatMul*>(node.op.get()) != nullptr && shape.size() == 2) {
    layer.weights_axis = 1;
    inputs_axis = 0;
    layer.output_axis = static_cast<int64_t>(graph.values[node.outputs[0]].type.shape.size()) - 1;
    // Kernels treat rests of four in a way of their own.
    if (shape[1] % 4 != 0) return std::nullopt;
  } else {
    return std::nullopt;
  }
  layer.channels = shape[layer.weights_axis];
  if (layer.channels == 0 || !cuts(graph, node, layer.channels)) return std::nullopt;
  const int64_t inputs = shape[inputs_axis];
  if (inputs == 0) return std::nullopt;
  layer.channel_elements = weights->elements() / layer.channels / inputs * ((inputs + 3) / 4 * 4);
  return layer;
}

// Channels [first, first + count) along an axis; of the outermost one without a copy.
HostTensor cut(const HostTensor& tensor, size_t axis, int64_t first, int64_t count) {
  Shape shape = tensor.shape();
  int64_t outer = 1, inner = static_cast<int64_t>(size_of(tensor.dtype()));
  for (size_t i = 0; i < axis; ++i) outer *= shape[i];
  for (size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  const int64_t line = shape[axis] * inner;
  shape[axis] = count;
  if (outer == 1) {
    const auto whole = std::make_shared<const HostTensor>(tensor);
    return {tensor.dtype(), shape, std::shared_ptr<const std::byte>(whole, whole->data() + first * inner)};
  }
  HostTensor part(tensor.dtype(), shape);
  for (int64_t i = 0; i < outer; ++i)
    std::memcpy(part.mutable_data() + i * count * inner, tensor.data() + i * line + first * inner,
                static_cast<size_t>(count * inner));
  return part;
}

class Splitter {
 public:
  Splitter(Graph& graph, uint64_t most_bytes, uint64_t element_bytes)
      : graph_(graph), names_(graph), most_bytes_(most_bytes), element_bytes_(element_bytes) {}

  void run() {
    std::vector<Node> nodes = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (Node& node : nodes) {
      const std::optional<Layer> layer = splittable(graph_, node);
      const int64_t part = layer ? part_channels(*layer) : 0;
      if (part > 0 && node.inputs.size() > 3)
        split_from_residual(node, *layer, part);
      else if (part > 0)
        split(node, *layer, part);
      else
        graph_.nodes.push_back(std::move(node));
    }
  }

 private:
  // As many as fit together with those of the part before, which still computes while they come; 0 for a
  // layer that is to stay whole. Kernels hold output channels in fours too.
  int64_t part_channels(const Layer& layer) const {
    const auto four_bytes = static_cast<uint64_t>(4 * (layer.channel_elements + 8)) * element_bytes_;
    const auto fours = static_cast<uint64_t>((layer.channels + 3) / 4);
    if (fours * four_bytes <= most_bytes_) return 0;
    const auto part = 4 * static_cast<int64_t>(most_bytes_ / 2 / four_bytes);
    return part < layer.channels ? part : 0;
  }

  // A Gemm whose residual and activation become an Add, of all columns at once.
  void split_from_residual(const Node& node, const Layer& layer, int64_t part) {
    auto gemm = std::make_shared<Gemm>(dynamic_cast<const Gemm&>(*node.op));
    auto add = std::make_shared<Binary>();
    add->activation = std::exchange(gemm->activation, {});
    const Value& y = graph_.values[node.outputs[0]];
    const ValueId product = graph_.add_value(names_.make(y.name + "/product"), y.type, true);
    split({node.name, std::move(gemm), {node.inputs.begin(), node.inputs.begin() + 3}, {product}}, layer,
          part);
    graph_.nodes.push_back(
        {node.name + "/residual", std::move(add), {product, node.inputs[3]}, node.outputs});
  }

  void split(const Node& node, const Layer& layer, int64_t part) {
    Node concat{node.name, nullptr, {}, node.outputs};
    for (int64_t first = 0; first < layer.channels; first += part) {
      const int64_t count = std::min(part, layer.channels - first);
      Node piece = node;
      const std::string suffix = "/part" + std::to_string(first / part);
      piece.name += suffix;
      piece.inputs[1] = constant(node.inputs[1], suffix, layer.weights_axis, first, count);
      if (node.inputs.size() > 2 && node.inputs[2] != kNoValue &&
          graph_.constant(node.inputs[2])->elements() == layer.channels && layer.channels > 1)
        piece.inputs[2] = constant(node.inputs[2], suffix,
                                   graph_.constant(node.inputs[2])->shape().size() - 1, first, count);
      TensorType type = graph_.values[node.outputs[0]].type;
      type.shape[static_cast<size_t>(layer.output_axis)] = count;
      piece.outputs = {
          graph_.add_value(names_.make(graph_.values[node.outputs[0]].name + suffix), type, true)};
      concat.inputs.push_back(piece.outputs[0]);
      graph_.nodes.push_back(std::move(piece));
    }
    auto op = std::make_shared<Concat>();
    op->axis = layer.output_axis;
    concat.op = std::move(op);
    graph_.nodes.push_back(std::move(concat));
  }

  ValueId constant(ValueId whole, const std::string& suffix, size_t axis, int64_t first, int64_t count) {
    HostTensor part = cut(*graph_.constant(whole), axis, first, count);
    return graph_.add_constant(names_.make(graph_.values[whole].name + suffix), std::move(part));
  }

  Graph& graph_;
  UniqueNames names_;
  uint64_t most_bytes_, element_bytes_;
};

}  // namespace

void split_large_layers(Graph& graph, uint64_t most_bytes, uint64_t element_bytes) {
  Splitter(graph, most_bytes, element_bytes).run();
  remove_dead_code(graph);
  check(graph);
}

}  // namespace vellum
