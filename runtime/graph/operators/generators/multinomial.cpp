#include "graph/operators/generators/multinomial.hpp"

#include <bit>
#include <cmath>
#include <memory>

#include "graph/onnx_types.hpp"
#include "graph/operators/generators/random_seed.hpp"

namespace vellum {
namespace {

// The finaliser of MurmurHash3 (Austin Appleby, public domain), a bijection of 32 bits.
uint32_t mixed(uint32_t h) {
  h = (h ^ (h >> 16)) * 0x85ebca6bu;
  h = (h ^ (h >> 13)) * 0xc2b2ae35u;
  return h ^ (h >> 16);
}

// Returns -log(1 - w). A device's logarithm is inaccurate near 1, where the series is not.
double exponential(double w) {
  if (w >= 0.25) return -std::log(1 - w);
  double sum = 0;
  for (int k = 12; k > 0; --k) sum = w * (1.0 / k + sum);
  return sum;
}

}  // namespace

float gumbel(uint32_t seed, float x, uint32_t index, uint32_t sample) {
  uint32_t h = mixed(seed ^ 0x9e3779b9u);
  h = mixed(h ^ std::bit_cast<uint32_t>(x));
  h = mixed(h + 0x9e3779b9u * index);
  h = mixed(h + 0x85ebca6bu * sample);
  // A number in (0, 1), exact in a float.
  const double w = (static_cast<double>(h >> 9) + 0.5) * 0x1p-23;
  return static_cast<float>(-std::log(exponential(w)));
}

std::vector<TensorType> Multinomial::infer(Inputs inputs) const {
  const Shape& shape = float_input_type(inputs, 0, "input").shape;
  if (shape.size() != 2 || shape[1] == 0)
    refuse_model("input of shape " + to_string(shape) + " has no rows of classes");
  checked_element_count({shape[0], samples, shape[1]});
  return {{dtype, {shape[0], samples}}};
}

std::vector<HostTensor> Multinomial::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const std::vector<float> x = inputs[0]->to_floats();
  const auto classes = static_cast<size_t>(inputs[0]->shape()[1]), count = static_cast<size_t>(samples);
  std::vector<int64_t> y;
  for (size_t row = 0; row < x.size() / classes; ++row)
    for (size_t sample = 0; sample < count; ++sample) {
      size_t best = 0;
      float largest = 0;
      for (size_t i = 0; i < classes; ++i) {
        const size_t index = row * classes + i;
        const float value =
            x[index] + gumbel(seed, x[index], static_cast<uint32_t>(index), static_cast<uint32_t>(sample));
        if (i == 0 || value > largest) best = i, largest = value;
      }
      y.push_back(static_cast<int64_t>(best));
    }
  return {HostTensor::from<int64_t>(type.dtype, type.shape, y)};
}

uint64_t Multinomial::work(Inputs inputs, Outputs) const {
  constexpr uint64_t kNumber = 50;  // hash and logarithms
  return kNumber * static_cast<uint64_t>(samples) *
         static_cast<uint64_t>(element_count(inputs[0].type.shape));
}

Attributes Multinomial::attributes() const {
  Attributes result;
  result.set("sample_size", samples);
  result.set("seed", static_cast<int64_t>(seed));
  return result;
}

std::shared_ptr<const Operator> make_multinomial(const NodeSpec& spec) {
  auto op = std::make_shared<Multinomial>();
  const Attributes& a = *spec.attributes;
  op->samples = a.get_int("sample_size", 1);
  op->seed = static_cast<uint32_t>(read_seed(spec));
  op->dtype = dtype_from_onnx(a.get_int("dtype", dtype_to_onnx(DType::i32)));
  if (op->samples < 1) refuse_model("sample_size is " + std::to_string(op->samples));
  if (op->dtype != DType::i32 && op->dtype != DType::i64)
    refuse_model("samples of type " + std::string(name(op->dtype)));
  return op;
}

}  // namespace vellum
