// Squeeze-and-excitation in one workgroup for each image (shaders/reduction/squeeze_excite.comp).
#pragma once

#include "graph/operators/reduction/squeeze_excite.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

struct SqueezeSizes {
  int64_t images, inputs, hidden, outputs, pixels;
};

// Returns whether one workgroup is faster than dispatches of many, the means included.
bool is_for_a_workgroup(const DeviceCaps& caps, const SqueezeSizes& sizes);

// y = gate(W2 hidden(W1 mean(x) + B1) + B2). W1, B1, W2 and B2 are the node's inputs from `weights` on.
void squeeze_in_a_workgroup(Lowering& lowering, const SqueezeExcite& op, const SqueezeSizes& sizes,
                            TensorId x, size_t weights, TensorId y);

// The gates as a part of the dispatch that stores what they scale (shaders/reduction/last_gates.glsl): its
// tensors and parameters.
struct LastGates {
  const SqueezeExcite* op = nullptr;  // null: no gates
  SqueezeSizes sizes{};
  TensorId means = kNoTensor, w1 = kNoTensor, w2 = kNoTensor, gates = kNoTensor, counters = kNoTensor;
  vec4 hidden_params{0, 0, 0, 0}, gate_params{0, 0, 0, 0};
  int64_t hidden_channels = 0, counter = 0, ahead = 1;
};
// The resources of a kernel, without those for means and gates.
struct KernelResources {
  uint32_t buffers = 0;
  int64_t shared_bytes = 0;
};
// Whether the last workgroup, of `invocations`, should compute the gates: where the device has room for them
// besides `others`, and that is predicted to take less time than a dispatch of its own.
bool gates_are_last(const DeviceCaps& caps, const SqueezeSizes& sizes, int64_t invocations,
                    const KernelResources& others);
// Weights as in squeeze_in_a_workgroup(); `sizes.pixels` means of each channel. Call it before the dispatch
// is added, for it may add another one.
LastGates last_gates(Lowering& lowering, const SqueezeExcite& op, const SqueezeSizes& sizes, size_t weights,
                     TensorId gates);
// Adds the bindings, macros and iterations; workgroups are of `invocations`.
void add_gates(Dispatch& dispatch, const LastGates& gates, int64_t invocations);

}  // namespace vellum
