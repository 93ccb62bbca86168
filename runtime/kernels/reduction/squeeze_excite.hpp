// Squeeze-and-excitation in one workgroup for each image (shaders/reduction/squeeze_excite.comp), or in the
// last workgroup of the dispatch that computes its input (shaders/reduction/last_gates.glsl).
#pragma once

#include "graph/operators/reduction/squeeze_excite.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

struct SqueezeSizes {
  int64_t images, inputs, hidden, outputs, pixels;
};

// Returns whether one workgroup for means and gates of an image is predicted to be faster than several
// dispatches.
bool is_for_a_workgroup(const DeviceCaps& caps, const SqueezeSizes& sizes);

// y = gate(W2 hidden(W1 mean(x) + B1) + B2). W1, B1, W2 and B2 are the node's inputs `weights` to `weights` +
// 3.
void squeeze_in_a_workgroup(Lowering& lowering, const SqueezeExcite& op, const SqueezeSizes& sizes,
                            TensorId x, size_t weights, TensorId y);

// Tensors and parameters of gates that the last workgroup of another dispatch computes. That dispatch stores
// the values that the gates scale (shaders/reduction/last_gates.glsl).
struct LastGates {
  const SqueezeExcite* op = nullptr;  // null: no gates
  SqueezeSizes sizes{};
  TensorId means = kNoTensor, w1 = kNoTensor, w2 = kNoTensor, gates = kNoTensor, counters = kNoTensor;
  bool in_bytes = false;  // the weights w1 and w2
  vec4 hidden_params{0, 0, 0, 0}, gate_params{0, 0, 0, 0};
  int64_t hidden_channels = 0, counter = 0, ahead = 1;
};
// The resources that a kernel uses in addition to those for means and gates.
struct KernelResources {
  uint32_t buffers = 0;
  int64_t shared_bytes = 0;
};
// Returns whether the last workgroup, of `invocations` invocations, should compute the gates. The device must
// have the resources for the gates in addition to `others`, and the last workgroup must be predicted to be
// faster than a separate dispatch.
bool gates_are_last(const DeviceCaps& caps, const SqueezeSizes& sizes, int64_t invocations,
                    const KernelResources& others);
// Prepares the gates. `weights`: as in squeeze_in_a_workgroup(); `sizes.pixels`: number of means of each
// channel. Call it before the other dispatch is added, because it may add one itself.
LastGates last_gates(Lowering& lowering, const SqueezeExcite& op, const SqueezeSizes& sizes, size_t weights,
                     TensorId gates);
// Adds the bindings, macros and iterations of the gates to a dispatch with workgroups of `invocations`
// invocations.
void add_gates(Dispatch& dispatch, const LastGates& gates, int64_t invocations);

}  // namespace vellum
