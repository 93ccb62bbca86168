// Lowers SqueezeExcite: means of channels, and two matrix products of these means.
#include "kernels/reduction/squeeze_excite.hpp"

#include <algorithm>

#include "cost/device_traits.hpp"
#include "cost/gates.hpp"
#include "graph/operators/fused/fused_nodes.hpp"
#include "kernels/conv/pointwise.hpp"
#include "kernels/conv/result_table.hpp"
#include "kernels/framework/activation.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/iterations.hpp"
#include "kernels/framework/step_rounding.hpp"
#include "kernels/reduction/reduce.hpp"
#include "shaders/reduction/squeeze_excite.h"

namespace vellum {
namespace {

// The slices of channels that a workgroup of shaders/reduction/squeeze_excite.comp holds. It holds them
// twice, in the 16 KiB of shared memory that every device has.
constexpr int64_t kMostSlices = 512;
constexpr int64_t kTexel = 16, kBytesPerSlice = 2 * kTexel;

SqueezeSizes sizes_of(const Lowering& lowering) {
  const auto [n, c, h, w] = nchw(lowering.input_type(0).shape);
  return {n, c, lowering.input_type(1).shape[0], lowering.output_type().shape[1], h * w};
}

bool fits_a_workgroup(const DeviceCaps& caps, const SqueezeSizes& sizes) {
  return caps.max_shared_memory_bytes >= kMostSlices * kBytesPerSlice &&
         slices(std::max({sizes.inputs, sizes.hidden, sizes.outputs})) <= kMostSlices;
}

int64_t most_slices(const SqueezeSizes& sizes) {
  return slices(std::max({sizes.inputs, sizes.hidden, sizes.outputs}));
}

// Returns the slices for which a workgroup of last_gates.glsl allocates shared memory. They are rounded up,
// so that layers with nearly as many channels share a pipeline.
int64_t held_slices(int64_t most, int64_t invocations) {
  constexpr int64_t kStep = 64;
  return divide_up(std::max(most, invocations), kStep) * kStep;
}

// Returns whether one workgroup for each image should compute the gates. It reads all weights, so that long
// products are faster as separate dispatches.
bool should_share_a_workgroup(const DeviceCaps& caps, const SqueezeSizes& sizes) {
  const int64_t products = sizes.hidden * (sizes.inputs + sizes.outputs);
  return products <= device_traits(caps).most_products_of_a_workgroup;
}

// Returns whether the same workgroup should compute the means, too: many texels are faster as a separate
// dispatch.
bool should_take_means_there(const DeviceCaps& caps, const SqueezeSizes& sizes) {
  const int64_t texels = sizes.pixels * slices(sizes.inputs);
  return texels <= device_traits(caps).most_texels_of_a_workgroup;
}

// Returns the invocations that share a row of products (gates.glsl).
int64_t parts_of(int64_t invocations, int64_t rows, int64_t columns) {
  return std::clamp<int64_t>(invocations / rows, 1, columns);
}

// Returns the iterations of two loops over rows: one computes the partial sums of rows of `columns` products,
// the other adds them up.
uint64_t iterations_of_rows(int64_t invocations, int64_t rows, int64_t columns) {
  const int64_t parts = parts_of(invocations, rows, columns);
  return loop_iterations(divide_up(rows * parts, invocations),
                         loop_iterations(divide_up(columns, parts)) + 1) +
         loop_iterations(divide_up(rows, invocations), loop_iterations(parts));
}

// Returns the iterations of gates.glsl.
uint64_t iterations_of_gates(int64_t invocations, const SqueezeSizes& sizes) {
  return iterations_of_rows(invocations, slices(sizes.hidden), slices(sizes.inputs)) +
         iterations_of_rows(invocations, slices(sizes.outputs), slices(sizes.hidden));
}

// The weights of the two products.
struct GateWeights {
  TensorId hidden = kNoTensor, gate = kNoTensor;
  bool in_bytes = false;
};

// `weights`: the input with the weights of the first product. Both are in bytes, or none is.
GateWeights gate_weights(Lowering& lowering, const SqueezeSizes& sizes, size_t weights) {
  ConvWeights hidden{sizes.inputs, sizes.hidden, 1, 1, 1}, gate{sizes.hidden, sizes.outputs, 1, 1, 1};
  hidden.bytes = byte_weights(lowering, weights);
  if (hidden.bytes) gate.bytes = byte_weights(lowering, weights + 2);
  if (!gate.bytes) hidden.bytes = nullptr;
  const auto weight = [&](const char* name, const ConvWeights& grid, size_t i) {
    return lowering.weight(lowering.node().name + name, weight_grid(lowering, grid),
                           conv_values(lowering, grid, i));
  };
  return {weight("/hidden", hidden, weights), weight("/gate", gate, weights + 2), gate.bytes != nullptr};
}

Grid one_workgroup_each(const DeviceCaps& caps, int64_t images) {
  Grid grid = workgroups_in_a_row(caps, images);
  grid.workgroup_size = {std::min({256u, caps.max_workgroup_invocations, caps.max_workgroup_size[0]}), 1, 1};
  return grid;
}

// Rounds the means, and binds the tables of hidden channels and gates.
void add_rounding(Lowering& lowering, Dispatch& dispatch, const SqueezeRounding& rounding) {
  if (rounding.mean.is_rounded()) {
    define(dispatch, "MEAN_ROUNDED");
    define_steps(dispatch, {result_steps(rounding.mean)});
    dispatch.appended.insert(dispatch.appended.end(), {{"mean_step", rounding.mean.step},
                                                       {"mean_least", rounding.mean.least},
                                                       {"mean_most", rounding.mean.most}});
  }
  if (!rounding.has_tables()) return;
  dispatch.bindings.push_back(
      reads("tables", pair_of_tables(lowering, rounding.hidden_table, rounding.gate_table)));
  if (!rounding.hidden_table.empty()) define(dispatch, "HIDDEN_TABLE");
  if (!rounding.gate_table.empty()) define(dispatch, "GATE_TABLE");
}

}  // namespace

TensorId means_of_input(Lowering& lowering) {
  std::vector<bool> reduced(lowering.input_type(0).shape.size(), true);
  reduced[0] = reduced[1] = false;
  return reduce_to_workspace(lowering, "ReduceMean", reduced);
}

void squeeze_in_a_workgroup(Lowering& lowering, const SqueezeExcite& op, const SqueezeSizes& sizes,
                            TensorId x, size_t weights, TensorId y, const SqueezeRounding& rounding) {
  const GateWeights products = gate_weights(lowering, sizes, weights);
  Dispatch dispatch =
      make_dispatch("squeeze_excite", one_workgroup_each(lowering.caps(), sizes.images),
                    {reads("x", x), reads("w1", products.hidden), reads("w2", products.gate), writes("y", y)},
                    SqueezeExciteParameters{.x_shape = texel_shape(lowering.tensor(x).desc.shape),
                                            .y_shape = texel_shape(lowering.tensor(y).desc.shape),
                                            .activation_params = activation_params_or_bounds(op.hidden),
                                            .gate_params = activation_params_or_bounds(op.gate),
                                            .hidden_channels = sizes.hidden});
  if (products.in_bytes) define(dispatch, "BYTE_GATES");
  const int64_t invocations = dispatch.workgroup_size[0];
  const auto [n, c, h, w] = nchw(lowering.tensor(x).desc.shape);
  dispatch.iterations =
      iterations_of_rows(invocations, slices(c), h * w) + iterations_of_gates(invocations, sizes);
  dispatch.macs = static_cast<uint64_t>(sizes.images * sizes.hidden * (sizes.inputs + sizes.outputs));
  define_activation_or_bounds(dispatch, op.hidden);
  define_activation_or_bounds(dispatch, op.gate, "GATE");
  define(dispatch, "MOST_SLICES", std::to_string(kMostSlices));
  add_rounding(lowering, dispatch, rounding);
  if (const auto* fused = dynamic_cast<const FusedNodes*>(lowering.node().op.get());
      fused && fused->kernel == FusedKernelId::rounded_gates)
    dispatch.fused = FusedKernelId::rounded_gates;
  lowering.dispatch(std::move(dispatch));
}

bool shares_a_workgroup(const DeviceCaps& caps, const SqueezeSizes& sizes) {
  return fits_a_workgroup(caps, sizes) && should_share_a_workgroup(caps, sizes);
}

void squeeze_input(Lowering& lowering, const SqueezeExcite& op, const SqueezeSizes& sizes,
                   const SqueezeRounding& rounding) {
  const TensorId x = should_take_means_there(lowering.caps(), sizes) ? lowering.read(0, Layout::channels4)
                                                                     : means_of_input(lowering);
  squeeze_in_a_workgroup(lowering, op, sizes, x, 1, lowering.write(0, Layout::channels4), rounding);
}

bool gates_are_last(const DeviceCaps& caps, const SqueezeSizes& sizes, int64_t invocations,
                    const KernelResources& others) {
  constexpr uint32_t kTensors = 5;  // means, two weights, gates, counters
  const int64_t products = sizes.hidden * (sizes.inputs + sizes.outputs);
  const int64_t shared = others.shared_bytes + kBytesPerSlice * held_slices(most_slices(sizes), invocations) +
                         kTexel * invocations;
  return others.buffers + kTensors <= caps.max_storage_buffers_per_stage && sizes.inputs == sizes.outputs &&
         shared + kTexel <= caps.max_shared_memory_bytes && computes_gates_last(caps, products, invocations);
}

LastGates last_gates(Lowering& lowering, const SqueezeExcite& op, const SqueezeSizes& sizes, size_t weights,
                     TensorId gates) {
  const Lowering::Counters counters = lowering.counters(sizes.images);
  // The means are in a buffer even if other tensors are in images, because workgroups read the means of other
  // workgroups.
  const TensorDesc means{
      {sizes.images, sizes.inputs, 1, sizes.pixels}, ElementType::f32, Storage::buffer, Layout::channels4};
  const TensorId means_tensor = lowering.workspace(lowering.node().name + "/means", means);
  const GateWeights products = gate_weights(lowering, sizes, weights);
  return {.op = &op,
          .sizes = sizes,
          .means = means_tensor,
          .w1 = products.hidden,
          .w2 = products.gate,
          .gates = gates,
          .counters = counters.tensor,
          .in_bytes = products.in_bytes,
          .hidden_params = activation_params_or_bounds(op.hidden),
          .gate_params = activation_params_or_bounds(op.gate),
          .hidden_channels = sizes.hidden,
          .counter = counters.first,
          .ahead = device_traits(lowering.caps()).gate_slices_ahead};
}

void add_gates(Dispatch& dispatch, const LastGates& gates, int64_t invocations) {
  for (Binding binding : {writes("means", gates.means), reads("w1", gates.w1), reads("w2", gates.w2),
                          writes("gates", gates.gates), reads_and_writes("counters", gates.counters)})
    dispatch.bindings.push_back(std::move(binding));
  define(dispatch, "GATES");
  if (gates.in_bytes) define(dispatch, "BYTE_GATES");
  dispatch.workgroups_cooperate = true;
  if (gates.ahead > 1) define(dispatch, "GATES_AHEAD", std::to_string(gates.ahead));
  define(dispatch, "MOST_SLICES", std::to_string(held_slices(most_slices(gates.sizes), invocations)));
  const int64_t rows = divide_up(slices(gates.sizes.inputs), invocations);
  dispatch.iterations += loop_iterations(rows, loop_iterations(gates.sizes.pixels)) +
                         iterations_of_gates(invocations, gates.sizes);
  define_activation_or_bounds(dispatch, gates.op->hidden, "HIDDEN");
  define_activation_or_bounds(dispatch, gates.op->gate, "GATE");
}

bool is_for_a_workgroup(const DeviceCaps& caps, const SqueezeSizes& sizes) {
  return shares_a_workgroup(caps, sizes) && should_take_means_there(caps, sizes);
}

namespace {

// Emits one workgroup for each image, which computes the gates. `means`: it also computes the means;
// otherwise a reduction before it does.
void run_in_a_workgroup(Lowering& lowering, const SqueezeSizes& sizes, bool means) {
  const TensorId x = means ? lowering.read(0, Layout::channels4) : means_of_input(lowering);
  squeeze_in_a_workgroup(lowering, lowering.op<SqueezeExcite>(), sizes, x, 1,
                         lowering.write(0, Layout::channels4));
}

void multiply(Lowering& lowering, size_t i, TensorId x, TensorId y, const Activation& activation) {
  const int64_t inputs = lowering.tensor(x).desc.shape[1], outputs = lowering.tensor(y).desc.shape[1];
  ConvWeights weights{inputs, outputs, 1, 1, 1};
  const auto [n, c, h, w] = nchw(lowering.tensor(x).desc.shape);
  const PointwiseTile tile = lowering.best_of(pointwise_tiles("pointwise", lowering.caps(),
                                                              {.pixels = lowering.of_whole(n * h * w),
                                                               .inputs = c,
                                                               .outputs = outputs,
                                                               .precision = lowering.options().precision}));
  weights.tile_slices = slices_of(tile);
  if (reads_bytes(tile)) weights.bytes = byte_weights(lowering, i);
  dispatch_pointwise(lowering, x, y, weights, tile, activation, conv_values(lowering, weights, i));
}

void multiply_one_by_one(Lowering& lowering, const SqueezeSizes& sizes) {
  const auto& op = lowering.op<SqueezeExcite>();
  const TensorId means = means_of_input(lowering);
  Shape shape = lowering.tensor(means).desc.shape;
  shape[1] = sizes.hidden;
  const TensorId hidden = lowering.workspace_like(means, std::move(shape), "/hidden");
  multiply(lowering, 1, means, hidden, op.hidden);
  multiply(lowering, 3, hidden, lowering.write(0, Layout::channels4), op.gate);
}

// Returns the candidates, ordered by their predicted costs.
std::vector<KernelCandidate> candidates_for(const DeviceCaps& caps, const SqueezeSizes& sizes) {
  const KernelCandidate steps_apart{
      {"steps apart"}, 3, [sizes](Lowering& lowering) { multiply_one_by_one(lowering, sizes); }};
  if (!fits_a_workgroup(caps, sizes)) return {steps_apart};
  const bool shares = should_share_a_workgroup(caps, sizes);
  const bool takes_means = shares && should_take_means_there(caps, sizes);
  return {{{"one workgroup"},
           takes_means ? 1.0 : 4.0,
           [sizes](Lowering& lowering) { run_in_a_workgroup(lowering, sizes, true); }},
          {{"means apart"},
           shares ? 2.0 : 4.0,
           [sizes](Lowering& lowering) { run_in_a_workgroup(lowering, sizes, false); }},
          steps_apart};
}

}  // namespace

void lower_squeeze_excite(Lowering& lowering) {
  for (const size_t i : {1u, 2u, 3u, 4u})
    if (lowering.has_input(i) && !lowering.constant(i))
      return lowering.run_on_host("its weights are computed at run time");
  if (lowering.input_type(0).shape.size() > 4) return lowering.run_on_host("it has three spatial dimensions");
  const SqueezeSizes sizes = sizes_of(lowering);
  lowering.emit_best(candidates_for(lowering.caps(), sizes));
}

}  // namespace vellum
