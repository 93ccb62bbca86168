// A convolution as the cost models of its kernels see it: a plain value.
#pragma once

#include <cstdint>

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/elementwise/activation.hpp"
#include "kernels/conv/byte_weights.hpp"
#include "kernels/conv/tile.hpp"
#include "kernels/conv/window.hpp"
#include "kernels/framework/lowering.hpp"
#include "program/divide.hpp"

namespace vellum {

struct ConvProblem {
  int64_t images = 1;
  int64_t inputs = 1, outputs = 1;  // channels, all groups together
  int64_t height = 1, width = 1;    // of the output
  // The size of the whole layer, if this is a strip of it. Candidates and costs are those of the whole layer.
  int64_t whole_images = 1, whole_height = 1;
  bool whole_stays_inside = false;  // no window of the whole layer reads padding (stays_inside())
  Window2d window;
  int64_t groups = 1;
  std::vector<ChannelTaps> channel_taps = {};  // of a depthwise convolution; empty: all taps
  // The number of leading output channels whose window is only its middle pixel: the 1x1 branch of
  // kernels/fused/branches.cpp.
  int64_t pointwise_outputs = 0;
  Activation activation, scaling;  // Conv::scaling
  bool has_residual = false, has_scale = false;
  bool computes_weights = false;  // the weights or the bias are computed at run time
  bool scales_sums = false;       // a ScaledConv: sums are exact, and scaled afterwards
  // The sums are integers: a ScaledConv, or a convolution in fixed point. Only kernels with 8-bit weights
  // compute them.
  bool adds_integers = false;
  // With adds_integers: fp32 may not hold the sums, so that one invocation accumulates them as integers.
  bool exceeds_floats = false;
  bool multiplies_bytes = false;   // can_multiply_matrices()
  ByteWeightsPointer narrow = {};  // not null: narrow_weights(), for kernels of whole sums in fp32
  Precision precision = Precision::fp32;
  Winograd winograd = Winograd::off;  // the session's option
  int64_t row_pixels = 0;             // TileDemand::row_pixels, for a 1x1 convolution
  // The window is common along x (is_common_window()), and such layers make up enough of the network to be
  // worth a shader variant of their own.
  bool has_much_of_common_window = false;

  int64_t group_inputs() const { return inputs / groups; }
  int64_t products() const { return window.taps() * group_inputs(); }  // of a sum
  int64_t whole_lines() const { return whole_images * whole_height; }
  int64_t whole_pixels() const { return whole_lines() * width; }
  int64_t macs() const { return whole_pixels() * outputs * window.taps() * group_inputs(); }
  bool is_depthwise() const { return groups > 1 && groups == inputs && inputs == outputs; }
  bool is_pointwise() const { return groups == 1 && vellum::is_pointwise(window); }
  // Returns the demand of a kernel whose tiles cover the rows of the output.
  TileDemand rows() const { return {width, whole_lines(), slices(outputs), macs()}; }
};

// Returns the convolution of a Conv, a ScaledConv or FusedNodes with a table; null for other operators.
const Conv* conv_of(const Operator& op);
// Returns the window of such an operator over these inputs.
WindowPlacement place_window(const Operator& op, const std::vector<OperatorInput>& inputs);

// Returns the problem of the convolution that is being lowered; `window` is its window.
ConvProblem conv_problem(const Lowering& lowering, const Window2d& window);

// Returns whether the network's convolutions with the common window along x have enough multiply-accumulates
// for a shader variant of their own (DeviceTraits::macs_worth_a_variant).
bool has_much_of_common_window(const Lowering& lowering);

// Returns whether the window along an axis (0: x, 1: y) is the most frequent one: three adjacent pixels.
bool is_common_window(const Window2d& window, size_t axis);

}  // namespace vellum
