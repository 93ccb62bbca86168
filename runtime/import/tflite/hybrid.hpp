// Hybrid layers (TensorFlow's dynamic range quantisation): inputs and outputs are floats, weights are
// integers. LiteRT quantises the input in each run, and multiplies integers.
#pragma once

#include <memory>

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/elementwise/dynamic_steps.hpp"
#include "import/tflite/call.hpp"

namespace vellum::tflite {

// Returns whether the operator is hybrid: input 0 has floats, input 1 has constant int8 weights without zero
// points for `channels` output channels, and input 2 is omitted or a constant bias.
bool is_hybrid(const Call& call, int64_t channels);

// Returns whether each output channel of the weights has a scale of its own.
bool has_scales_of_channels(const Call& call);

// Emits the layer. x: the input, in the form that `conv` reads. `weights`: as real numbers, output channels
// first. If `is_inner`, returns the result after the activation; otherwise defines output 0.
ValueId emit_hybrid(const Call& call, const Conv& conv, ValueId x, const HostTensor& weights, StepsForm form,
                    schema::FusedActivation activation, bool is_inner);

}  // namespace vellum::tflite
