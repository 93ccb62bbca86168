// Inputs of sessions that are measured, and the comparison of their outputs.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <utility>

#include "vellum/vellum.hpp"

namespace vellum::bench {

using Tensors = std::map<std::string, Tensor>;

// Floats are uniform in [-1, 1), the same at each call; other types are 0.
inline Tensors random_inputs(const Session& session) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> values(-1, 1);
  Tensors inputs;
  for (const TensorInfo& info : session.inputs()) {
    Tensor tensor(info.dtype, info.shape);
    if (info.dtype == DType::f32)
      for (float& value : tensor.mutable_as<float>()) value = values(random);
    inputs.emplace(info.name, std::move(tensor));
  }
  return inputs;
}

inline bool same_bits(const Tensors& a, const Tensors& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.shape() == y.second.shape() &&
           std::memcmp(x.second.data(), y.second.data(), x.second.byte_size()) == 0;
  });
}

}  // namespace vellum::bench
