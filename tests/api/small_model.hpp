// A small network with an input "x" and an output "y" for tests of the public interfaces.
#pragma once

#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {

// Conv 3x3 (3 to 5 channels), Relu, MaxPool 2x2, Conv 1x1 (5 to 2).
inline OnnxModel small_model(const Shape& input = {1, 3, 9, 11}) {
  OnnxModel model;
  model.input("x", input)
      .initializer("w1", random_tensor({5, 3, 3, 3}, 1))
      .initializer("b1", random_tensor({5}, 2))
      .initializer("w2", random_tensor({2, 5, 1, 1}, 3))
      .node("Conv", {"x", "w1", "b1"}, {"a"}, attributes({{"pads", std::vector<int64_t>{1, 1, 1, 1}}}),
            "conv1")
      .node("Relu", {"a"}, {"b"}, {}, "relu")
      .node(
          "MaxPool", {"b"}, {"c"},
          attributes({{"kernel_shape", std::vector<int64_t>{2, 2}}, {"strides", std::vector<int64_t>{2, 2}}}),
          "pool")
      .node("Conv", {"c", "w2"}, {"y"}, {}, "conv2")
      .output("y");
  return model;
}

}  // namespace vellum::test
