// x + x * scale of each channel, as in global response normalisation (Woo et al., ConvNeXt V2,
// arXiv 2301.00808), becomes x * (scale + 1), which a 1x1 Conv can apply as it reads x.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/operators/conv/conv.hpp"
#include "passes/fuse/channel_affine.hpp"
#include "passes/fuse/channel_scale.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/build.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

struct ResidualScale {
  ValueId x = kNoValue;
  std::vector<ValueId> factors;              // each of one element or one per channel
  std::optional<std::vector<double>> shift;  // of each channel, added to the product
};

// Returns whether `value` broadcasts to one element per channel of the images of x.
bool is_factor(const GraphEditor& editor, ValueId value, const TensorType& x) {
  const TensorType& type = editor.type(value);
  if (type.dtype != x.dtype || type.shape.size() != x.shape.size()) return false;
  for (size_t axis = 0; axis < type.shape.size(); ++axis)
    if (type.shape[axis] != 1 && (axis > 1 || type.shape[axis] != x.shape[axis])) return false;
  return true;
}

// Matches product = x * factor * factor ..., whose intermediate results nothing else reads.
std::optional<ResidualScale> match_scaled(const GraphEditor& editor, ValueId x, ValueId product) {
  ResidualScale found{x, {}, std::nullopt};
  const TensorType& type = editor.type(x);
  while (product != x) {
    const auto source = editor.producer(product);
    if (!source || !editor.only_reader(product)) return std::nullopt;
    const auto multiply = match_binary_node(editor, *source, BinaryKind::mul);
    if (!multiply || multiply->fixed_point) return std::nullopt;
    const size_t whole = editor.type(multiply.input(0)) == type ? 0 : 1;
    const ValueId factor = multiply.input(1 - whole);
    if (editor.type(multiply.input(whole)) != type || !is_factor(editor, factor, type)) return std::nullopt;
    found.factors.push_back(factor);
    product = multiply.input(whole);
  }
  return found;
}

std::optional<ResidualScale> match_residual_scale(const GraphEditor& editor, size_t index) {
  const auto sum = match_binary_node(editor, index, BinaryKind::add);
  if (!sum || sum->fixed_point || !is_float_value(editor, sum.node->outputs[0])) return std::nullopt;
  const TensorType& type = editor.type(sum.node->outputs[0]);
  if (type.shape.size() < 3) return std::nullopt;
  for (const size_t slot : {0u, 1u}) {
    const ValueId x = sum.input(slot);
    ValueId product = sum.input(1 - slot);
    if (editor.type(x) != type || x == product) continue;
    std::optional<std::vector<double>> shift;
    const auto source = editor.producer(product);
    const auto shifted = source ? match_binary_constant(editor, *source) : std::nullopt;
    if (shifted && shifted->op->kind == BinaryKind::add && editor.only_reader(product)) {
      shift = per_channel(*shifted->constant, type.shape);
      if (!shift) continue;
      product = editor.node(*source).inputs[shifted->data_slot];
    }
    auto found = match_scaled(editor, x, product);
    if (!found) continue;
    found->shift = std::move(shift);
    return found;
  }
  return std::nullopt;
}

// Adds what the Conv at `index` would compute from a constant for each channel of its input to its bias.
// Returns false, and changes nothing, where its bias is not constant.
bool add_to_bias(GraphEditor& editor, size_t index, const std::vector<double>& shift) {
  const auto conv = match_node<Conv>(editor, index);
  if (conv->fixed_point || !is_constant_or_absent(editor, *conv.node, 2)) return false;
  std::vector<ValueId> inputs = conv.node->inputs;
  const HostTensor& weights = *editor.constant_input(index, 1);
  const std::vector<float> elements = weights.to_floats();
  const bool has_bias = inputs.size() > 2 && inputs[2] != kNoValue;
  std::vector<float> bias = has_bias ? editor.constant(inputs[2])->to_floats()
                                     : std::vector<float>(static_cast<size_t>(weights.shape()[0]));
  for (size_t row = 0; row < bias.size(); ++row) {
    double sum = double{bias[row]};
    for (size_t c = 0; c < shift.size(); ++c) sum += shift[c] * double{elements[row * shift.size() + c]};
    bias[row] = static_cast<float>(sum);
  }
  inputs.resize(std::max<size_t>(inputs.size(), 3), kNoValue);
  const DType dtype = has_bias ? editor.type(inputs[2]).dtype : weights.dtype();
  const std::string name = conv.node->name + "/shifted_bias";
  inputs[2] =
      editor.add_constant(name, HostTensor::from<float>(dtype, {static_cast<int64_t>(bias.size())}, bias));
  editor.set_inputs(index, std::move(inputs));
  return true;
}

// Computes the product of the factors plus one before node `index`.
ValueId factors_plus_one(GraphEditor& editor, size_t index, const std::vector<ValueId>& factors,
                         const TensorType& type) {
  const std::string name = editor.node(index).name + "/factor";
  if (factors.size() == 1) {
    const ValueId one =
        editor.add_constant(name + "/one", HostTensor::from<float>(type.dtype, {}, std::vector<float>{1.0f}));
    return editor.compute_before(index, name, std::make_shared<Binary>(), {factors[0], one}, type);
  }
  ValueId product = factors[0];
  for (size_t i = 1; i < factors.size(); ++i) {
    auto multiply = std::make_shared<Binary>();
    multiply->kind = BinaryKind::mul;
    if (i + 1 == factors.size()) multiply->activation.shift = 1.0f;
    Shape shape = editor.type(product).shape;
    for (size_t axis = 0; axis < shape.size(); ++axis)
      shape[axis] = std::max(shape[axis], editor.type(factors[i]).shape[axis]);
    product = editor.compute_before(index, name, std::move(multiply), {product, factors[i]},
                                    {type.dtype, std::move(shape)});
  }
  return product;
}

void factor(GraphEditor& editor, size_t index) {
  const auto found = match_residual_scale(editor, index);
  const ValueId y = editor.node(index).outputs[0];
  const auto conv = found ? editor.only_reader(y) : std::nullopt;
  if (!conv || editor.node(*conv).inputs[0] != y || !can_scale_input(editor, *conv, false)) return;
  const bool one_for_each_channel = std::ranges::any_of(
      found->factors, [&](ValueId factor) { return is_channel_scale(editor, factor, found->x); });
  if (!one_for_each_channel || (found->shift && !add_to_bias(editor, *conv, *found->shift))) return;
  TensorType type = editor.type(found->x);
  std::fill(type.shape.begin() + 2, type.shape.end(), 1);
  const ValueId scale = factors_plus_one(editor, index, found->factors, type);
  editor.replace(index, binary_of(BinaryKind::mul), {found->x, scale});
}

}  // namespace

void factor_residual_scale(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) factor(editor, index);
  editor.commit();
  remove_dead_code(graph);
}

}  // namespace vellum
