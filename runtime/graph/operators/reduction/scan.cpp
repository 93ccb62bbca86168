#include "graph/operators/reduction/scan.hpp"

namespace vellum {

namespace {

size_t scan_axis(Inputs inputs) {
  const Ints axis = constant_ints(inputs, 1, "axis");
  if (axis.size() != 1) refuse_model("axis has " + std::to_string(axis.size()) + " values");
  return normalize_axis(axis[0], inputs[0].type.shape.size());
}

}  // namespace

std::vector<TensorType> CumSum::infer(Inputs inputs) const {
  const TensorType& x = input_type(inputs, 0, "x");
  if (x.dtype == DType::boolean) refuse_model("CumSum of bool");
  scan_axis(inputs);
  return {x};
}

std::vector<HostTensor> CumSum::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const size_t at = scan_axis(known_inputs(inputs));
  const int64_t outer = product(type.shape, 0, at), length = type.shape[at];
  const int64_t inner = product(type.shape, at + 1, type.shape.size());
  HostTensor y = *inputs[0];
  visit_element(type.dtype, [&](auto tag) {
    using Element = typename decltype(tag)::type;
    using Sum = std::conditional_t<std::is_integral_v<Widened<Element>>, uint64_t, double>;
    auto values = y.mutable_as<Element>();
    for (int64_t row = 0; row < outer * inner; ++row) {
      const int64_t base = row / inner * length * inner + row % inner;
      Sum sum = 0;
      for (int64_t i = 0; i < length; ++i) {
        auto& element = values[static_cast<size_t>(base + (reverse ? length - 1 - i : i) * inner)];
        const Sum before = sum;
        sum += static_cast<Sum>(widen(element));
        element = convert<Element>(static_cast<Widened<Element>>(exclusive ? before : sum));
      }
    }
  });
  return {y};
}

Attributes CumSum::attributes() const {
  Attributes result;
  result.set("exclusive", int64_t{exclusive});
  result.set("reverse", int64_t{reverse});
  return result;
}

std::vector<TensorType> ReverseSequence::infer(Inputs inputs) const {
  const TensorType& x = input_type(inputs, 0, "input");
  if (x.shape.size() < 2) refuse_model("input has shape " + to_string(x.shape));
  const TensorType& lengths = input_type(inputs, 1, "sequence_lens");
  if (lengths.shape != Shape{x.shape[static_cast<size_t>(batch_axis)]} || lengths.dtype != DType::i64) {
    refuse_model("sequence_lens is " + to_string(lengths) + ", input " + to_string(x));
  }
  return {x};
}

std::vector<HostTensor> ReverseSequence::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const Ints lengths = inputs[1]->to_ints();
  const auto batch = static_cast<size_t>(batch_axis), time = static_cast<size_t>(time_axis);
  for (const int64_t length : lengths) {
    if (length < 0 || length > type.shape[time])
      refuse_model("sequence_lens holds " + std::to_string(length));
  }
  const auto strides = row_major_strides(type.shape);
  HostTensor y(type.dtype, type.shape);
  visit_element_size(type.dtype, [&](auto tag) {
    using Element = typename decltype(tag)::type;
    const auto in = inputs[0]->as<Element>();
    auto out = y.mutable_as<Element>();
    for (size_t i = 0; i < out.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      const int64_t t = at / strides[time] % type.shape[time];
      const int64_t length = lengths[static_cast<size_t>(at / strides[batch] % type.shape[batch])];
      const int64_t from = t < length ? length - 1 - t : t;
      out[i] = in[static_cast<size_t>(at + (from - t) * strides[time])];
    }
  });
  return {y};
}

Attributes ReverseSequence::attributes() const {
  Attributes result;
  result.set("batch_axis", batch_axis);
  result.set("time_axis", time_axis);
  return result;
}

std::shared_ptr<const Operator> make_cum_sum(const NodeSpec& spec) {
  auto op = std::make_shared<CumSum>();
  op->exclusive = get_flag(*spec.attributes, "exclusive", false);
  op->reverse = get_flag(*spec.attributes, "reverse", false);
  return op;
}

std::shared_ptr<const Operator> make_reverse_sequence(const NodeSpec& spec) {
  auto op = std::make_shared<ReverseSequence>();
  op->batch_axis = spec.attributes->get_int("batch_axis", 1);
  op->time_axis = spec.attributes->get_int("time_axis", 0);
  const bool batch_first = op->batch_axis == 0 && op->time_axis == 1;
  if (!batch_first && !(op->batch_axis == 1 && op->time_axis == 0)) {
    refuse_model("batch_axis and time_axis must be 0 and 1");
  }
  return op;
}

}  // namespace vellum
