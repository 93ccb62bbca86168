// Layers of floats whose weights are integers ("hybrid", of TensorFlow's dynamic range quantisation): LiteRT
// quantises their input in each run, and multiplies integers.
#pragma once

#include <memory>

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/elementwise/dynamic_steps.hpp"
#include "import/tflite/call.hpp"

namespace vellum::tflite {

// Returns whether inputs 0 to 2 are floats, constant int8 weights for `channels` without zero points, and no
// bias or a constant one.
bool is_hybrid(const Call& call, int64_t channels);

// Returns whether each output channel of the weights has a scale of its own.
bool has_scales_of_channels(const Call& call);

// Emits the layer. x: the input, in the form that `conv` reads. `weights`: the real numbers, output channels
// first. Returns its result after the activation if `is_inner`, else defines output 0.
ValueId emit_hybrid(const Call& call, const Conv& conv, ValueId x, const HostTensor& weights, StepsForm form,
                    schema::FusedActivation activation, bool is_inner);

}  // namespace vellum::tflite
