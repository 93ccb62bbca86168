// A convolution as the cost models of its kernels see it: a plain value.
#pragma once

#include <cstdint>

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/elementwise/activation.hpp"
#include "kernels/conv/tile.hpp"
#include "kernels/conv/window.hpp"
#include "kernels/framework/lowering.hpp"
#include "program/divide.hpp"

namespace vellum {

struct ConvProblem {
  int64_t images = 1;
  int64_t inputs = 1, outputs = 1;  // channels, all groups together
  int64_t height = 1, width = 1;    // of the output
  // The size of the layer of which this is a strip. Candidates and costs are those of the layer.
  int64_t whole_images = 1, whole_height = 1;
  bool whole_stays_inside = false;  // its windows (stays_inside())
  Window2d window;
  int64_t groups = 1;
  // The first output channels, whose window is its pixel in the middle (kernels/fused/branches.cpp).
  int64_t pointwise_outputs = 0;
  Activation activation;
  bool has_residual = false, has_scale = false;
  bool computes_weights = false;  // at run time
  bool scales_sums = false;       // of a ScaledConv: sums are exact, and scaled afterwards
  // Whether sums are of integers, as those of a ScaledConv or in fixed point: only kernels of bytes have
  // them.
  bool adds_integers = false;
  // One invocation adds up sums in parts, as integers: a ScaledConv or a convolution in fixed point has sums
  // that floats may not hold.
  bool exceeds_floats = false;
  Precision precision = Precision::fp32;
  Winograd winograd = Winograd::off;  // the option
  int64_t row_pixels = 0;             // TileDemand, of a 1x1 convolution
  // The common window along x makes up enough of the network for a shader variant of its own.
  bool has_much_of_common_window = false;

  int64_t group_inputs() const { return inputs / groups; }
  int64_t whole_lines() const { return whole_images * whole_height; }
  int64_t whole_pixels() const { return whole_lines() * width; }
  int64_t macs() const { return whole_pixels() * outputs * window.taps() * group_inputs(); }
  bool is_depthwise() const { return groups > 1 && groups == inputs && inputs == outputs; }
  bool is_pointwise() const { return groups == 1 && vellum::is_pointwise(window); }
  // The rows of the output, as tiles along x are to cover them.
  TileDemand rows() const { return {width, whole_lines(), slices(outputs), macs()}; }
};

// Returns the convolution of a Conv or a ScaledConv; null for other operators.
const Conv* conv_of(const Operator& op);
// Returns its window over these inputs.
WindowPlacement place_window(const Operator& op, const std::vector<OperatorInput>& inputs);

// Returns the problem of the Conv or ScaledConv that is being lowered; `window` is its window.
ConvProblem conv_problem(const Lowering& lowering, const Window2d& window);

// ConvProblem::has_much_of_common_window, of a node with that window along x.
bool has_much_of_common_window(const Lowering& lowering);

// Three pixels side by side: the most frequent window along an axis (0: x, 1: y).
bool is_common_window(const Window2d& window, size_t axis);

}  // namespace vellum
