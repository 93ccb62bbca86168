#include "plan/dispatch_model.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>

#include "cost/device_rates.hpp"
#include "cost/device_traits.hpp"
#include "cost/matrix_code.hpp"
#include "cost/tile_code.hpp"
#include "plan/buffer_copies.hpp"

namespace vellum {
namespace {

// Where the device does not say it: that of most GPUs.
constexpr uint32_t kUsualSubgroup = 32;

double milliseconds_to_move(const DeviceCaps& caps, double bytes) {
  const double rate = device_rates(caps).gigabytes_per_s;
  return rate > 0 ? 1e-6 * bytes / rate : 0;
}

uint64_t product(const std::array<uint32_t, 3>& sizes) { return uint64_t{sizes[0]} * sizes[1] * sizes[2]; }

// Bytes of the tensors that the dispatch binds, each once. What copies a part of a tensor, or into a part of
// one, moves the part alone.
uint64_t bound_bytes(const Program& program, const Dispatch& dispatch, double share_of_x) {
  std::map<TensorId, uint64_t> bytes;
  uint64_t written = 0;
  for (const Binding& binding : dispatch.bindings) {
    uint64_t size = program.tensors[binding.tensor].desc.byte_size();
    if (binding.name == "x") size = static_cast<uint64_t>(share_of_x * static_cast<double>(size));
    if (binding.name == "w" && dispatch.shader == "winograd_output")
      size = 0;  // of the weights only the bias
    bytes[binding.tensor] = size;
    if (binding.access != Access::read) written = size;
  }
  uint64_t sum = 0, least = UINT64_MAX;
  for (const auto& [tensor, size] : bytes) {
    sum += size;
    least = std::min(least, size);
  }
  if (dispatch.shader == "strided_copy") return 2 * written;
  if (dispatch.shader == "concat_linear") return 2 * (sum - written);
  return dispatch.shader == "copy_region" ? 2 * least : sum;
}

int64_t number(const Dispatch& dispatch, std::string_view define) {
  for (const auto& [name, value] : dispatch.defines)
    if (name == define) return std::stoll(value);
  return 0;
}

bool has(const Dispatch& dispatch, std::string_view define) {
  return std::ranges::any_of(dispatch.defines, [&](const auto& row) { return row.first == define; });
}

// The share of the peak rate that the dispatch's kernel is taken to reach, and the loads of an invocation
// that wait for one another.
struct Loop {
  double efficiency = 1, steps = 0;
};

// The binding of y in conv_expand.comp, and the share of the instructions of its depthwise part that
// multiply.
constexpr size_t kExpandOutput = 3;
constexpr double kCheckedEfficiency = 0.3;

// The loads of an invocation that wait for one another while its workgroup computes gates from means
// (last_gates.glsl): each texel of weights is a product with four results, and four are loaded together, or
// those of several slices.
double gate_steps(const Program& program, const Dispatch& dispatch) {
  if (!has(dispatch, "GATES")) return 0;
  int64_t products = 0;
  for (const Binding& binding : dispatch.bindings)
    if (binding.name == "w1" || binding.name == "w2")
      products += element_count(program.tensors[binding.tensor].desc.shape);
  const auto ahead = static_cast<double>(std::max<int64_t>(1, number(dispatch, "GATES_AHEAD")));
  return kStepsAround +
         static_cast<double>(products) / 16 / ahead / static_cast<double>(product(dispatch.workgroup_size));
}

// A depthwise separable convolution: each invocation filters fours of pixels, then it multiplies what its
// workgroup filtered.
Loop separable_loop(const Program& program, const Dispatch& dispatch, const DeviceTraits& traits) {
  const int64_t channels = program.tensors[dispatch.bindings.front().tensor].desc.shape[1];
  const auto slices = static_cast<double>((channels + 3) / 4);
  const auto invocations = static_cast<double>(product(dispatch.workgroup_size));
  const auto fours = static_cast<double>(number(dispatch, "WIDTH") * number(dispatch, "HEIGHT")) / 4;
  const TileCode code = tile_code(traits, {number(dispatch, "TILE_P"), number(dispatch, "TILE_S")}, false);
  const auto split = static_cast<double>(number(dispatch, "SPLIT_K"));
  return {code.efficiency, kStepsAround + kStepsToReduce + (split > 1 ? kStepsToReduce : 0) +
                               std::ceil(slices * fours / invocations) +
                               slices / split / static_cast<double>(number(dispatch, "AHEAD"))};
}

// A 1x1 convolution and the depthwise convolution after it: each invocation multiplies pixels that its
// workgroup then filters. Those are nearly as many as shared memory has room for, and each loads four.
Loop expand_loop(const Program& program, const Dispatch& dispatch, const DeviceTraits& traits) {
  const auto shape_of = [&](size_t binding) -> const Shape& {
    return program.tensors[dispatch.bindings[binding].tensor].desc.shape;
  };
  const auto slices = static_cast<double>((shape_of(0)[1] + 3) / 4);
  const OutputTile tile{number(dispatch, "TILE_P"), number(dispatch, "TILE_S")};
  const auto invocations = static_cast<double>(product(dispatch.workgroup_size));
  const auto pixels = static_cast<double>(number(dispatch, "CAPACITY"));
  const double rounds = std::ceil(pixels / invocations / static_cast<double>(tile.pixels));
  const double filters = static_cast<double>(tile.slices) * std::ceil(pixels / 4 / invocations);
  // Each output is a sum over the window; the other products are those of the 1x1 convolution.
  const auto macs = static_cast<double>(dispatch.macs);
  const auto taps = static_cast<double>(number(dispatch, "KERNEL") * number(dispatch, "KERNEL"));
  const double filtered = taps * static_cast<double>(element_count(shape_of(kExpandOutput)));
  const TileCode code = tile_code(traits, tile, true);
  return {macs / (filtered / kCheckedEfficiency + (macs - filtered) / code.efficiency),
          kStepsAround + 2 * kStepsToReduce + filters +
              rounds * slices / static_cast<double>(number(dispatch, "AHEAD"))};
}

// Blocks of cooperative matrices of bytes. `macs`: of an invocation.
Loop matrix_loop(const Dispatch& dispatch, double macs, const DeviceTraits& traits) {
  const MatrixBlock block{.m = number(dispatch, "MATRIX_M"),
                          .n = number(dispatch, "MATRIX_N"),
                          .k = number(dispatch, "MATRIX_K"),
                          .matrices = number(dispatch, "TILE_M"),
                          .side = number(dispatch, "SUBGROUPS_M"),
                          .parts = number(dispatch, "PARTS")};
  const auto of_step = static_cast<double>(block.rows() * block.columns() * number(dispatch, "STEP_K"));
  const double steps = macs * static_cast<double>(product(dispatch.workgroup_size)) / of_step;
  return {byte_matrix_efficiency(traits, block), byte_matrix_waits(block, steps)};
}

Loop loop_of(const Dispatch& dispatch, uint64_t bytes, uint64_t all_invocations, const DeviceTraits& traits) {
  const auto invocations = static_cast<double>(std::max<uint64_t>(1, all_invocations));
  const double macs = static_cast<double>(dispatch.macs) / invocations;
  // Without products an invocation loads texels of 16 bytes, four at a time.
  if (macs == 0) return {1, kStepsAround + static_cast<double>(bytes) / invocations / 64};
  if (dispatch.shader == "conv_bytes_cooperative") return matrix_loop(dispatch, macs, traits);
  // A tile of a depthwise convolution has no loop: its loads do not wait for one another.
  if (dispatch.shader == "conv_depthwise_tile") return {0.5, kStepsAround + 1};
  const OutputTile tile{number(dispatch, "TILE_P"), number(dispatch, "TILE_S")};
  // Depthwise kernels multiply texel by texel, and select zeros for the padding; half their instructions do
  // not multiply.
  if (tile.pixels * tile.slices == 0 || dispatch.shader.starts_with("conv_depthwise"))
    return {0.5, kStepsAround + macs / 16};
  const WindowRow row{std::max<int64_t>(1, number(dispatch, "KERNEL_X")), number(dispatch, "STRIDE_X"),
                      has(dispatch, "SCALE") || (dispatch.shader == "conv" && !has(dispatch, "UNPADDED"))};
  const TileCode code =
      tile_code(traits, tile, has(dispatch, "UNIFORM_SLICES"), row, has(dispatch, "DOT_PRODUCTS"));
  // Some kernels load several slices, or all columns of a window, before they multiply.
  const auto together = static_cast<double>(std::max<int64_t>(row.taps, number(dispatch, "AHEAD")));
  const double around = kStepsAround + (has(dispatch, "PARTS") ? kStepsToReduce : 0);
  const bool unpacks = dispatch.shader == "block_product" && !has(dispatch, "SCALED_WEIGHTS");
  return {unpacks ? traits.packed_efficiency : code.efficiency,
          around + macs / (code.macs_per_step * together)};
}

}  // namespace

DispatchModel dispatch_model(const Program& program, const Dispatch& dispatch, bool barrier,
                             const DeviceTraits& traits, double share_of_x) {
  DispatchModel model;
  model.invocations = product(dispatch.workgroup_count) * product(dispatch.workgroup_size);
  model.bytes = bound_bytes(program, dispatch, share_of_x);
  Loop loop = dispatch.shader == "conv_separable" ? separable_loop(program, dispatch, traits)
              : dispatch.shader == "conv_expand"  ? expand_loop(program, dispatch, traits)
                                                  : loop_of(dispatch, model.bytes, model.invocations, traits);
  model.efficiency = loop.efficiency;
  model.figures = {.macs = static_cast<double>(dispatch.macs),
                   .bytes = static_cast<double>(model.bytes),
                   .steps = loop.steps,
                   .last_steps = gate_steps(program, dispatch),
                   .barrier = barrier};
  return model;
}

uint64_t subgroups_of(const Dispatch& dispatch, uint32_t subgroup_size) {
  const uint64_t size = product(dispatch.workgroup_size);
  return product(dispatch.workgroup_count) * ((size + subgroup_size - 1) / subgroup_size);
}

PredictedDispatch predicted_dispatch(const Program& program, const Dispatch& dispatch, bool barrier,
                                     const DeviceCaps& caps, const DeviceRates& rates, double share_of_x) {
  const DeviceTraits& traits = device_traits(caps);
  PredictedDispatch predicted{.model = dispatch_model(program, dispatch, barrier, traits, share_of_x)};
  if (is_copied_by_command(program, dispatch, caps)) {
    const CopyTime copy = buffer_copy_time(caps);
    predicted.time.overhead_us = 1e3 * copy.launch;
    predicted.time.memory_us = 1e3 * copy.per_byte * static_cast<double>(dispatch.copy->bytes);
    predicted.total_us = 1e3 * copy.of(dispatch.copy->bytes);
    return predicted;
  }
  DispatchFigures figures = predicted.model.figures;
  figures.subgroup_size = caps.subgroup_size > 0 ? caps.subgroup_size : kUsualSubgroup;
  figures.subgroups = static_cast<double>(subgroups_of(dispatch, figures.subgroup_size));
  if (dispatch.macs == 0) figures.bytes *= traits.move_cost;
  predicted.time = dispatch_time(rates, figures);
  predicted.total_us = predicted.time.total_us(predicted.model.efficiency);
  predicted.model.figures = figures;
  return predicted;
}

std::vector<double> predicted_milliseconds(const Program& program, const std::vector<TaskSync>& barriers,
                                           const DeviceCaps& caps, const std::vector<double>& shares_of_x) {
  const DeviceRates rates = device_rates(caps);
  std::vector<double> milliseconds;
  for (size_t t = 0; t < program.tasks.size(); ++t) {
    double& predicted = milliseconds.emplace_back(0);
    if (!program.tasks[t].dispatch) continue;
    const double share = shares_of_x.empty() ? 1 : shares_of_x[t];
    predicted = 1e-3 * predicted_dispatch(program, *program.tasks[t].dispatch, barriers[t].needs_command(),
                                          caps, rates, share)
                           .total_us;
  }
  return milliseconds;
}

CopyTime shader_copy_time(const DeviceCaps& caps) {
  const DeviceRates rates = device_rates(caps);
  const DeviceTraits& traits = device_traits(caps);
  const double launch =
      traits.shader_copy_ms > 0 ? traits.shader_copy_ms : 1e-3 * (rates.launch_us + rates.barrier_us);
  return {launch, milliseconds_to_move(caps, 2) * traits.move_cost};
}

CopyTime buffer_copy_time(const DeviceCaps& caps) {
  const DeviceTraits& traits = device_traits(caps);
  if (!traits.copies_buffers_by_command) return shader_copy_time(caps);
  return {traits.command_copy_ms, milliseconds_to_move(caps, 2)};
}

}  // namespace vellum
