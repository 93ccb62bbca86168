// A small network with layers that a budget of weights splits.
#pragma once

#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {

// With kSplittingBudget the second convolution, of 9,216 bytes of weights, is computed in four parts.
inline constexpr uint64_t kSplittingBudget = 9000;

// Conv 3x3 (8 to 16 channels), Relu, Conv 3x3 (16 to 16).
inline OnnxModel network() {
  const Attributes same = attributes({{"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  OnnxModel model;
  model.input("x", {1, 8, 12, 12})
      .initializer("w1", random_tensor({16, 8, 3, 3}, 1))
      .initializer("w2", random_tensor({16, 16, 3, 3}, 2))
      .node("Conv", {"x", "w1"}, {"a"}, same, "conv1")
      .node("Relu", {"a"}, {"b"}, {}, "relu")
      .node("Conv", {"b", "w2"}, {"y"}, same, "conv2")
      .output("y");
  return model;
}

}  // namespace vellum::test
