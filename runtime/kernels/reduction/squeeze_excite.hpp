// Squeeze-and-excitation in one workgroup for each image (shaders/reduction/squeeze_excite.comp), or in the
// last workgroup of the dispatch that computes its input (shaders/reduction/last_gates.glsl).
#pragma once

#include <vector>

#include "graph/operators/reduction/squeeze_excite.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

struct SqueezeSizes {
  int64_t images, inputs, hidden, outputs, pixels;
};

// The roundings of a quantised model. A table has the function of rounded results, from the activation's
// least result on, in 256 entries; it is empty if there is none.
struct SqueezeRounding {
  Activation mean = {};
  std::vector<float> hidden_table = {}, gate_table = {};
  bool has_tables() const { return !hidden_table.empty() || !gate_table.empty(); }
};

// Returns whether one workgroup for the gates of an image is predicted to be faster than two dispatches.
bool shares_a_workgroup(const DeviceCaps& caps, const SqueezeSizes& sizes);

// Returns whether one workgroup for means and gates of an image is predicted to be faster than several
// dispatches.
bool is_for_a_workgroup(const DeviceCaps& caps, const SqueezeSizes& sizes);

// y = gate(W2 hidden(W1 mean(x) + B1) + B2). W1, B1, W2 and B2 are the node's inputs `weights` to `weights` +
// 3.
void squeeze_in_a_workgroup(Lowering& lowering, const SqueezeExcite& op, const SqueezeSizes& sizes,
                            TensorId x, size_t weights, TensorId y, const SqueezeRounding& rounding = {});

// Emits one dispatch for means and gates of input 0, or one for the means and one for the gates if x has many
// pixels. `sizes`: those of input 0. W1 is input 1.
void squeeze_input(Lowering& lowering, const SqueezeExcite& op, const SqueezeSizes& sizes,
                   const SqueezeRounding& rounding);

// Emits the means of the channels of input 0 to a workspace of floats.
TensorId means_of_input(Lowering& lowering);

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
