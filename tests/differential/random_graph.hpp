// Random ONNX models of all kinds of operators, for comparing engines and ways to run them.
#pragma once

#include <cstdint>

#include "support/onnx_builder.hpp"

namespace vellum::test {

struct RandomGraph {
  OnnxModel model;
  // Compares, rounds or picks a largest element: a rounding more or less may change an output by much. Inputs
  // of such operators are computed without rounding in fp32.
  bool discontinuous = false;
};

// Large: pictures of some hundred pixels a side and axes of up to 140,000 elements, in fewer nodes, for loops
// that follow an axis.
enum class Axes : uint8_t { small, large };

// Equal seeds give equal models on all machines. Inputs "x0", "x1", ...; every value that no node reads is an
// output.
RandomGraph random_graph(uint32_t seed, Axes axes = Axes::small);

}  // namespace vellum::test
