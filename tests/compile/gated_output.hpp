// Squeeze-and-excitation as exporters write it.
#pragma once

#include "support/onnx_builder.hpp"

namespace vellum::test {

// Adds the gates of "filtered", by the initializers w1 and w2, and the 1x1 convolution of what they scale,
// w3, to the model, whose output is "y" then.
inline void add_gated_output(OnnxModel& model) {
  model.node("GlobalAveragePool", {"filtered"}, {"means"}, {}, "pool")
      .node("Conv", {"means", "w1"}, {"hidden"}, {}, "fc1")
      .node("Relu", {"hidden"}, {"active"}, {}, "relu")
      .node("Conv", {"active", "w2"}, {"channels"}, {}, "fc2")
      .node("Sigmoid", {"channels"}, {"gates"}, {}, "gate")
      .node("Mul", {"filtered", "gates"}, {"scaled"}, {}, "scale")
      .node("Conv", {"scaled", "w3"}, {"y"}, {}, "project")
      .output("y");
}

}  // namespace vellum::test
