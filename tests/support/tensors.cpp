#include "support/tensors.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace vellum::test {

HostTensor random_tensor(const Shape& shape, uint32_t seed, float low, float high) {
  std::mt19937 engine(seed);
  HostTensor tensor(DType::f32, shape);
  for (float& element : tensor.mutable_as<float>()) {
    // Not std::uniform_real_distribution, whose numbers differ between standard libraries.
    element = low + (high - low) * static_cast<float>(engine() >> 8) / 16777215.0f;
  }
  return tensor;
}

HostTensor counting(const Shape& shape) {
  HostTensor tensor(DType::f32, shape);
  float next = 0;
  for (float& element : tensor.mutable_as<float>()) element = next++;
  return tensor;
}

namespace {

struct Worst {
  double error = 0.0;
  size_t at = 0;
};

Worst worst_element(const std::vector<float>& actual, const std::vector<float>& expected) {
  Worst worst;
  for (size_t i = 0; i < actual.size(); ++i) {
    if (actual[i] == expected[i] || (std::isnan(actual[i]) && std::isnan(expected[i]))) continue;
    double error =
        std::abs(double{actual[i]} - double{expected[i]}) / std::max(1.0, std::abs(double{expected[i]}));
    if (!std::isfinite(error)) error = HUGE_VAL;
    if (error > worst.error) worst = {error, i};
  }
  return worst;
}

}  // namespace

double distance(const HostTensor& actual, const HostTensor& expected) {
  return worst_element(actual.to_floats(), expected.to_floats()).error;
}

double distance_of_sums(const HostTensor& actual, const HostTensor& expected, double least) {
  const std::vector<float> a = actual.to_floats(), b = expected.to_floats();
  double worst = 0, largest = least;
  for (const float value : b) largest = std::max(largest, std::abs(double{value}));
  for (size_t i = 0; i < b.size(); ++i) {
    const double element = std::abs(double{a[i]} - b[i]) / largest;
    worst = std::isnan(element) ? INFINITY : std::max(worst, element);
  }
  return worst;
}

testing::AssertionResult close(const HostTensor& actual, const HostTensor& expected, double tolerance) {
  if (actual.type() != expected.type()) {
    return testing::AssertionFailure()
           << "is " << name(actual.dtype()) << ' ' << to_string(actual.shape()) << ", expected "
           << name(expected.dtype()) << ' ' << to_string(expected.shape());
  }
  const std::vector<float> a = actual.to_floats(), b = expected.to_floats();
  const Worst worst = worst_element(a, b);
  if (worst.error <= tolerance) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "element " << worst.at << " is " << a[worst.at] << ", expected "
                                     << b[worst.at] << " (relative error " << worst.error << ", allowed "
                                     << tolerance << ")";
}

testing::AssertionResult same_bits(const HostTensor& actual, const HostTensor& expected) {
  if (actual.type() == expected.type() &&
      std::memcmp(actual.data(), expected.data(), actual.byte_size()) == 0)
    return testing::AssertionSuccess();
  return close(actual, expected, 0.0);
}

std::vector<HostTensor> random_inputs(const Graph& graph, uint32_t seed, float low, float high) {
  std::vector<HostTensor> inputs;
  for (const ValueId id : graph.inputs) {
    inputs.push_back(random_tensor(graph.values[id].type.shape, seed++, low, high));
  }
  return inputs;
}

}  // namespace vellum::test
