#include "graph/operators/movement/select_values.hpp"

#include <algorithm>
#include <numeric>

#include "graph/operators/movement/gather.hpp"

namespace vellum {

std::vector<TensorType> TopK::infer(Inputs inputs) const {
  TensorType values = input_type(inputs, 0, "X");
  const size_t at = normalize_axis(axis, values.shape.size());
  Ints count;
  if (k) {
    count = {*k};
  } else {
    count = constant_ints(inputs, 1, "K");
  }
  if (count.size() != 1 || count[0] < 0 || count[0] > values.shape[at]) {
    refuse_model("K is [" + to_string(Shape(count)) + "] for a dimension of " +
                 std::to_string(values.shape[at]));
  }
  values.shape[at] = count[0];
  return {values, {DType::i64, values.shape}};
}

std::vector<HostTensor> TopK::evaluate(HostInputs inputs) const {
  const auto types = infer_known(*this, inputs);
  const Shape& shape = inputs[0]->shape();
  const size_t at = normalize_axis(axis, shape.size());
  const int64_t outer = product(shape, 0, at), length = shape[at],
                inner = product(shape, at + 1, shape.size());
  const int64_t count = types[0].shape[at];
  HostTensor values(types[0].dtype, types[0].shape), indices(DType::i64, types[1].shape);
  auto chosen = indices.mutable_as<int64_t>();
  visit_element(types[0].dtype, [&](auto tag) {
    using Element = typename decltype(tag)::type;
    const auto in = inputs[0]->as<Element>();
    auto out = values.mutable_as<Element>();
    Ints order(static_cast<size_t>(length));
    for (int64_t row = 0; row < outer * inner; ++row) {
      const int64_t base = row / inner * length * inner + row % inner;
      const int64_t to = row / inner * count * inner + row % inner;
      const auto element = [&](int64_t i) { return widen(in[static_cast<size_t>(base + i * inner)]); };
      std::iota(order.begin(), order.end(), int64_t{0});
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        const auto v = element(a), w = element(b);
        return (largest ? v > w : v < w) || (v == v && w != w);  // NaN after all numbers
      });
      for (int64_t i = 0; i < count; ++i) {
        const int64_t from = order[static_cast<size_t>(i)];
        chosen[static_cast<size_t>(to + i * inner)] = from;
        out[static_cast<size_t>(to + i * inner)] = in[static_cast<size_t>(base + from * inner)];
      }
    }
  });
  return {values, indices};
}

uint64_t TopK::work(Inputs inputs, Outputs outputs) const {
  return saturating_multiply(elementwise_work(inputs, outputs), 16);  // n log n
}

Attributes TopK::attributes() const {
  Attributes result;
  result.set("axis", axis);
  if (k) result.set("k", *k);
  if (!largest) result.set("largest", int64_t{0});
  return result;
}

namespace {

// Positions (flattened) of the elements that are not zero.
Ints nonzero_positions(const HostTensor& tensor) {
  const HostTensor mask = cast(tensor, DType::boolean);
  const auto bytes = mask.as<uint8_t>();
  Ints positions;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != 0) positions.push_back(static_cast<int64_t>(i));
  }
  return positions;
}

}  // namespace

std::vector<TensorType> NonZero::infer(Inputs inputs) const {
  const HostTensor& x = constant_input(inputs, 0, "X");
  return {{DType::i64,
           {static_cast<int64_t>(x.shape().size()), static_cast<int64_t>(nonzero_positions(x).size())}}};
}

std::vector<TensorType> NonZero::infer_open(Inputs inputs) const {
  const TensorType& x = input_type(inputs, 0, "X");
  if (all_known(inputs)) return {};
  return {{DType::i64, {static_cast<int64_t>(x.shape.size()), kUnknownDim}}};
}

std::vector<HostTensor> NonZero::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const Ints positions = nonzero_positions(*inputs[0]);
  const Shape& shape = inputs[0]->shape();
  const auto strides = row_major_strides(shape);
  HostTensor y(DType::i64, type.shape);
  int64_t* out = y.mutable_as<int64_t>().data();
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    for (const int64_t position : positions) *out++ = position / strides[axis] % shape[axis];
  }
  return {y};
}

TensorType Compress::with_length(Inputs inputs, int64_t length) const {
  TensorType y = input_type(inputs, 0, "input");
  if (!axis) y.shape = {element_count(y.shape)};
  const size_t at = axis ? normalize_axis(*axis, y.shape.size()) : 0;
  const TensorType& condition = input_type(inputs, 1, "condition");
  if (condition.dtype != DType::boolean || condition.shape.size() != 1 || condition.shape[0] > y.shape[at]) {
    refuse_model("condition is " + to_string(condition) + " for a dimension of " +
                 std::to_string(y.shape[at]));
  }
  y.shape[at] = length;
  return y;
}

std::vector<TensorType> Compress::infer(Inputs inputs) const {
  with_length(inputs, 0);
  const Ints chosen = nonzero_positions(constant_input(inputs, 1, "condition"));
  return {with_length(inputs, static_cast<int64_t>(chosen.size()))};
}

std::vector<TensorType> Compress::infer_open(Inputs inputs) const {
  const TensorType y = with_length(inputs, kUnknownDim);
  if (inputs[1].constant != nullptr) return {};
  return {y};
}

std::vector<HostTensor> Compress::evaluate(HostInputs inputs) const {
  infer_known(*this, inputs);
  const HostTensor data = axis ? *inputs[0] : inputs[0]->reshaped({inputs[0]->elements()});
  const Ints chosen = nonzero_positions(*inputs[1]);
  const HostTensor indices = HostTensor::i64({static_cast<int64_t>(chosen.size())}, chosen);
  Gather gather;
  gather.axis = axis.value_or(0);
  return gather.evaluate(std::array{&data, &indices});
}

Attributes Compress::attributes() const {
  Attributes result;
  if (axis) result.set("axis", *axis);
  return result;
}

std::vector<TensorType> OneHot::infer(Inputs inputs) const {
  const TensorType &indices = input_type(inputs, 0, "indices"), &values = input_type(inputs, 2, "values");
  const Ints depth = constant_input(inputs, 1, "depth").to_ints();
  if (depth.size() != 1 || depth[0] < 1 || values.shape != Shape{2}) {
    refuse_model("depth is [" + to_string(Shape(depth)) + "], values " + to_string(values));
  }
  TensorType y{values.dtype, indices.shape};
  const size_t at = normalize_axis(axis, indices.shape.size() + 1);
  y.shape.insert(y.shape.begin() + static_cast<std::ptrdiff_t>(at), depth[0]);
  return {y};
}

std::vector<HostTensor> OneHot::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const size_t at = normalize_axis(axis, type.shape.size());
  const int64_t depth = type.shape[at], inner = product(type.shape, at + 1, type.shape.size());
  const Ints indices = inputs[0]->to_ints();
  HostTensor y = gather_strided(*inputs[2], type.shape, std::vector<int64_t>(type.shape.size(), 0), 0);
  visit_element_size(type.dtype, [&](auto tag) {
    using Element = typename decltype(tag)::type;
    const Element on = inputs[2]->as<Element>()[1];
    auto out = y.mutable_as<Element>();
    for (size_t i = 0; i < indices.size(); ++i) {
      // An index outside [-depth, depth) has no element that is on.
      if (indices[i] < -depth || indices[i] >= depth) continue;
      const int64_t index = checked_index(indices[i], depth), row = static_cast<int64_t>(i);
      out[static_cast<size_t>((row / inner * depth + index) * inner + row % inner)] = on;
    }
  });
  return {y};
}

Attributes OneHot::attributes() const {
  Attributes result;
  result.set("axis", axis);
  return result;
}

std::vector<TensorType> Trilu::infer(Inputs inputs) const {
  const TensorType& x = input_type(inputs, 0, "input");
  if (x.shape.size() < 2) refuse_model("input has shape " + to_string(x.shape) + ", expected matrices");
  if (has_input(inputs, 1) && element_count(input_type(inputs, 1, "k").shape) != 1) {
    refuse_model("k is " + to_string(inputs[1].type));
  }
  return {x};
}

std::vector<HostTensor> Trilu::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const size_t rank = type.shape.size();
  const int64_t rows = type.shape[rank - 2], columns = type.shape[rank - 1];
  const bool has_k = inputs.size() > 1 && inputs[1] != nullptr;
  // All diagonals beyond the matrix have the same effect.
  const int64_t k = std::clamp<int64_t>(has_k ? inputs[1]->to_ints()[0] : 0, -rows - 1, columns + 1);
  HostTensor y = *inputs[0];
  visit_element_size(type.dtype, [&](auto tag) {
    using Element = typename decltype(tag)::type;
    int64_t i = 0;
    for (Element& element : y.mutable_as<Element>()) {
      const int64_t diagonal = i % columns - i / columns % rows;
      if (upper ? diagonal < k : diagonal > k) element = Element{};
      ++i;
    }
  });
  return {y};
}

Attributes Trilu::attributes() const {
  Attributes result;
  result.set("upper", int64_t{upper});
  return result;
}

std::shared_ptr<const Operator> make_top_k(const NodeSpec& spec) {
  auto op = std::make_shared<TopK>();
  op->axis = spec.attributes->get_int("axis", -1);
  if (spec.opset < 10) {
    if (!spec.attributes->has("k")) refuse_model("attribute 'k' is missing");
    op->k = spec.attributes->get_int("k", 0);
  }
  if (spec.opset >= 11) {
    op->largest = get_flag(*spec.attributes, "largest", true);
    get_flag(*spec.attributes, "sorted", true);  // if false, any order is allowed, also the sorted one
  }
  return op;
}

std::shared_ptr<const Operator> make_non_zero(const NodeSpec&) { return std::make_shared<NonZero>(); }

std::shared_ptr<const Operator> make_compress(const NodeSpec& spec) {
  auto op = std::make_shared<Compress>();
  if (spec.attributes->has("axis")) op->axis = spec.attributes->get_int("axis", 0);
  return op;
}

std::shared_ptr<const Operator> make_one_hot(const NodeSpec& spec) {
  auto op = std::make_shared<OneHot>();
  op->axis = spec.attributes->get_int("axis", -1);
  return op;
}

std::shared_ptr<const Operator> make_trilu(const NodeSpec& spec) {
  auto op = std::make_shared<Trilu>();
  op->upper = get_flag(*spec.attributes, "upper", true);
  return op;
}

}  // namespace vellum
