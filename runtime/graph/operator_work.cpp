// Estimates the elementary operations of host references: Operator::work().
#include <cstdint>

#include "graph/operator_support.hpp"

namespace vellum {

uint64_t saturating_multiply(uint64_t a, uint64_t b) {
  return a != 0 && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

uint64_t saturating_add(uint64_t a, uint64_t b) { return b > UINT64_MAX - a ? UINT64_MAX : a + b; }

uint64_t elementwise_work(Inputs inputs, Outputs outputs) {
  constexpr uint64_t kElement = 4;  // conversions and strides included
  uint64_t elements = 0;
  const auto count = [&](const TensorType& type) {
    if (is_known(type.shape))
      elements = saturating_add(elements, static_cast<uint64_t>(element_count(type.shape)));
  };
  for (const OperatorInput& input : inputs)
    if (input.present) count(input.type);
  for (const TensorType& output : outputs) count(output);
  return saturating_multiply(elements, kElement);
}

uint64_t Operator::work(Inputs inputs, Outputs outputs) const {
  return saturating_add(elementwise_work(inputs, outputs), saturating_multiply(macs(inputs), 2));
}

}  // namespace vellum
