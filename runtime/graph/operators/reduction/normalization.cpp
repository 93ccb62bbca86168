#include "graph/operators/reduction/normalization.hpp"

#include <algorithm>
#include <cmath>

#include "graph/operators/reduction/batch_statistics.hpp"
#include "graph/real.hpp"

namespace vellum {

namespace {

const TensorType& channels_first(Inputs inputs, std::string_view what) {
  const TensorType& x = float_input_type(inputs, 0, what);
  if (x.shape.size() < 2) {
    refuse_model("input '" + std::string(what) + "' has shape " + to_string(x.shape) +
                 ", expected N x C x ...");
  }
  return x;
}

void check_per_channel(Inputs inputs, size_t index, std::string_view what, int64_t channels) {
  const TensorType& type = float_input_type(inputs, index, what);
  if (type.shape != Shape{channels}) {
    refuse_model("input '" + std::string(what) + "' has shape " + to_string(type.shape) + ", expected " +
                 std::to_string(channels));
  }
}

struct Moments {
  double mean = 0.0, variance = 0.0;
};

template <typename Real>
Moments moments(std::span<const Real> values, bool centred = true) {
  Moments result;
  if (values.empty()) return result;
  const auto count = static_cast<double>(values.size());
  if (centred)
    for (const Real value : values) result.mean += static_cast<double>(value);
  result.mean /= count;
  for (const Real value : values) {
    const double distance = static_cast<double>(value) - result.mean;
    result.variance += distance * distance;
  }
  result.variance /= count;
  return result;
}

double inverse_deviation(const Moments& m, float epsilon) {
  return 1.0 / std::sqrt(m.variance + static_cast<double>(epsilon));
}

Attributes print_epsilon(float epsilon) {
  Attributes result;
  result.set("epsilon", epsilon);
  return result;
}

// Statistics are computed in float32, which is as exact as float16 (10) and bfloat16 (16) ask for. Refuses
// others, and where `type_shows` those two as well.
void require_float32_statistics(const NodeSpec& spec, bool type_shows = false) {
  const int64_t type = spec.attributes->get_int("stash_type", 1);
  if (type != 1 && (type_shows || (type != 10 && type != 16)))
    refuse_unsupported("stash_type " + std::to_string(type) + ", other than float32");
}

}  // namespace

std::vector<TensorType> BatchNormalization::infer(Inputs inputs) const {
  const TensorType& x = channels_first(inputs, "X");
  check_per_channel(inputs, 1, "scale", x.shape[1]);
  check_per_channel(inputs, 2, "B", x.shape[1]);
  check_per_channel(inputs, 3, "mean", x.shape[1]);
  check_per_channel(inputs, 4, "var", x.shape[1]);
  return {x};
}

std::vector<HostTensor> BatchNormalization::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  return visit_real(type.dtype, [&](auto tag) {
    using Real = typename decltype(tag)::type;
    const auto scale = to_reals<Real>(*inputs[1]), shift = to_reals<Real>(*inputs[2]);
    const auto mean = to_reals<Real>(*inputs[3]), variance = to_reals<Real>(*inputs[4]);
    HostTensor y = cast(*inputs[0], kRealType<Real>);
    const int64_t plane = product(type.shape, 2, type.shape.size());
    Real* out = y.mutable_as<Real>().data();
    for (int64_t n = 0; n < type.shape[0]; ++n) {
      for (size_t c = 0; c < scale.size(); ++c) {
        const double factor = scale[c] * inverse_deviation({mean[c], variance[c]}, epsilon);
        for (int64_t i = 0; i < plane; ++i, ++out) {
          const double distance = static_cast<double>(*out) - static_cast<double>(mean[c]);
          *out = apply_real(activation, static_cast<Real>(distance * factor + static_cast<double>(shift[c])));
        }
      }
    }
    return std::vector{cast(y, type.dtype)};
  });
}

std::shared_ptr<const Operator> BatchNormalization::with_activation(const Activation& added) const {
  return copy_with_activation(*this, added);
}

Attributes BatchNormalization::attributes() const {
  Attributes result = print_epsilon(epsilon);
  print_activation(result, activation);
  return result;
}

std::vector<TensorType> InstanceNormalization::infer(Inputs inputs) const {
  const TensorType& x = channels_first(inputs, "input");
  check_per_channel(inputs, 1, "scale", x.shape[1]);
  check_per_channel(inputs, 2, "B", x.shape[1]);
  return {x};
}

std::vector<HostTensor> InstanceNormalization::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const auto scale = inputs[1]->to_floats(), shift = inputs[2]->to_floats();
  HostTensor y = cast(*inputs[0], DType::f32);
  const auto plane = static_cast<size_t>(product(type.shape, 2, type.shape.size()));
  auto rest = y.mutable_as<float>();
  for (int64_t n = 0; n < type.shape[0]; ++n) {
    for (size_t c = 0; c < scale.size(); ++c) {
      const Moments m = moments<float>(rest.first(plane));
      const double factor = scale[c] * inverse_deviation(m, epsilon);
      for (float& value : rest.first(plane))
        value = apply_real(activation, static_cast<float>((value - m.mean) * factor + shift[c]));
      rest = rest.subspan(plane);
    }
  }
  return {cast(y, type.dtype)};
}

std::shared_ptr<const Operator> InstanceNormalization::with_activation(const Activation& added) const {
  return copy_with_activation(*this, added);
}

Attributes InstanceNormalization::attributes() const {
  Attributes result = print_epsilon(epsilon);
  print_activation(result, activation);
  return result;
}

std::vector<TensorType> LayerNormalization::infer(Inputs inputs) const {
  const TensorType& x = float_input_type(inputs, 0, "X");
  const size_t at = normalize_axis(axis, x.shape.size());
  for (size_t i = 1; i <= 2; ++i) {
    if (i == 2 && !has_input(inputs, 2)) continue;
    const Shape& shape = float_input_type(inputs, i, i == 1 ? "Scale" : "B").shape;
    if (broadcast(shape, x.shape) != x.shape) {
      refuse_model("shape " + to_string(shape) + " does not broadcast to " + to_string(x.shape));
    }
  }
  TensorType statistics{DType::f32, x.shape};
  std::fill(statistics.shape.begin() + static_cast<std::ptrdiff_t>(at), statistics.shape.end(), 1);
  std::vector<TensorType> types{x, statistics, statistics};
  types.resize(output_count);
  return types;
}

std::vector<HostTensor> LayerNormalization::evaluate(HostInputs inputs) const {
  const auto types = infer_known(*this, inputs);
  const Shape& shape = types[0].shape;
  const size_t at = normalize_axis(axis, shape.size());
  const auto length = static_cast<size_t>(product(shape, at, shape.size()));
  return visit_real(types[0].dtype, [&](auto tag) {
    using Real = typename decltype(tag)::type;
    const HostTensor x = cast(*inputs[0], kRealType<Real>), scale = cast(*inputs[1], kRealType<Real>);
    const bool has_bias = inputs.size() > 2 && inputs[2] != nullptr;
    const HostTensor bias = has_bias ? cast(*inputs[2], kRealType<Real>) : HostTensor(kRealType<Real>, {1});
    Shape rows = shape;
    std::fill(rows.begin() + static_cast<std::ptrdiff_t>(at), rows.end(), 1);
    HostTensor y(kRealType<Real>, shape), mean(DType::f32, rows), inverse(DType::f32, rows);
    const auto in = x.as<Real>(), scales = scale.as<Real>(), biases = bias.as<Real>();
    auto out = y.mutable_as<Real>();
    auto means = mean.mutable_as<float>(), inverses = inverse.mutable_as<float>();
    size_t i = 0;
    Moments m;
    for_each_offset<2>(shape,
                       {broadcast_strides(scale.shape(), shape), broadcast_strides(bias.shape(), shape)},
                       {0, 0}, [&](const auto& offsets) {
                         const size_t row = i / length;
                         if (i % length == 0) {
                           m = moments<Real>(in.subspan(i, length), centred);
                           means[row] = static_cast<float>(m.mean);
                           inverses[row] = static_cast<float>(inverse_deviation(m, epsilon));
                         }
                         const double normal = (in[i] - m.mean) * inverse_deviation(m, epsilon);
                         out[i++] = static_cast<Real>(normal * scales[static_cast<size_t>(offsets[0])] +
                                                      biases[static_cast<size_t>(offsets[1])]);
                       });
    std::vector<HostTensor> outputs{cast(y, types[0].dtype), mean, inverse};
    outputs.resize(output_count);
    return outputs;
  });
}

Attributes LayerNormalization::attributes() const {
  Attributes result = print_epsilon(epsilon);
  result.set("axis", axis);
  return result;
}

std::vector<TensorType> GroupNormalization::infer(Inputs inputs) const {
  const TensorType& x = channels_first(inputs, "X");
  if (x.shape[1] % groups != 0) {
    refuse_model(std::to_string(x.shape[1]) + " channels do not make " + std::to_string(groups) + " groups");
  }
  const bool per_group = float_input_type(inputs, 1, "scale").shape == Shape{groups};
  check_per_channel(inputs, 1, "scale", per_group ? groups : x.shape[1]);
  check_per_channel(inputs, 2, "bias", per_group ? groups : x.shape[1]);
  return {x};
}

std::vector<HostTensor> GroupNormalization::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const auto scale = inputs[1]->to_floats(), shift = inputs[2]->to_floats();
  HostTensor y = cast(*inputs[0], DType::f32);
  const auto plane = static_cast<size_t>(product(type.shape, 2, type.shape.size()));
  const auto channels = static_cast<size_t>(type.shape[1]),
             group_channels = channels / static_cast<size_t>(groups);
  // With as many groups as channels, both readings agree.
  const bool per_channel = scale.size() == channels;
  auto rest = y.mutable_as<float>();
  for (int64_t n = 0; n < type.shape[0]; ++n) {
    for (size_t group = 0; group < static_cast<size_t>(groups); ++group) {
      const Moments m = moments<float>(rest.first(plane * group_channels));
      for (size_t c = 0; c < group_channels; ++c) {
        const size_t at = per_channel ? group * group_channels + c : group;
        const double factor = scale[at] * inverse_deviation(m, epsilon);
        for (float& value : rest.first(plane))
          value = apply_real(activation, static_cast<float>((value - m.mean) * factor + shift[at]));
        rest = rest.subspan(plane);
      }
    }
  }
  return {cast(y, type.dtype)};
}

std::shared_ptr<const Operator> GroupNormalization::with_activation(const Activation& added) const {
  return copy_with_activation(*this, added);
}

Attributes GroupNormalization::attributes() const {
  Attributes result = print_epsilon(epsilon);
  result.set("num_groups", groups);
  print_activation(result, activation);
  return result;
}

std::vector<TensorType> MeanVarianceNormalization::infer(Inputs inputs) const {
  const TensorType& x = float_input_type(inputs, 0, "X");
  normalize_axes(axes, x.shape.size());
  return {x};
}

std::vector<HostTensor> MeanVarianceNormalization::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  HostTensor y = cast(*inputs[0], DType::f32);
  auto values = y.mutable_as<float>();
  // One group of elements per index along the axes that are kept.
  auto strides = row_major_strides(type.shape);
  Shape kept = type.shape, reduced(type.shape.size(), 1);
  for (const size_t axis : normalize_axes(axes, type.shape.size())) std::swap(kept[axis], reduced[axis]);
  std::vector<float> group;
  for_each_offset<1>(kept, {strides}, {0}, [&](const auto& base) {
    group.clear();
    const auto each = [&](auto&& use) {
      for_each_offset<1>(reduced, {strides}, base,
                         [&](const auto& at) { use(values[static_cast<size_t>(at[0])]); });
    };
    each([&](float value) { group.push_back(value); });
    const Moments m = moments<float>(group);
    each(
        [&](float& value) { value = static_cast<float>((value - m.mean) / (std::sqrt(m.variance) + 1e-9)); });
  });
  return {cast(y, type.dtype)};
}

Attributes MeanVarianceNormalization::attributes() const {
  Attributes result;
  result.set("axes", axes);
  return result;
}

std::vector<TensorType> Lrn::infer(Inputs inputs) const { return {channels_first(inputs, "X")}; }

std::vector<HostTensor> Lrn::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const HostTensor x = cast(*inputs[0], DType::f32);
  HostTensor y(DType::f32, type.shape);
  const int64_t channels = type.shape[1], plane = product(type.shape, 2, type.shape.size());
  const float* in = x.as<float>().data();
  float* out = y.mutable_as<float>().data();
  for (int64_t n = 0; n < type.shape[0]; ++n, in += channels * plane) {
    for (int64_t c = 0; c < channels; ++c) {
      const int64_t first = std::max<int64_t>(0, c - (size - 1) / 2);
      const int64_t last = std::min(channels - 1, c + size / 2);
      for (int64_t i = 0; i < plane; ++i) {
        double squares = 0.0;
        for (int64_t k = first; k <= last; ++k) {
          squares += static_cast<double>(in[k * plane + i]) * static_cast<double>(in[k * plane + i]);
        }
        const double base = bias + static_cast<double>(alpha) / static_cast<double>(size) * squares;
        *out++ = static_cast<float>(in[c * plane + i] / std::pow(base, static_cast<double>(beta)));
      }
    }
  }
  return {cast(y, type.dtype)};
}

uint64_t Lrn::work(Inputs inputs, Outputs outputs) const {
  const Shape& x = inputs[0].type.shape;
  const auto window = static_cast<uint64_t>(std::clamp<int64_t>(size, 1, std::max<int64_t>(x[1], 1)));
  return saturating_multiply(elementwise_work(inputs, outputs), saturating_add(8, window));
}

Attributes Lrn::attributes() const {
  Attributes result;
  result.set("alpha", alpha);
  result.set("beta", beta);
  result.set("bias", bias);
  result.set("size", size);
  return result;
}

std::shared_ptr<const Operator> make_batch_normalization(const NodeSpec& spec) {
  auto op = std::make_shared<BatchNormalization>();
  op->epsilon = spec.attributes->get_float("epsilon", 1e-5f);
  const float momentum = spec.attributes->get_float("momentum", 0.9f);  // training only
  require_inference(spec);
  if (get_flag(*spec.attributes, "training_mode", false))
    return make_batch_statistics(spec, op->epsilon, momentum);
  if (!get_flag(*spec.attributes, "spatial", true)) refuse_unsupported("spatial=0");
  if (spec.output_count > 1) refuse_unsupported("outputs of training (more than one output)");
  return op;
}

std::shared_ptr<const Operator> make_instance_normalization(const NodeSpec& spec) {
  auto op = std::make_shared<InstanceNormalization>();
  op->epsilon = spec.attributes->get_float("epsilon", 1e-5f);
  return op;
}

std::shared_ptr<const Operator> make_layer_normalization(const NodeSpec& spec) {
  auto op = std::make_shared<LayerNormalization>();
  op->axis = spec.attributes->get_int("axis", -1);
  op->epsilon = spec.attributes->get_float("epsilon", 1e-5f);
  op->centred = spec.type == "LayerNormalization";
  op->output_count = op->centred ? std::clamp<size_t>(spec.output_count, 1, 3) : 1;
  // A mean and a deviation that are results have the type of the statistics.
  require_float32_statistics(spec, op->output_count > 1);
  return op;
}

std::shared_ptr<const Operator> make_group_normalization(const NodeSpec& spec) {
  auto op = std::make_shared<GroupNormalization>();
  op->epsilon = spec.attributes->get_float("epsilon", 1e-5f);
  op->groups = spec.attributes->get_int("num_groups", 0);
  if (op->groups < 1) refuse_model("num_groups is " + std::to_string(op->groups));
  require_float32_statistics(spec);
  return op;
}

std::shared_ptr<const Operator> make_mean_variance_normalization(const NodeSpec& spec) {
  auto op = std::make_shared<MeanVarianceNormalization>();
  op->axes = spec.attributes->get_ints("axes", {0, 2, 3});
  return op;
}

std::shared_ptr<const Operator> make_lrn(const NodeSpec& spec) {
  auto op = std::make_shared<Lrn>();
  op->alpha = spec.attributes->get_float("alpha", 1e-4f);
  op->beta = spec.attributes->get_float("beta", 0.75f);
  op->bias = spec.attributes->get_float("bias", 1.0f);
  op->size = spec.attributes->get_int("size", 0);
  if (op->size < 1) refuse_model("size is " + std::to_string(op->size));
  return op;
}

}  // namespace vellum
