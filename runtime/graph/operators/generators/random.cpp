// RandomUniform, RandomNormal, their forms with the shape of an input, and Bernoulli. The numbers are drawn
// once, when shapes are known. They are constants: the same in every run of a session, and with the same seed
// in every session. ONNX does not define the numbers of a seed, and other runtimes draw other numbers.
// https://onnx.ai/onnx/operators/onnx__RandomUniform.html, onnx__RandomNormal.html,
// onnx__RandomUniformLike.html, onnx__RandomNormalLike.html, onnx__Bernoulli.html
#include <bit>
#include <cmath>
#include <numbers>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "graph/composed.hpp"
#include "graph/onnx_types.hpp"
#include "graph/operators/generators/random_seed.hpp"
#include "platform/fingerprint.hpp"

namespace vellum {
namespace {

struct Draws {
  uint64_t seed = 0;
  bool normal = false;
  double first = 0, second = 1;  // the mean and the deviation, or the least and the greatest
};

HostTensor draw(const Draws& draws, DType dtype, const Shape& shape) {
  std::vector<double> values(Body::table_size(shape));
  std::mt19937_64 random(draws.seed);
  // Returns a number in [0, 1) with the 24 bits of a float32, so that rounding never makes it 1.
  const auto unit = [&] { return static_cast<double>(random() >> 40) * 0x1p-24; };
  for (double& value : values) {
    if (!draws.normal) {
      value = draws.first + (draws.second - draws.first) * unit();
      continue;
    }
    // G. E. P. Box, M. E. Muller, "A note on the generation of random normal deviates", 1958.
    const double radius = std::sqrt(-2 * std::log(1 - unit())), angle = 2 * std::numbers::pi * unit();
    value = draws.first + draws.second * radius * std::cos(angle);
  }
  return HostTensor::from<double>(dtype, shape, values);
}

std::optional<DType> read_dtype(const NodeSpec& spec) {
  if (!spec.attributes->has("dtype")) return std::nullopt;
  return dtype_from_onnx(spec.attributes->get_int("dtype", 1));
}

DType require_float(DType dtype) {
  if (!is_float(dtype)) refuse_model("random numbers of type " + std::string(name(dtype)));
  return dtype;
}

}  // namespace

uint64_t read_seed(const NodeSpec& spec) {
  if (spec.attributes->has("seed")) return std::bit_cast<uint32_t>(spec.attributes->get_float("seed", 0.0f));
  return platform::fingerprint(std::as_bytes(std::span(spec.name))).low;
}

std::shared_ptr<const Operator> make_random(const NodeSpec& spec) {
  Draws draws{.seed = read_seed(spec), .normal = spec.type.starts_with("RandomNormal")};
  const Attributes& a = *spec.attributes;
  draws.first = static_cast<double>(draws.normal ? a.get_float("mean", 0.0f) : a.get_float("low", 0.0f));
  draws.second = static_cast<double>(draws.normal ? a.get_float("scale", 1.0f) : a.get_float("high", 1.0f));
  const std::optional<DType> dtype = read_dtype(spec);
  if (spec.type.ends_with("Like"))
    return composed(spec, [draws, dtype](Body& body) {
      const TensorType like = body.type(body.input(0, "input"));
      body.output(body.constant(draw(draws, require_float(dtype.value_or(like.dtype)), like.shape)));
    });
  const Ints shape = a.get_ints("shape");
  for (const int64_t dim : shape)
    if (dim < 0) refuse_model("shape has a dimension of " + std::to_string(dim));
  return composed(spec, [draws, dtype, shape](Body& body) {
    body.output(body.constant(draw(draws, require_float(dtype.value_or(DType::f32)), shape)));
  });
}

// 1 where a number of [0, 1) is below the element, which is a probability.
std::shared_ptr<const Operator> make_bernoulli(const NodeSpec& spec) {
  const Draws draws{.seed = read_seed(spec)};
  const std::optional<DType> dtype = read_dtype(spec);
  return composed(spec, [draws, dtype](Body& body) {
    const ValueId p = body.input(0, "input");
    const TensorType type = body.type(p);
    require_float(type.dtype);
    const ValueId drawn = body.constant(draw(draws, DType::f32, type.shape));
    body.output(body.cast(body.add("Less", {drawn, body.cast(p, DType::f32)}), dtype.value_or(type.dtype)));
  });
}

}  // namespace vellum
