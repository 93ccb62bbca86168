#include "import/tflite/call.hpp"

#include <array>

#include "graph/operators/movement/transpose.hpp"
#include "import/tflite/integer_results.hpp"

namespace vellum::tflite {

int32_t Call::input(size_t index) const {
  if (!has_input(index)) refuse_model("input " + std::to_string(index) + " is missing");
  return inputs[index];
}

int32_t Call::output(size_t index) const {
  if (index >= outputs.size()) refuse_model("output " + std::to_string(index) + " is missing");
  return outputs[index];
}

Ints Call::custom_numbers(size_t count) const {
  const auto* bytes = op.custom_options();
  if (bytes == nullptr || bytes->size() < 4 * count) refuse_model("its options are missing");
  Ints numbers;
  for (size_t i = 0; i < count; ++i) {
    uint32_t bits = 0;
    for (size_t k = 0; k < 4; ++k) {
      bits |= static_cast<uint32_t>(bytes->Get(static_cast<flatbuffers::uoffset_t>(4 * i + k))) << (8 * k);
    }
    numbers.push_back(static_cast<int32_t>(bits));
  }
  return numbers;
}

Ints Call::constant_of_rank(size_t index, size_t rank, const char* what) const {
  Ints values = writer.constant_ints(input(index), what);
  if (values.size() != rank) {
    refuse_model(std::string(what) + " has " + std::to_string(values.size()) + " values for " +
                 std::to_string(rank) + " dimensions");
  }
  return values;
}

namespace {

// Returns the activation; nothing for FusedActivation::none.
std::shared_ptr<const Unary> fused_operator(schema::FusedActivation activation) {
  using schema::FusedActivation;
  auto unary = std::make_shared<Unary>();
  switch (activation) {
    case FusedActivation::none:
      return nullptr;
    case FusedActivation::relu:
      unary->activation = {ActivationKind::relu};
      return unary;
    case FusedActivation::relu_n1_to_1:
      unary->activation = {ActivationKind::clip, -1.0f, 1.0f};
      return unary;
    case FusedActivation::relu6:
      unary->activation = {ActivationKind::clip, 0.0f, 6.0f};
      return unary;
    case FusedActivation::tanh:
      unary->activation = {ActivationKind::tanh};
      return unary;
    default:
      refuse_unsupported("fused activation " + std::to_string(static_cast<int>(activation)) +
                         " is not supported");
  }
}

}  // namespace

void Call::emit(std::shared_ptr<const Operator> made, std::vector<ValueId> values, bool image,
                schema::FusedActivation activation) const {
  if (auto fused = fused_operator(activation)) {
    if (auto both = with_result_in_integers(*made, fused->activation)) {
      made = std::move(both);
    } else {
      values = {emit_inner(std::move(made), std::move(values))};
      made = std::move(fused);
    }
  }
  writer.add_node(std::move(made), std::move(values), {writer.define(output(), image)});
}

ValueId Call::emit_inner(std::shared_ptr<const Operator> made, std::vector<ValueId> values,
                         schema::FusedActivation activation) const {
  if (auto fused = fused_operator(activation)) {
    values = {emit_inner(std::move(made), std::move(values))};
    made = std::move(fused);
  }
  const ValueId id = writer.add_value(writer.name_of(output()) + "_inner");
  writer.add_node(std::move(made), std::move(values), {id});
  return id;
}

ValueId Call::emit_transposed(ValueId value, Ints order) const {
  auto transpose = std::make_shared<Transpose>();
  transpose->perm = std::move(order);
  return emit_inner(std::move(transpose), {value});
}

bool Call::prefers_image() const {
  if (writer.rank(output()) != 4) return false;
  bool held = false;
  for (const int32_t id : inputs) {
    if (id == kLeftOut || writer.constant(id) != nullptr) continue;
    // Computed values of lower rank stay in the file's order, and so do the values that they broadcast to.
    if (writer.rank(id) != 4) return false;
    held = held || writer.held_as_image(id);
  }
  return held;
}

ValueId Call::broadcast_input(size_t index, bool image) const {
  const int32_t id = input(index);
  const HostTensor* constant = writer.constant(id);
  if (image && constant != nullptr && constant->shape().size() < 4) {
    return writer.add_constant(writer.name_of(id) + "_nchw", to_image_order(*constant));
  }
  return writer.in_order(id, image);
}

ValueId Call::scalar(float value) const {
  return writer.add_constant(writer.name_of(output()) + "_constant", HostTensor::f32({}, std::array{value}));
}

ValueId Call::ints(const Ints& values, const char* what) const {
  return writer.add_constant(writer.name_of(output()) + "_" + what,
                             HostTensor::i64({static_cast<int64_t>(values.size())}, values));
}

ValueId Call::computed_ints(size_t index) const {
  return emit_inner(cast_to(DType::i64), {writer.in_file_order(input(index))});
}

std::shared_ptr<Cast> cast_to(DType dtype) {
  auto op = std::make_shared<Cast>();
  op->to = dtype;
  return op;
}

std::shared_ptr<Binary> make_binary(BinaryKind kind) {
  auto op = std::make_shared<Binary>();
  op->kind = kind;
  return op;
}

std::shared_ptr<Unary> make_unary(UnaryKind kind) {
  auto op = std::make_shared<Unary>();
  op->kind = kind;
  return op;
}

}  // namespace vellum::tflite
