// Convolutions and products for the tests of kernels that multiply matrices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "graph/operators/conv/conv.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {

// With known weights, a bias and ReLU.
inline OperatorCase conv(Shape x, Shape w, const Attributes& attributes = {}) {
  OperatorCase test;
  test.type = "Conv";
  const int64_t filters = w[0];
  const float range = 2.0f / static_cast<float>(w[1]);
  test.inputs = {random_tensor(std::move(x), 1), random_tensor(std::move(w), 2, -range, range),
                 random_tensor({filters}, 3)};
  test.constants = {1, 2};
  test.attributes = attributes;
  test.activation = {ActivationKind::relu};
  return test;
}

// The case with a residual.
inline OperatorCase with_residual(OperatorCase test, Shape y) {
  test.inputs.push_back(random_tensor(std::move(y), 4));
  test.op = std::make_shared<Conv>();
  return test;
}
// The case with a scale for each channel of x.
inline OperatorCase with_scale(OperatorCase test, Shape scale) {
  test.inputs.push_back(std::nullopt);
  test.inputs.push_back(random_tensor(std::move(scale), 5, 0.0f, 1.0f));
  test.op = std::make_shared<Conv>();
  return test;
}

inline OperatorCase gemm(int64_t m, int64_t k, int64_t n) {
  OperatorCase test;
  test.type = "Gemm";
  const float range = 2.0f / static_cast<float>(k);
  test.inputs = {random_tensor({m, k}, 1), random_tensor({k, n}, 2, -range, range), random_tensor({n}, 3)};
  test.constants = {1, 2};
  return test;
}

// The right side has one column of padding less.
inline Attributes window(int64_t stride, int64_t dilation, int64_t pad) {
  Attributes attributes;
  attributes.set("strides", Attributes::Ints{stride, stride});
  attributes.set("dilations", Attributes::Ints{dilation, dilation});
  attributes.set("pads", Attributes::Ints{pad, pad, pad, std::max<int64_t>(pad - 1, 0)});
  return attributes;
}

}  // namespace vellum::test
