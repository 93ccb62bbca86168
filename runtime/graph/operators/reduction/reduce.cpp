#include "graph/operators/reduction/reduce.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace vellum {

namespace {

constexpr std::string_view kNames[] = {"ReduceMean",   "ReduceSum",      "ReduceMax", "ReduceMin",
                                       "ReduceProd",   "ReduceL1",       "ReduceL2",  "ReduceSumSquare",
                                       "ReduceLogSum", "ReduceLogSumExp"};

Shape reduced_shape(const Shape& shape, const std::vector<size_t>& axes, bool keep_dims) {
  Shape result;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!std::binary_search(axes.begin(), axes.end(), i)) {
      result.push_back(shape[i]);
    } else if (keep_dims) {
      result.push_back(1);
    }
  }
  return result;
}

// Sums of 32-bit types are exact in double. 64-bit integers are reduced separately.
double reduce_reals(ReduceKind kind, std::span<const double> values) {
  const auto fold = [&](double start, auto step) {
    return std::accumulate(values.begin(), values.end(), start, step);
  };
  const auto maximum = [](double a, double b) { return std::isnan(a) || a > b ? a : b; };
  const auto minimum = [](double a, double b) { return std::isnan(a) || a < b ? a : b; };
  const auto squares = [](double sum, double x) { return sum + x * x; };
  switch (kind) {
    case ReduceKind::mean:
      return fold(0.0, std::plus<>()) / static_cast<double>(values.size());
    case ReduceKind::sum:
      return fold(0.0, std::plus<>());
    case ReduceKind::max:
      return fold(-INFINITY, maximum);
    case ReduceKind::min:
      return fold(INFINITY, minimum);
    case ReduceKind::prod:
      return fold(1.0, std::multiplies<>());
    case ReduceKind::l1:
      return fold(0.0, [](double sum, double x) { return sum + std::fabs(x); });
    case ReduceKind::l2:
      return std::sqrt(fold(0.0, squares));
    case ReduceKind::sum_square:
      return fold(0.0, squares);
    case ReduceKind::log_sum:
      return std::log(fold(0.0, std::plus<>()));
    case ReduceKind::log_sum_exp: {
      const double largest = fold(-INFINITY, maximum);
      if (!std::isfinite(largest)) return largest;
      return largest + std::log(fold(0.0, [&](double sum, double x) { return sum + std::exp(x - largest); }));
    }
  }
  return 0.0;
}

int64_t reduce_integers(ReduceKind kind, std::span<const int64_t> values) {
  // Through unsigned: sums and products wrap around.
  uint64_t result = kind == ReduceKind::prod ? 1 : 0;
  for (const int64_t value : values) {
    const auto x = static_cast<uint64_t>(value);
    switch (kind) {
      case ReduceKind::prod:
        result *= x;
        break;
      case ReduceKind::sum_square:
        result += x * x;
        break;
      case ReduceKind::l1:
        result += value < 0 ? 0 - x : x;
        break;
      default:
        result += x;
    }
  }
  if (kind == ReduceKind::max) return *std::max_element(values.begin(), values.end());
  if (kind == ReduceKind::min) return *std::min_element(values.begin(), values.end());
  const auto sum = static_cast<int64_t>(result);
  return kind == ReduceKind::mean ? sum / static_cast<int64_t>(values.size()) : sum;
}

// Returns the result of a reduction over no elements: the identity of the operation, as ONNX says, which for
// extrema is the least or the greatest value of the type. A mean is NaN, or 0 for integers.
HostTensor reduce_nothing(ReduceKind kind, const TensorType& type) {
  HostTensor y(DType::f64, type.shape);
  double value = reduce_reals(kind, {});
  if (type.dtype == DType::boolean) value = kind == ReduceKind::max ? 0.0 : 1.0;
  for (double& element : y.mutable_as<double>()) element = value;
  return cast(y, type.dtype);
}

bool is_exact_on_integers(ReduceKind kind) {
  return kind != ReduceKind::l2 && kind != ReduceKind::log_sum && kind != ReduceKind::log_sum_exp;
}

// Calls reduce(values) on each group of elements that makes one result, in row-major order of the results.
template <typename Element, typename Reducer>
void for_each_group(const HostTensor& x, const std::vector<size_t>& axes, Reducer&& reduce) {
  const auto in = x.as<Element>();
  const auto strides = row_major_strides(x.shape());
  Shape kept = x.shape(), reduced(kept.size(), 1);
  for (const size_t axis : axes) std::swap(kept[axis], reduced[axis]);
  std::vector<Element> group(static_cast<size_t>(element_count(reduced)));
  for_each_offset<1>(kept, {strides}, {0}, [&](const auto& base) {
    size_t i = 0;
    for_each_offset<1>(reduced, {strides}, base,
                       [&](const auto& at) { group[i++] = in[static_cast<size_t>(at[0])]; });
    reduce(std::span<const Element>(group));
  });
}

}  // namespace

std::vector<size_t> Reduce::reduced_axes(Inputs inputs) const {
  const size_t rank = input_type(inputs, 0, "data").shape.size();
  const Ints chosen = attribute_or_input(axes, inputs, 1, "axes").value_or(Ints());
  if (!chosen.empty() || noop_with_empty_axes) return normalize_axes(chosen, rank);
  std::vector<size_t> all(rank);
  std::iota(all.begin(), all.end(), size_t{0});
  return all;
}

bool Reduce::keeps_elements(Inputs inputs) const {
  const bool maps = kind == ReduceKind::l1 || kind == ReduceKind::l2 || kind == ReduceKind::sum_square ||
                    kind == ReduceKind::log_sum;
  return !maps && noop_with_empty_axes && reduced_axes(inputs).empty();
}

std::string_view Reduce::type() const { return kNames[static_cast<size_t>(kind)]; }

std::vector<TensorType> Reduce::infer(Inputs inputs) const {
  const TensorType& x = input_type(inputs, 0, "data");
  const bool orders = kind == ReduceKind::max || kind == ReduceKind::min;
  if (x.dtype == DType::boolean && !orders) refuse_model(std::string(type()) + " of bool");
  return {{x.dtype, reduced_shape(x.shape, reduced_axes(inputs), keep_dims)}};
}

namespace {

double mean_of_integers(const FixedMean& fixed, std::span<const double> group) {
  int32_t sum = 0;
  for (const double value : group) sum += integer_of(static_cast<float>(value), fixed.x_step);
  return static_cast<double>(static_cast<float>(multiply(sum, fixed.y)) * fixed.y_step);
}

}  // namespace

FixedMean fixed_total(float x_step, float y_step, int64_t count, int bits) {
  const int64_t most = bits == 8 ? 255 : 32768;
  constexpr double kLeast = 0x1p-15, kMost = 0x1p7;
  const double ratio = static_cast<double>(x_step) / static_cast<double>(y_step);
  if (count < 1 || count > (1 << 24) / most || !(ratio > kLeast && ratio < kMost)) return {};
  return {x_step, y_step, fixed_multiplier(ratio)};
}

FixedMean fixed_mean(float x_step, float y_step, int64_t count, int bits) {
  FixedMean mean = fixed_total(x_step, y_step, count, bits);
  if (!mean) return {};
  // The shift is at most 16, so that LiteRT's bounds on it have no effect.
  const int shift = static_cast<int>(std::bit_width(static_cast<uint64_t>(count))) - 1;
  mean.y.multiplier = static_cast<int32_t>((int64_t{mean.y.multiplier} << shift) / count);
  mean.y.shift -= shift;
  return mean;
}

std::vector<HostTensor> Reduce::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const auto along = reduced_axes(known_inputs(inputs));
  if (keeps_elements(known_inputs(inputs))) return {*inputs[0]};
  if (inputs[0]->elements() == 0) return {reduce_nothing(kind, type)};
  if (!is_float(type.dtype) && type.dtype != DType::u64 && is_exact_on_integers(kind)) {
    HostTensor y(DType::i64, type.shape);
    int64_t* out = y.mutable_as<int64_t>().data();
    for_each_group<int64_t>(cast(*inputs[0], DType::i64), along,
                            [&](std::span<const int64_t> group) { *out++ = reduce_integers(kind, group); });
    return {cast(y, type.dtype)};
  }
  HostTensor y(DType::f64, type.shape);
  double* out = y.mutable_as<double>().data();
  for_each_group<double>(cast(*inputs[0], DType::f64), along, [&](std::span<const double> group) {
    *out++ = fixed_mean ? mean_of_integers(fixed_mean, group) : reduce_reals(kind, group);
  });
  return {cast(y, type.dtype)};
}

Attributes Reduce::attributes() const {
  Attributes result;
  if (axes) result.set("axes", *axes);
  result.set("keepdims", int64_t{keep_dims});
  if (noop_with_empty_axes) result.set("noop_with_empty_axes", int64_t{1});
  return result;
}

std::vector<TensorType> ArgReduce::infer(Inputs inputs) const {
  const TensorType& x = input_type(inputs, 0, "data");
  const size_t at = normalize_axis(axis, x.shape.size());
  if (x.shape[at] == 0) refuse_model("dimension " + std::to_string(at) + " is empty");
  return {{DType::i64, reduced_shape(x.shape, {at}, keep_dims)}};
}

std::vector<HostTensor> ArgReduce::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const size_t at = normalize_axis(axis, inputs[0]->shape().size());
  HostTensor y(DType::i64, type.shape);
  int64_t* out = y.mutable_as<int64_t>().data();
  visit_element(inputs[0]->dtype(), [&](auto tag) {
    using Element = typename decltype(tag)::type;
    for_each_group<Element>(*inputs[0], {at}, [&](std::span<const Element> group) {
      size_t best = 0;
      for (size_t i = 1; i < group.size(); ++i) {
        const auto a = widen(group[i]), b = widen(group[best]);
        if ((minimum ? a < b : a > b) || (select_last_index && a == b)) best = i;
      }
      *out++ = static_cast<int64_t>(best);
    });
  });
  return {y};
}

Attributes ArgReduce::attributes() const {
  Attributes result;
  result.set("axis", axis);
  result.set("keepdims", int64_t{keep_dims});
  if (select_last_index) result.set("select_last_index", int64_t{1});
  return result;
}

std::shared_ptr<const Operator> make_reduce(const NodeSpec& spec) {
  auto op = std::make_shared<Reduce>();
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (spec.type == kNames[i]) op->kind = static_cast<ReduceKind>(i);
  }
  op->keep_dims = get_flag(*spec.attributes, "keepdims", true);
  // ReduceSum took its axes as an input five operator sets before its siblings.
  const bool axes_are_input = spec.opset >= (op->kind == ReduceKind::sum ? 13 : 18);
  if (axes_are_input) {
    op->noop_with_empty_axes = get_flag(*spec.attributes, "noop_with_empty_axes", false);
  } else {
    op->axes = optional_ints(*spec.attributes, "axes");
  }
  return op;
}

std::shared_ptr<const Operator> make_arg_reduce(const NodeSpec& spec) {
  auto op = std::make_shared<ArgReduce>();
  op->minimum = spec.type == "ArgMin";
  op->axis = spec.attributes->get_int("axis", 0);
  op->keep_dims = get_flag(*spec.attributes, "keepdims", true);
  op->select_last_index = get_flag(*spec.attributes, "select_last_index", false);
  return op;
}

}  // namespace vellum
