#include "passes/split_large_layers.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "graph/operators/binary.hpp"
#include "graph/operators/concat.hpp"
#include "graph/operators/conv.hpp"
#include "graph/operators/matmul.hpp"
#include "graph/operators/pool.hpp"
#include "graph/operators/squeeze_excite.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/unique_names.hpp"

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

bool has_input(const Node& node, size_t i) { return node.inputs.size() > i && node.inputs[i] != kNoValue; }

// Bias and the like: nothing to cut where it is left out, or one value for all channels.
bool cuts(const Graph& graph, const Node& node, int64_t channels) {
  if (!has_input(node, 2)) return true;
  const HostTensor* bias = graph.constant(node.inputs[2]);
  if (bias == nullptr) return false;
  return bias->elements() == 1 || (bias->elements() == channels && bias->shape().back() == channels);
}

// Input 3 of a Conv or Gemm: what is added to all of its channels, not to the first ones alone.
bool has_narrow_residual(const Graph& graph, const Node& node) {
  return has_input(node, 3) &&
         graph.values[node.inputs[3]].type.shape != graph.values[node.outputs[0]].type.shape;
}

std::optional<Layer> splittable(const Graph& graph, const Node& node) {
  const HostTensor* weights = has_input(node, 1) ? graph.constant(node.inputs[1]) : nullptr;
  if (weights == nullptr || has_narrow_residual(graph, node)) return std::nullopt;
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
    for (Node& node : nodes) add(std::move(node));
  }

 private:
  void add(Node node) {
    const auto* excite = dynamic_cast<const SqueezeExcite*>(node.op.get());
    if (excite != nullptr && is_too_large(node)) return take_apart(node, *excite);
    const std::optional<Layer> layer = splittable(graph_, node);
    const int64_t part = layer ? part_channels(*layer) : 0;
    if (part > 0 && has_input(node, 3))
      split_from_residual(node, *layer, part);
    else if (part > 0)
      split(node, *layer, part);
    else
      graph_.nodes.push_back(std::move(node));
  }

  // Of output channels in fours, as kernels hold them, and bias and the like.
  uint64_t bytes_of(int64_t channels, int64_t channel_elements) const {
    return static_cast<uint64_t>((channels + 3) / 4 * 4 * (channel_elements + 8)) * element_bytes_;
  }

  // Both matrices of a squeeze-and-excitation, which a kernel may want at once.
  bool is_too_large(const Node& node) const {
    uint64_t bytes = 0;
    for (const size_t i : {1u, 3u}) {
      const HostTensor* weights = graph_.constant(node.inputs[i]);
      if (weights == nullptr) return false;
      bytes += bytes_of(weights->shape()[0], (weights->shape()[1] + 3) / 4 * 4);
    }
    return bytes > most_bytes_;
  }

  // The means and the two products, each a layer of its own that may be split in turn.
  void take_apart(const Node& node, const SqueezeExcite& excite) {
    TensorType type = graph_.values[node.inputs[0]].type;
    std::fill(type.shape.begin() + 2, type.shape.end(), 1);
    auto pool = std::make_shared<GlobalPool>();
    pool->kind = PoolKind::average;
    const ValueId means = graph_.add_value(names_.make(node.name + "/means"), type, true);
    graph_.nodes.push_back({node.name + "/means", std::move(pool), {node.inputs[0]}, {means}});
    type.shape[1] = graph_.constant(node.inputs[1])->shape()[0];
    const ValueId hidden = graph_.add_value(names_.make(node.name + "/hidden"), type, true);
    const auto input = [&](size_t i) { return has_input(node, i) ? node.inputs[i] : kNoValue; };
    add({node.name + "/hidden", product(excite.hidden), {means, input(1), input(2)}, {hidden}});
    add({node.name, product(excite.gate), {hidden, input(3), input(4)}, node.outputs});
  }

  static std::shared_ptr<const Operator> product(const Activation& activation) {
    auto conv = std::make_shared<Conv>();
    conv->activation = activation;
    return conv;
  }

  // As many as fit together with those of the part before, which still computes while they come; 0 for a
  // layer that is to stay whole.
  int64_t part_channels(const Layer& layer) const {
    if (bytes_of(layer.channels, layer.channel_elements) <= most_bytes_) return 0;
    const auto part = 4 * static_cast<int64_t>(most_bytes_ / 2 / bytes_of(4, layer.channel_elements));
    return part < layer.channels ? part : 0;
  }

  // The operator without its activation, and that.
  template <typename Op>
  static std::pair<std::shared_ptr<const Operator>, Activation> without_activation(const Op& op) {
    auto bare = std::make_shared<Op>(op);
    const Activation activation = std::exchange(bare->activation, {});
    return {std::move(bare), activation};
  }

  // A Conv or Gemm whose residual and activation become an Add, of all channels at once.
  void split_from_residual(const Node& node, const Layer& layer, int64_t part) {
    const auto* conv = dynamic_cast<const Conv*>(node.op.get());
    auto [bare, activation] =
        conv ? without_activation(*conv) : without_activation(dynamic_cast<const Gemm&>(*node.op));
    auto add = std::make_shared<Binary>();
    add->activation = activation;
    const Value& y = graph_.values[node.outputs[0]];
    const ValueId product = graph_.add_value(names_.make(y.name + "/product"), y.type, true);
    Node sums{node.name, std::move(bare), node.inputs, {product}};
    const ValueId residual = std::exchange(sums.inputs[3], kNoValue);
    if (sums.inputs.size() == 4) sums.inputs.pop_back();
    split(sums, layer, part);
    graph_.nodes.push_back({node.name + "/residual", std::move(add), {product, residual}, node.outputs});
  }

  void split(const Node& node, const Layer& layer, int64_t part) {
    Node concat{node.name, nullptr, {}, node.outputs};
    for (int64_t first = 0; first < layer.channels; first += part) {
      const int64_t count = std::min(part, layer.channels - first);
      Node piece = node;
      const std::string suffix = "/part" + std::to_string(first / part);
      piece.name += suffix;
      piece.inputs[1] = constant(node.inputs[1], suffix, layer.weights_axis, first, count);
      if (has_input(node, 2) && graph_.constant(node.inputs[2])->elements() == layer.channels &&
          layer.channels > 1)
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
