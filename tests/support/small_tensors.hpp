// Short names for the constants of small models.
#pragma once

#include <cstdint>
#include <vector>

#include "support/onnx_builder.hpp"

namespace vellum::test {

inline HostTensor ints(const std::vector<int64_t>& values) {
  return HostTensor::i64({static_cast<int64_t>(values.size())}, values);
}

inline HostTensor number(int64_t value) { return HostTensor::i64({}, std::vector<int64_t>{value}); }

inline HostTensor scalar(float value) { return HostTensor::f32({}, std::vector<float>{value}); }

// The attribute of a Transpose.
inline Attributes perm(const Attributes::Ints& order) { return attributes({{"perm", order}}); }

}  // namespace vellum::test
