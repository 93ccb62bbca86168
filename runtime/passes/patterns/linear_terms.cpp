#include "passes/patterns/linear_terms.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/gather.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/slice.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

bool moves_elements(const Operator& op) {
  return dynamic_cast<const Transpose*>(&op) != nullptr || dynamic_cast<const Slice*>(&op) != nullptr ||
         dynamic_cast<const Gather*>(&op) != nullptr || dynamic_cast<const Split*>(&op) != nullptr ||
         dynamic_cast<const ReshapeFamily*>(&op) != nullptr;
}

// The operands of a product with a constant.
struct ScaledValue {
  ValueId value = kNoValue;
  const HostTensor* constant = nullptr;
};

std::optional<ScaledValue> match_scaled_value(const GraphEditor& editor, ValueId value) {
  const auto operands = match_binary(editor, value, BinaryKind::mul);
  for (size_t slot = 0; operands && slot < 2; ++slot) {
    const HostTensor* constant = editor.constant((*operands)[1 - slot]);
    if (constant != nullptr && editor.type((*operands)[slot]) == editor.type(value) &&
        editor.constant((*operands)[slot]) == nullptr)
      return ScaledValue{(*operands)[slot], constant};
  }
  return std::nullopt;
}

}  // namespace

bool is_product_with_table(const GraphEditor& editor, ValueId value) {
  const auto product = match_scaled_value(editor, value);
  return product && product->constant->elements() > 1;
}

LinearTerms LinearTrace::source(ValueId value) const {
  const Shape& shape = editor_.type(value).shape;
  std::vector<int64_t> places(static_cast<size_t>(element_count(shape)));
  std::iota(places.begin(), places.end(), int64_t{0});
  const HostTensor index = HostTensor::i64(shape, places), zeros(DType::f32, shape);
  const HostTensor ones = HostTensor::f32(shape, std::vector<float>(places.size(), 1.0f));
  return {value, {index, index}, {ones, zeros}};
}

const LinearTerms& LinearTrace::terms_of(ValueId value) {
  if (const auto found = known_.find(value); found != known_.end()) return found->second;
  auto terms = through_node(value);
  return known_[value] = terms ? std::move(*terms) : source(value);
}

std::optional<LinearTerms> LinearTrace::through_node(ValueId value) {
  const auto index = editor_.producer(value);
  if (!index) return std::nullopt;
  const Node& node = editor_.node(*index);
  if (node.inputs.empty() || editor_.constant(node.inputs[0]) != nullptr)
    return match_scaled_value(editor_, value) ? scaled(node, value) : std::nullopt;
  if (moves_elements(*node.op)) return moved(node, value);
  if (dynamic_cast<const Concat*>(node.op.get()) != nullptr) return joined(node);
  if (const auto negated = match_unary(editor_, value, UnaryKind::neg)) return scaled(node, value);
  if (match_scaled_value(editor_, value)) return scaled(node, value);
  if (match_binary(editor_, value, BinaryKind::add) || match_binary(editor_, value, BinaryKind::sub))
    return added(node, value);
  return std::nullopt;
}

std::optional<LinearTerms> LinearTrace::moved(const Node& node, ValueId value) {
  for (size_t slot = 1; slot < node.inputs.size(); ++slot)
    if (!is_constant_or_absent(editor_, node, slot)) return std::nullopt;
  const auto output =
      static_cast<size_t>(std::find(node.outputs.begin(), node.outputs.end(), value) - node.outputs.begin());
  LinearTerms terms = terms_of(node.inputs[0]);
  const auto move = [&](HostTensor& tensor) {
    std::vector<const HostTensor*> inputs{&tensor};
    for (size_t slot = 1; slot < node.inputs.size(); ++slot)
      inputs.push_back(node.inputs[slot] == kNoValue ? nullptr : editor_.constant(node.inputs[slot]));
    tensor = HostTensor(node.op->evaluate(inputs).at(output));
  };
  for (size_t k = 0; k < 2; ++k) move(terms.index[k]), move(terms.factor[k]);
  return terms;
}

std::optional<LinearTerms> LinearTrace::joined(const Node& node) {
  std::vector<const LinearTerms*> parts;
  for (const ValueId input : node.inputs) {
    if (editor_.constant(input) != nullptr) return std::nullopt;
    parts.push_back(&terms_of(input));
    if (parts.back()->source != parts.front()->source) return std::nullopt;
  }
  LinearTerms terms{parts.front()->source, {}, {}};
  const auto join = [&](const auto& pick) {
    std::vector<const HostTensor*> tensors;
    for (const LinearTerms* part : parts) tensors.push_back(&pick(*part));
    return node.op->evaluate(tensors).front();
  };
  for (size_t k = 0; k < 2; ++k) {
    terms.index[k] = join([k](const LinearTerms& part) -> const HostTensor& { return part.index[k]; });
    terms.factor[k] = join([k](const LinearTerms& part) -> const HostTensor& { return part.factor[k]; });
  }
  return terms;
}

// A negation or a product with a constant.
std::optional<LinearTerms> LinearTrace::scaled(const Node& node, ValueId value) {
  const auto product = match_scaled_value(editor_, value);
  LinearTerms terms = terms_of(product ? product->value : node.inputs[0]);
  const HostTensor constant =
      product ? cast(*product->constant, DType::f32) : HostTensor::f32({}, std::vector<float>{-1.0f});
  Binary multiply;
  multiply.kind = BinaryKind::mul;
  for (HostTensor& factor : terms.factor)
    factor =
        HostTensor(multiply.evaluate(std::array{static_cast<const HostTensor*>(&factor), &constant}).front());
  return terms;
}

// Two products with tables alone: sums in general lead back through whole networks.
std::optional<LinearTerms> LinearTrace::added(const Node& node, ValueId value) {
  for (const ValueId input : node.inputs)
    if (!is_product_with_table(editor_, input) || editor_.type(input) != editor_.type(value))
      return std::nullopt;
  const LinearTerms a = terms_of(node.inputs[0]);
  LinearTerms b = terms_of(node.inputs[1]);
  const auto is_zero = [](float x) { return x == 0.0f; };
  for (const LinearTerms* terms : {&a, static_cast<const LinearTerms*>(&b)})
    if (!std::ranges::all_of(terms->factor[1].as<float>(), is_zero)) return std::nullopt;
  if (a.source != b.source) return std::nullopt;
  if (match_binary(editor_, value, BinaryKind::sub))
    for (float& factor : b.factor[0].mutable_as<float>()) factor = -factor;
  return LinearTerms{a.source, {a.index[0], b.index[0]}, {a.factor[0], b.factor[0]}};
}

}  // namespace vellum
