// DynamicQuantizeLinear, the ConvInteger or MatMulInteger of its integers with constant weights, Cast to
// floats, Mul by both scales and Add of a bias become DynamicSteps and ScaledConv. This is the form in which
// ONNX Runtime's quantize_dynamic() writes layers. Its older releases divided the bias by both scales, and
// added it to the integers (files of ddddocr have this form).
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "graph/operators/conv/scaled_conv.hpp"
#include "graph/operators/elementwise/cast.hpp"
#include "graph/operators/elementwise/dynamic_steps.hpp"
#include "graph/operators/elementwise/quantize.hpp"
#include "graph/operators/matmul/quantized.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "passes/fuse/hybrid_batches.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/build.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// A layer of integers, and what follows it.
struct Layer {
  size_t quantize = 0;  // DynamicQuantizeLinear
  ValueId sums = kNoValue;
  bool is_product = false;
  Conv conv;
  HostTensor weights;  // less their zero points, as those of a Conv
  std::vector<float> factors, bias;
  bool bias_in_steps = false;  // ScaledConv's
  size_t last = 0;             // the node whose output the ScaledConv computes
};

class DynamicQuantizationFuser {
 public:
  explicit DynamicQuantizationFuser(GraphEditor& editor) : editor_(editor) {}

  bool run() {
    bool changed = false;
    for (const size_t index : editor_.nodes())
      if (auto layer = match(index)) {
        replace(*layer);
        changed = true;
      }
    return changed;
  }

 private:
  const Shape& shape(ValueId value) const { return editor_.type(value).shape; }

  std::optional<Layer> match(size_t index) const {
    std::optional<Layer> layer;
    if (const auto conv = match_node<ConvInteger>(editor_, index))
      layer = match_conv(conv);
    else if (const auto product = match_node<MatMulInteger>(editor_, index))
      layer = match_product(product);
    if (!layer || !fits_in_bytes(layer->weights)) return std::nullopt;
    layer->sums = editor_.node(index).outputs[0];
    return match_scales(*layer) ? layer : std::nullopt;
  }

  // The DynamicQuantizeLinear whose integers and zero point the layer reads.
  std::optional<size_t> match_quantize(const Node& node) const {
    const auto quantize = match_producer<DynamicQuantizeLinear>(editor_, node.inputs[0]);
    if (!quantize || quantize.node->outputs.size() < 3 || quantize.node->outputs[0] != node.inputs[0])
      return std::nullopt;
    if (node.inputs.size() < 3 || node.inputs[2] != quantize.node->outputs[2]) return std::nullopt;
    if (editor_.type(quantize.input()).dtype != DType::f32) return std::nullopt;
    return quantize.index;
  }

  // Input 1 less its zero points, input 3: one, or one for each index of dimension `axis`.
  std::optional<HostTensor> match_weights(const Node& node, size_t axis) const {
    const HostTensor* weights = editor_.constant(node.inputs[1]);
    if (weights == nullptr) return std::nullopt;
    std::vector<float> values = weights->to_floats();
    if (node.inputs.size() > 3 && node.inputs[3] != kNoValue) {
      const HostTensor* zero = editor_.constant(node.inputs[3]);
      if (zero == nullptr || zero->elements() == 0) return std::nullopt;
      const std::vector<float> zeros = zero->to_floats();
      const Shape& of = weights->shape();
      const auto inner = static_cast<size_t>(zeros.size() == 1 ? 1 : product(of, axis + 1, of.size()));
      for (size_t i = 0; i < values.size(); ++i) values[i] -= zeros[i / inner % zeros.size()];
    }
    return HostTensor::f32(weights->shape(), values);
  }

  static bool fits_in_bytes(const HostTensor& weights) {
    const std::vector<float> values = weights.to_floats();
    if (values.empty()) return false;
    const auto [low, high] = std::ranges::minmax(values);
    return std::max(high, 0.0f) - std::min(low, 0.0f) <= 255.0f;
  }

  std::optional<Layer> match_conv(const Match<ConvInteger>& conv) const {
    const auto quantize = match_quantize(*conv.node);
    auto weights = match_weights(*conv.node, 0);
    if (!quantize || !weights || shape(conv.input()).size() > 4) return std::nullopt;
    if (element_count(shape(conv.input())) == 0) return std::nullopt;
    Layer layer{.quantize = *quantize, .conv = conv->conv, .weights = std::move(*weights)};
    return layer;
  }

  // All rows of A are multiplied with one matrix, which becomes that of a 1x1 convolution.
  std::optional<Layer> match_product(const Match<MatMulInteger>& product) const {
    const auto quantize = match_quantize(*product.node);
    const auto weights = match_weights(*product.node, 1);
    if (!quantize || !weights || weights->shape().size() != 2 || shape(product.input()).size() < 2)
      return std::nullopt;
    if (element_count(shape(product.input())) == 0) return std::nullopt;
    const Ints by_column{weights->shape()[1], weights->shape()[0]};
    HostTensor rows = gather_strided(*weights, by_column, Ints{1, weights->shape()[1]}, 0);
    Layer layer{.quantize = *quantize,
                .is_product = true,
                .weights = rows.reshaped({by_column[0], by_column[1], 1, 1})};
    return layer;
  }

  // One number for each channel of the layer's output, from a constant that is broadcast to it.
  std::optional<std::vector<float>> of_channels(ValueId value, const Layer& layer) const {
    const HostTensor* constant = editor_.constant(value);
    if (constant == nullptr || constant->dtype() != DType::f32) return std::nullopt;
    const auto channels = static_cast<size_t>(layer.weights.shape()[0]);
    const std::vector<float> values = constant->to_floats();
    if (constant->shape().size() > shape(layer.sums).size()) return std::nullopt;
    if (values.size() == 1) return std::vector<float>(channels, values[0]);
    return is_of_channels(constant->shape(), layer) ? std::optional(values) : std::nullopt;
  }

  // Cast, Mul and Add after the sums, or Add, Cast and Mul.
  bool match_scales(Layer& layer) const {
    auto reader = editor_.only_reader(layer.sums);
    std::optional<WholeBias> bias;
    if (reader && match_binary_node(editor_, *reader, BinaryKind::add)) {
      bias = match_whole_bias(layer, *reader);
      if (!bias) return false;
      reader = editor_.only_reader(editor_.node(*reader).outputs[0]);
    }
    const auto cast = reader ? match_node<Cast>(editor_, *reader) : Match<Cast>{};
    if (!cast || editor_.type(cast.node->outputs[0]).dtype != DType::f32) return false;
    const ValueId floats = cast.node->outputs[0];
    const auto multiply = editor_.only_reader(floats);
    if (!multiply || !match_binary_node(editor_, *multiply, BinaryKind::mul)) return false;
    const Node& scales = editor_.node(*multiply);
    const ValueId scale = scales.inputs[scales.inputs[0] == floats ? 1 : 0];
    if (!match_factors(layer, scale) || shape(scales.outputs[0]) != shape(layer.sums)) return false;
    layer.last = *multiply;
    if (!bias) {
      match_bias(layer);
      return true;
    }
    layer.bias = std::move(bias->values);
    layer.bias_in_steps = true;
    return bias->factors == layer.factors && std::ranges::find(layer.factors, 0.0f) == layer.factors.end();
  }

  // A bias in steps of the sums, which older quantisers of ONNX Runtime add to the integers.
  struct WholeBias {
    std::vector<float> values, factors;
  };

  // Add of Cast(Floor(bias / scale)), reshaped to the channels.
  std::optional<WholeBias> match_whole_bias(const Layer& layer, size_t add) const {
    const Node& node = editor_.node(add);
    if (shape(node.outputs[0]) != shape(layer.sums)) return std::nullopt;
    const ValueId other = node.inputs[node.inputs[0] == layer.sums ? 1 : 0];
    if (!is_of_channels(shape(other), layer)) return std::nullopt;
    const auto cast = match_producer<Cast>(editor_, before_reshape(other));
    if (!cast || editor_.type(cast.node->outputs[0]).dtype != DType::i32) return std::nullopt;
    const auto whole = match_unary(editor_, cast.input(), UnaryKind::floor);
    const auto quotient = whole ? match_binary(editor_, *whole, BinaryKind::div) : std::nullopt;
    const HostTensor* bias = quotient ? editor_.constant((*quotient)[0]) : nullptr;
    const int64_t channels = layer.weights.shape()[0];
    if (!bias || bias->elements() != channels || shape(*whole) != bias->shape()) return std::nullopt;
    const auto factor = match_factor(layer, (*quotient)[1]);
    if (!factor) return std::nullopt;
    std::vector<float> factors{1.0f};
    if (*factor != kNoValue) {
      const HostTensor* constant = editor_.constant(*factor);
      if (!constant || constant->dtype() != DType::f32) return std::nullopt;
      factors = constant->to_floats();
    }
    if (factors.size() == 1) factors.assign(static_cast<size_t>(channels), factors.front());
    return WholeBias{bias->to_floats(), std::move(factors)};
  }

  ValueId before_reshape(ValueId value) const {
    const auto reshape = match_producer<Reshape>(editor_, value);
    return reshape ? reshape.input() : value;
  }

  // Whether the shape is broadcast to the sums along all dimensions but that of the channels.
  bool is_of_channels(const Shape& of, const Layer& layer) const {
    const Shape& y = shape(layer.sums);
    const size_t axis = layer.is_product ? y.size() - 1 : 1, missing = y.size() - of.size();
    return of.size() <= y.size() && axis >= missing && of[axis - missing] == y[axis] &&
           element_count(of) == y[axis];
  }

  // The constant that the scale of the quantisation is multiplied by; kNoValue if there is none.
  std::optional<ValueId> match_factor(const Layer& layer, ValueId scale) const {
    const ValueId dynamic = editor_.node(layer.quantize).outputs[1];
    if (scale == dynamic) return kNoValue;
    const auto product = match_binary(editor_, scale, BinaryKind::mul);
    if (!product) return std::nullopt;
    const size_t slot = (*product)[0] == dynamic ? 0 : 1;
    return (*product)[slot] == dynamic ? std::optional((*product)[1 - slot]) : std::nullopt;
  }

  bool match_factors(Layer& layer, ValueId scale) const {
    const auto factor = match_factor(layer, scale);
    if (!factor) return false;
    if (*factor == kNoValue) {
      layer.factors.assign(static_cast<size_t>(layer.weights.shape()[0]), 1.0f);
      return true;
    }
    auto factors = of_channels(*factor, layer);
    if (!factors) return false;
    layer.factors = std::move(*factors);
    return true;
  }

  void match_bias(Layer& layer) const {
    const ValueId y = editor_.node(layer.last).outputs[0];
    const auto add = editor_.only_reader(y);
    if (!add || !match_binary_node(editor_, *add, BinaryKind::add)) return;
    const Node& node = editor_.node(*add);
    const ValueId other = node.inputs[node.inputs[0] == y ? 1 : 0];
    auto bias = of_channels(other, layer);
    if (!bias || shape(node.outputs[0]) != shape(y)) return;
    layer.bias = std::move(*bias);
    layer.last = *add;
  }

  // The integers and the scale of a DynamicQuantizeLinear, which its layers share.
  std::pair<ValueId, ValueId> steps_of(size_t index, const Layer& layer) {
    const auto key = std::pair{layer.quantize, layer.is_product};
    if (const auto known = steps_.find(key); known != steps_.end()) return known->second;
    const std::string name = editor_.node(layer.quantize).name;
    ValueId x = editor_.node(layer.quantize).inputs[0];
    const size_t rank = shape(x).size();
    if (layer.is_product && rank != 2) {
      const Shape rows{element_count(shape(x)) / shape(x).back(), shape(x).back()};
      x = editor_.compute_before(layer.quantize, name + "/rows", reshape_to(rows), {x}, {DType::f32, rows});
    }
    const ValueId steps = editor_.add_value(name + "/steps", editor_.type(x)),
                  scale = editor_.add_value(name + "/scale", {DType::i32, {1}});
    editor_.insert_before(index, {name, std::make_shared<DynamicSteps>(), {x}, {steps, scale}});
    return steps_[key] = {steps, scale};
  }

  void replace(const Layer& layer) {
    const auto [steps, scale] = steps_of(*editor_.producer(layer.sums), layer);
    auto op = std::make_shared<ScaledConv>();
    op->conv = layer.conv;
    op->bias_in_steps = layer.bias_in_steps;
    const std::string name = editor_.node(*editor_.producer(layer.sums)).name;
    const auto channels = layer.weights.shape()[0];
    const ValueId weights = editor_.add_constant(name + "/weights", layer.weights);
    const ValueId bias = layer.bias.empty()
                             ? kNoValue
                             : editor_.add_constant(name + "/bias", HostTensor::f32({channels}, layer.bias));
    const ValueId factors =
        editor_.add_constant(name + "/factors", HostTensor::f32({channels}, layer.factors));
    std::vector<ValueId> inputs{steps, weights, bias, scale, factors};
    const ValueId y = editor_.node(layer.last).outputs[0];
    const Shape y_shape = shape(y);
    if (!layer.is_product || y_shape.size() == 2) return editor_.replace(layer.last, op, std::move(inputs));
    const Shape rows{element_count(y_shape) / y_shape.back(), y_shape.back()};
    const ValueId matrix =
        editor_.compute_before(layer.last, name, op, std::move(inputs), {DType::f32, rows});
    editor_.replace(layer.last, reshape_to(y_shape), {matrix});
  }

  GraphEditor& editor_;
  std::map<std::pair<size_t, bool>, std::pair<ValueId, ValueId>> steps_;
};

}  // namespace

void fuse_dynamic_quantization(Graph& graph) {
  GraphEditor editor(graph);
  const bool fused = DynamicQuantizationFuser(editor).run(), changed = dequantise_batches(editor) || fused;
  editor.commit();
  if (changed) remove_dead_code(graph);
}

}  // namespace vellum
