#include "passes/split_large_layers.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/elementwise/binary.hpp"
#include "graph/operators/matmul/block_product.hpp"
#include "graph/operators/matmul/matmul.hpp"
#include "graph/operators/movement/block_gather.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/reduction/pool.hpp"
#include "graph/operators/reduction/squeeze_excite.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// A layer whose output channels can be computed in parts, each from a slice of the weights and the bias.
struct Layer {
  int64_t channels = 0;
  int64_t channel_elements = 0;  // weights of one output channel as kernels hold them: inputs in fours
  size_t weights_axis = 0;       // the dimension of input 1 that is the output channels
  int64_t output_axis = 1;
};

bool has_input(const Node& node, size_t i) { return node.inputs.size() > i && node.inputs[i] != kNoValue; }

// Whether input 2, a bias, can be sliced like the weights: it is left out, one element, or one per channel.
bool can_slice_bias(const Graph& graph, const Node& node, int64_t channels) {
  if (!has_input(node, 2)) return true;
  const HostTensor* bias = graph.constant(node.inputs[2]);
  if (bias == nullptr) return false;
  return bias->elements() == 1 || (bias->elements() == channels && bias->shape().back() == channels);
}

// Whether input 3 of a Conv or Gemm is added to the first channels alone.
bool has_narrow_residual(const Graph& graph, const Node& node) {
  return has_input(node, 3) &&
         graph.values[node.inputs[3]].type.shape != graph.values[node.outputs[0]].type.shape;
}

std::optional<Layer> as_splittable(const Graph& graph, const Node& node) {
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
    // Kernels compute the channels after the last multiple of four differently.
    if (shape[1] % 4 != 0) return std::nullopt;
  } else {
    return std::nullopt;
  }
  layer.channels = shape[layer.weights_axis];
  if (layer.channels == 0 || !can_slice_bias(graph, node, layer.channels)) return std::nullopt;
  const int64_t inputs = shape[inputs_axis];
  if (inputs == 0) return std::nullopt;
  layer.channel_elements = weights->elements() / layer.channels / inputs * ((inputs + 3) / 4 * 4);
  return layer;
}

// Elements [first, first + count) along an axis. Along the outermost dimension larger than 1 nothing is
// copied.
HostTensor slice(const HostTensor& tensor, size_t axis, int64_t first, int64_t count) {
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

// Runs [first, first + count) of a tensor of `runs` equal runs of bytes, without a copy.
HostTensor slice_of_runs(const HostTensor& tensor, int64_t runs, int64_t first, int64_t count) {
  return slice(tensor.reshaped({runs, tensor.elements() / runs}), 0, first, count);
}

class Splitter {
 public:
  Splitter(Graph& graph, const LayerLimits& limits, uint64_t element_bytes)
      : editor_(graph), limits_(limits), element_bytes_(element_bytes) {}

  // Returns whether a layer was split.
  bool run() {
    const size_t before = editor_.graph().nodes.size();
    for (const size_t index : editor_.nodes()) split_if_large(index);
    editor_.commit();
    return editor_.graph().nodes.size() > before;
  }

 private:
  void split_if_large(size_t index) {
    if (match_node<SqueezeExcite>(editor_, index) && is_large_excitation(index))
      return split_excitation(index);
    if (const auto table = match_node<BlockGather>(editor_, index)) return keep_on_host(index, *table.op);
    if (const auto product = match_node<BlockProduct>(editor_, index))
      return split_block_product(index, *product.op);
    const std::optional<Layer> layer = as_splittable(editor_.graph(), editor_.node(index));
    const int64_t part = layer ? part_channels(*layer) : 0;
    if (part == 0) return;
    if (has_input(editor_.node(index), 3))
      split_without_residual(index, *layer, part);
    else
      split(index, *layer, part);
  }

  // Weights of output channels in fours, as kernels hold them, with bias and the like.
  uint64_t bytes_of(int64_t channels, int64_t channel_elements) const {
    return static_cast<uint64_t>((channels + 3) / 4 * 4 * (channel_elements + 8)) * element_bytes_;
  }

  // One kernel may want both matrices of a squeeze-and-excitation at once.
  bool is_large_excitation(size_t index) const {
    uint64_t bytes = 0;
    for (const size_t slot : {1u, 3u}) {
      const HostTensor* weights = editor_.constant_input(index, slot);
      if (weights == nullptr) return false;
      bytes += bytes_of(weights->shape()[0], (weights->shape()[1] + 3) / 4 * 4);
    }
    return bytes > limits_.layer;
  }

  void keep_on_host(size_t index, const BlockGather& rows) {
    const HostTensor* table = editor_.constant_input(index, 0);
    const auto bytes = static_cast<uint64_t>(element_count(table->shape())) *
                       static_cast<uint64_t>(rows.bits == 4 && !rows.packed_pairs ? 1 : 2) / 2;
    if (bytes <= limits_.table) return;
    auto on_host = std::make_shared<BlockGather>(rows);
    on_host->on_host = true;
    editor_.set_operator(index, std::move(on_host));
  }

  // The weights, scales and zero points of a column follow one another in each constant.
  void split_block_product(size_t index, const BlockProduct& product) {
    const int64_t columns = product.weights.columns;
    uint64_t bytes = 0;
    for (size_t i = 1; i < editor_.node(index).inputs.size(); ++i)
      if (const HostTensor* constant = editor_.constant_input(index, i)) bytes += constant->byte_size();
    if (bytes <= limits_.layer) return;
    const auto of_column = std::max<uint64_t>(bytes / static_cast<uint64_t>(columns), 1);
    const auto most = static_cast<int64_t>(limits_.part / of_column) / 4 * 4;
    if (most <= 0 || most >= columns) return;
    const int64_t parts = (columns + most - 1) / most, part = ((columns + parts - 1) / parts + 3) / 4 * 4;
    const Node node = editor_.node(index);
    std::vector<ValueId> results;
    for (int64_t first = 0; first < columns; first += part) {
      const int64_t count = std::min(part, columns - first);
      const std::string suffix = "/part" + std::to_string(first / part);
      auto op = std::make_shared<BlockProduct>(product);
      op->weights.columns = count;
      std::vector<ValueId> inputs = node.inputs;
      for (size_t i = 1; i < inputs.size(); ++i) {
        if (inputs[i] == kNoValue) continue;
        HostTensor slice = slice_of_runs(*editor_.constant(inputs[i]), columns, first, count);
        if (i == 4) slice = slice.reshaped({count});
        inputs[i] = editor_.add_constant(name_of(inputs[i]) + suffix, std::move(slice));
      }
      TensorType type = editor_.type(node.outputs[0]);
      type.shape.back() = count;
      results.push_back(editor_.add_value(name_of(node.outputs[0]) + suffix, type));
      editor_.insert_before(index, {node.name + suffix, std::move(op), std::move(inputs), {results.back()}});
    }
    auto concat = std::make_shared<Concat>();
    concat->axis = static_cast<int64_t>(editor_.type(node.outputs[0]).shape.size()) - 1;
    editor_.replace(index, std::move(concat), std::move(results));
  }

  // The means and the two products, each of which may be split in turn.
  void split_excitation(size_t index) {
    const Node node = editor_.node(index);
    const auto& excite = dynamic_cast<const SqueezeExcite&>(*node.op);
    TensorType type = editor_.type(node.inputs[0]);
    std::fill(type.shape.begin() + 2, type.shape.end(), 1);
    auto pool = std::make_shared<GlobalPool>();
    pool->kind = PoolKind::average;
    const ValueId means = editor_.add_value(node.name + "/means", type);
    editor_.insert_before(index, {node.name + "/means", std::move(pool), {node.inputs[0]}, {means}});
    type.shape[1] = editor_.constant(node.inputs[1])->shape()[0];
    const ValueId hidden = editor_.add_value(node.name + "/hidden", type);
    const auto input = [&](size_t slot) { return has_input(node, slot) ? node.inputs[slot] : kNoValue; };
    split_if_large(editor_.insert_before(
        index, {node.name + "/hidden", product(excite.hidden), {means, input(1), input(2)}, {hidden}}));
    editor_.replace(index, product(excite.gate), {hidden, input(3), input(4)});
    split_if_large(index);
  }

  static std::shared_ptr<const Operator> product(const Activation& activation) {
    auto conv = std::make_shared<Conv>();
    conv->activation = activation;
    return conv;
  }

  // The output channels of each part but the last; 0 for a layer that stays whole.
  int64_t part_channels(const Layer& layer) const {
    if (bytes_of(layer.channels + limits_.padding_channels, layer.channel_elements) <= limits_.layer)
      return 0;
    const auto most = 4 * static_cast<int64_t>(limits_.part / bytes_of(4, layer.channel_elements)) -
                      limits_.padding_channels;
    if (most <= 0 || most >= layer.channels) return 0;
    const int64_t parts = (layer.channels + most - 1) / most;
    return ((layer.channels + parts - 1) / parts + 3) / 4 * 4;
  }

  // The operator without its activation, and the activation.
  template <typename Op>
  static std::pair<std::shared_ptr<const Operator>, Activation> without_activation(const Op& op) {
    auto bare = std::make_shared<Op>(op);
    const Activation activation = std::exchange(bare->activation, {});
    return {std::move(bare), activation};
  }

  // A Conv or Gemm whose residual and activation become an Add of all channels at once.
  void split_without_residual(size_t index, const Layer& layer, int64_t part) {
    const Node node = editor_.node(index);
    const auto* conv = dynamic_cast<const Conv*>(node.op.get());
    auto [bare, activation] =
        conv ? without_activation(*conv) : without_activation(dynamic_cast<const Gemm&>(*node.op));
    auto add = std::make_shared<Binary>();
    add->activation = activation;
    const ValueId product =
        editor_.add_value(name_of(node.outputs[0]) + "/product", editor_.type(node.outputs[0]));
    std::vector<ValueId> inputs = node.inputs;
    const ValueId residual = std::exchange(inputs[3], kNoValue);
    if (inputs.size() == 4) inputs.pop_back();
    const size_t sums =
        editor_.insert_before(index, {node.name, std::move(bare), std::move(inputs), {product}});
    split(sums, layer, part);
    editor_.replace(index, {node.name + "/residual", std::move(add), {product, residual}, node.outputs});
  }

  // The operator of `count` output channels.
  static std::shared_ptr<const Operator> part_of(const std::shared_ptr<const Operator>& op, int64_t first,
                                                 int64_t count) {
    const auto* conv = dynamic_cast<const Conv*>(op.get());
    if (!conv || !conv->fixed_point) return op;
    auto part = std::make_shared<Conv>(*conv);
    part->fixed_point = std::make_shared<FixedPoint>(
        conv->fixed_point->of_channels(static_cast<size_t>(first), static_cast<size_t>(count)));
    return part;
  }

  // The node becomes a Concat of its parts.
  void split(size_t index, const Layer& layer, int64_t part) {
    const Node node = editor_.node(index);
    const bool slices_bias = has_input(node, 2) && layer.channels > 1 &&
                             editor_.constant(node.inputs[2])->elements() == layer.channels;
    std::vector<ValueId> results;
    for (int64_t first = 0; first < layer.channels; first += part) {
      const int64_t count = std::min(part, layer.channels - first);
      const std::string suffix = "/part" + std::to_string(first / part);
      Node part_node = node;
      part_node.name += suffix;
      part_node.op = part_of(node.op, first, count);
      part_node.inputs[1] = add_slice(node.inputs[1], suffix, layer.weights_axis, first, count);
      if (slices_bias) {
        const size_t axis = editor_.type(node.inputs[2]).shape.size() - 1;
        part_node.inputs[2] = add_slice(node.inputs[2], suffix, axis, first, count);
      }
      TensorType type = editor_.type(node.outputs[0]);
      type.shape[static_cast<size_t>(layer.output_axis)] = count;
      results.push_back(editor_.add_value(name_of(node.outputs[0]) + suffix, type));
      part_node.outputs = {results.back()};
      editor_.insert_before(index, std::move(part_node));
    }
    auto concat = std::make_shared<Concat>();
    concat->axis = layer.output_axis;
    editor_.replace(index, std::move(concat), std::move(results));
  }

  ValueId add_slice(ValueId whole, const std::string& suffix, size_t axis, int64_t first, int64_t count) {
    return editor_.add_constant(name_of(whole) + suffix, slice(*editor_.constant(whole), axis, first, count));
  }

  const std::string& name_of(ValueId value) const { return editor_.graph().values[value].name; }

  GraphEditor editor_;
  LayerLimits limits_;
  uint64_t element_bytes_;
};

}  // namespace

void split_large_layers(Graph& graph, const LayerLimits& limits, uint64_t element_bytes) {
  if (!Splitter(graph, limits, element_bytes).run()) return;
  remove_dead_code(graph);
  check(graph);
}

}  // namespace vellum
