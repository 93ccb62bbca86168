#include "graph/operator_support.hpp"

#include <algorithm>

namespace vellum {

void refuse_model(const std::string& message) { throw Error(ErrorCode::corrupt_model, message); }

void refuse_unsupported(const std::string& message) { throw Error(ErrorCode::unsupported, message); }

std::string to_string(const TensorType& type) {
  return to_string(type.shape) + ' ' + std::string(name(type.dtype));
}

bool has_input(Inputs inputs, size_t index) { return index < inputs.size() && inputs[index].present; }

const TensorType& input_type(Inputs inputs, size_t index, std::string_view what) {
  if (!has_input(inputs, index)) refuse_model("input '" + std::string(what) + "' is missing");
  const TensorType& type = inputs[index].type;
  if (!is_known(type.shape)) {
    throw Error(ErrorCode::invalid_argument, "the shape of input '" + std::string(what) + "', " +
                                                 to_string(type.shape) + ", is not known");
  }
  return type;
}

const TensorType& float_input_type(Inputs inputs, size_t index, std::string_view what) {
  const TensorType& type = input_type(inputs, index, what);
  if (!is_float(type.dtype)) {
    refuse_unsupported("input '" + std::string(what) + "' is " + std::string(name(type.dtype)) +
                       ", expected floating point");
  }
  return type;
}

const HostTensor& constant_input(Inputs inputs, size_t index, std::string_view what) {
  input_type(inputs, index, what);
  if (inputs[index].constant == nullptr) {
    refuse_unsupported("input '" + std::string(what) +
                       "' decides the shape of the output, but is not known before running");
  }
  return *inputs[index].constant;
}

Ints constant_ints(Inputs inputs, size_t index, std::string_view what) {
  const HostTensor& tensor = constant_input(inputs, index, what);
  if (is_float(tensor.dtype()) || tensor.dtype() == DType::boolean) {
    refuse_model("input '" + std::string(what) + "' is " + std::string(name(tensor.dtype())) +
                 ", expected integers");
  }
  if (tensor.shape().size() > 1) {
    refuse_model("input '" + std::string(what) + "' has shape " + to_string(tensor.shape()) +
                 ", expected one dimension");
  }
  return tensor.to_ints();
}

std::optional<Ints> attribute_or_input(const std::optional<Ints>& attribute, Inputs inputs, size_t index,
                                       std::string_view what) {
  if (attribute) return attribute;
  if (has_input(inputs, index)) return constant_ints(inputs, index, what);
  return std::nullopt;
}

bool all_known(Inputs inputs) {
  return std::all_of(inputs.begin(), inputs.end(),
                     [](const OperatorInput& input) { return !input.present || input.constant != nullptr; });
}

std::vector<OperatorInput> known_inputs(HostInputs inputs) {
  std::vector<OperatorInput> result;
  result.reserve(inputs.size());
  for (const HostTensor* input : inputs) {
    if (input == nullptr) {
      result.emplace_back();
    } else {
      result.push_back({true, input->type(), input});
    }
  }
  return result;
}

std::vector<TensorType> infer_known(const Operator& op, HostInputs inputs) {
  auto types = op.infer(known_inputs(inputs));
  for (const TensorType& type : types) checked_element_count(type.shape);
  return types;
}

std::optional<Ints> optional_ints(const Attributes& attributes, std::string_view name) {
  auto ints = attributes.get_ints(name);
  return attributes.has(name) ? std::optional(std::move(ints)) : std::nullopt;
}

void require_inference(const NodeSpec& spec) {
  if (spec.opset < 7 && !get_flag(*spec.attributes, "is_test", false))
    refuse_unsupported("training (is_test=0)");
}

bool get_flag(const Attributes& attributes, std::string_view name, bool fallback) {
  const int64_t value = attributes.get_int(name, fallback ? 1 : 0);
  if (value != 0 && value != 1) {
    refuse_model("attribute '" + std::string(name) + "' is " + std::to_string(value) + ", expected 0 or 1");
  }
  return value != 0;
}

void print_rounding(Attributes& attributes, const Activation& activation) {
  if (!activation.is_rounded()) return;
  attributes.set("step", activation.step);
  attributes.set("least", activation.least);
  attributes.set("most", activation.most);
  if (activation.ties_away) attributes.set("ties", std::string("away"));
}

void print_activation(Attributes& attributes, const Activation& activation) {
  if (!activation) return;
  attributes.set("activation", std::string(name(activation.kind)));
  if (activation.alpha != 0.0f) attributes.set("activation_alpha", activation.alpha);
  if (activation.beta != 0.0f) attributes.set("activation_beta", activation.beta);
  if (activation.scale != 1.0f) attributes.set("activation_scale", activation.scale);
  if (activation.shift != 0.0f) attributes.set("activation_shift", activation.shift);
  if (activation.bounds_sum()) {
    attributes.set("sum_low", activation.sum_low);
    if (activation.rounds_sum()) attributes.set("sum_step", activation.sum_step);
    attributes.set("sum_high", activation.sum_high);
    if (activation.fixed_sum) attributes.set("fixed_sum", int64_t{1});
  }
  print_rounding(attributes, activation);
}

size_t normalize_axis(int64_t axis, size_t rank) {
  const auto signed_rank = static_cast<int64_t>(rank);
  if (axis < -signed_rank || axis >= signed_rank) {
    refuse_model("axis " + std::to_string(axis) + " is out of range for " + std::to_string(rank) +
                 " dimensions");
  }
  return static_cast<size_t>(axis < 0 ? axis + signed_rank : axis);
}

std::vector<size_t> normalize_axes(const Ints& axes, size_t rank) {
  std::vector<size_t> result;
  for (const int64_t axis : axes) result.push_back(normalize_axis(axis, rank));
  std::sort(result.begin(), result.end());
  if (std::adjacent_find(result.begin(), result.end()) != result.end())
    refuse_model("an axis is named twice");
  return result;
}

int64_t checked_multiply(int64_t a, int64_t b) {
  if (a != 0 && b != 0) {
    const auto magnitude = [](int64_t v) {
      return v < 0 ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
    };
    if (magnitude(a) > static_cast<uint64_t>(INT64_MAX) / magnitude(b)) {
      refuse_unsupported(std::to_string(a) + " times " + std::to_string(b) + " overflows");
    }
  }
  return a * b;
}

int64_t checked_add(int64_t a, int64_t b) {
  if ((b > 0 && a > INT64_MAX - b) || (b < 0 && a < INT64_MIN - b)) {
    refuse_unsupported(std::to_string(a) + " plus " + std::to_string(b) + " overflows");
  }
  return a + b;
}

std::vector<int64_t> broadcast_strides(const Shape& from, const Shape& to) {
  const auto dense = row_major_strides(from);
  std::vector<int64_t> strides(to.size(), 0);
  const size_t lead = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] != 1) strides[lead + i] = dense[i];
  }
  return strides;
}

int64_t product(const Shape& dims, size_t begin, size_t end) {
  return element_count(Shape(dims.begin() + static_cast<std::ptrdiff_t>(begin),
                             dims.begin() + static_cast<std::ptrdiff_t>(end)));
}

HostTensor gather_strided(const HostTensor& input, const Shape& shape, const std::vector<int64_t>& strides,
                          int64_t offset) {
  HostTensor output(input.dtype(), shape);
  visit_element_size(input.dtype(), [&](auto tag) {
    using Element = typename decltype(tag)::type;
    const auto in = input.as<Element>();
    auto out = output.mutable_as<Element>();
    size_t next = 0;
    for_each_offset<1>(shape, {strides}, {offset},
                       [&](const auto& offsets) { out[next++] = in[static_cast<size_t>(offsets[0])]; });
  });
  return output;
}

HostTensor gather_by_axis(const HostTensor& input, const Shape& shape, const std::vector<Ints>& offsets,
                          const HostTensor& fill) {
  HostTensor output(input.dtype(), shape);
  visit_element_size(input.dtype(), [&](auto tag) {
    using Element = typename decltype(tag)::type;
    const auto in = input.as<Element>();
    const Element outside = fill.as<Element>()[0];
    Ints index(shape.size(), 0);
    for (Element& element : output.mutable_as<Element>()) {
      int64_t from = 0;
      for (size_t axis = 0; axis < index.size() && from != kOutside; ++axis) {
        const int64_t step = offsets[axis][static_cast<size_t>(index[axis])];
        from = step == kOutside ? kOutside : from + step;
      }
      element = from == kOutside ? outside : in[static_cast<size_t>(from)];
      for (size_t axis = index.size(); axis-- > 0;) {
        if (++index[axis] < shape[axis]) break;
        index[axis] = 0;
      }
    }
  });
  return output;
}

std::array<float, 4> cubic_weights(float t, float a) {
  const auto near = [a](float d) { return ((a + 2.0f) * d - (a + 3.0f)) * d * d + 1.0f; };
  const auto far = [a](float d) { return ((a * d - 5.0f * a) * d + 8.0f * a) * d - 4.0f * a; };
  return {far(t + 1.0f), near(t), near(1.0f - t), far(2.0f - t)};
}

}  // namespace vellum
