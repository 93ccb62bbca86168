// Traits of devices: how a kind of device is best used where nothing was measured on the device itself, in a
// row of figures for each vendor (device_traits.cpp). Vulkan reports none of them. Tiles, predictions and
// kernels read the figures; they test neither vendor nor type of a device.
//
// To add one: a member with its default and a line in visit_traits() here, the values of the vendors that
// differ in device_traits.cpp, its use, and a test in tests/cost/.
#pragma once

#include <cstdint>
#include <optional>

#include "caps/device_caps.hpp"

namespace vellum {

// The defaults are those of a GPU whose vendor has no row; they are assumed, except where a section says
// more. A texel of sums is the sums of four channels of a pixel.
struct DeviceTraits {
  static constexpr int64_t kNoBound = int64_t{1} << 30;

  // --- Times of dispatches: DeviceRates, plan/dispatch_model.hpp. Assumed, see device_traits.cpp. ---

  double latency_ns = 150;  // of a load that misses the first cache
  double launch_us = 3;     // to start a dispatch
  double barrier_us = 5;    // to drain the device before a dispatch, and make results visible
  // Time of a shader that only moves values, relative to that of their bytes.
  double move_cost = 1;
  // Launch of a shader that copies bytes; 0: a launch and a barrier as of every dispatch.
  double shader_copy_ms = 0;
  // Launch of a command that copies bytes (copies_buffers_by_command).
  double command_copy_ms = 0.001;

  // --- Machine code of the loop over a tile: cost/tile_code.hpp. Read from the loops of conv_pointwise in
  // fp32 with tiles of 1x1 to 8x2 as Mesa 25.0.7 compiles them, except macs_per_load. ---

  double step_slots = 2;  // instructions of a step besides multiply-adds and those that belong to a load
  double load_slots = 2;  // instructions of each load with its address
  // Instructions and vector loads of each load of uniform weights, relative to another load.
  double uniform_slots = 1;
  double uniform_loads = 1;
  // Multiply-adds of a lane in the time of its load of 16 bytes from the first cache.
  double macs_per_load = 16;
  double lane_registers = 512;  // of a unit, for each lane of its subgroups together
  double most_resident = 16;    // subgroups that a unit holds at a time

  // --- Registers: cost/registers.hpp. Read from machine code (docs/gpu_compilers.md): as many values as
  // compilers neither spill nor pay for with subgroups. ---

  int64_t most_sums = 8;             // texels of sums of an invocation
  int64_t most_group_sums = 16;      // texels of sums of a grouped convolution
  int64_t most_attention_sums = 16;  // texels of sums of an attention kernel
  // Texels of sums of an attention kernel that holds as many partial sums in fp16.
  int64_t most_fp16_sums = 64;
  // Texels of x that a 1x1 convolution loads together: of tiles of one or two pixels, of four or more.
  int64_t texels_ahead = 4;
  int64_t wide_texels_ahead = 4;
  // Where scales multiply x: slices that are loaded together, and the fewest slices of a tile.
  int64_t most_scaled_ahead = 4;
  int64_t least_scaled_slices = 1;
  // Columns of a row that an invocation loads once for all taps of a window, besides the common one of three
  // pixels side by side; 0: none.
  int64_t most_columns = 9;
  int64_t attention_slices_ahead = 1;  // slices of a query and of four keys that are loaded together
  bool attention_shares_keys = false;  // a workgroup's invocations share the keys of few tokens
  int64_t gate_slices_ahead = 1;       // slices of the weights of gates that are loaded together
  bool scalar_weights = false;         // uniform weights take no vector registers
  // Lanes of the subgroups that a unit holds of kernels with half of the registers; 0: as many as it runs, or
  // more. On a unit that runs more, kernels take all registers: larger loops alone hide waits for loads.
  int64_t most_held_lanes = 0;
  int64_t most_lanes_of_large_kernels = 128;    // of a subgroup, of a kernel with many registers
  int64_t most_full_register_group = kNoBound;  // invocations of a workgroup that have all registers each
  double most_resident_expand = 64;             // subgroups of conv_expand.comp that a unit holds at a time

  // --- Loops of convolutions and attention: variants of shaders by what compilers make of them. Read from
  // machine code. ---

  // Pixels are located again after the loop, so that no registers hold their positions in it
  // (RECOMPUTE_POSITIONS).
  bool recompute_positions = false;
  // The last tile of a row begins earlier, so that fewer columns may be padding (OVERLAP).
  bool shifts_last_tile = false;
  // Windows and Winograd's products load several slices of x together, as 1x1 convolutions do (AHEAD).
  bool slices_ahead_in_windows = false;
  // Windows of halves scale sums and add the bias after the loop (SCALE_LAST, RUN_AT_ONCE).
  bool scales_halves_last = false;
  // Pixels of a tile that are contiguous in an image share a running offset (CONTIGUOUS).
  bool contiguous_image_pixels = false;
  // Attention loads many values for one key after the other (KEY_BY_KEY).
  bool attention_key_by_key = false;
  // Convolutions of few channels read planes: three loads in place of one take less time than a conversion,
  // which takes a launch, a barrier and the tensor twice.
  bool reads_planes = true;
  bool cooperative_matrices = true;      // they multiply faster than other kernels
  bool blocks_in_shared_memory = false;  // convolutions of many channels multiply blocks from shared memory
  bool broadcasts_are_cheap = false;     // a value of another lane of the subgroup costs less than a load
  // Loads from one place of a buffer are cheap for a whole workgroup, and where sums are split for a subgroup
  // whose invocations have the same part of them.
  bool uniform_loads_are_cheap = true;
  bool uniform_split_loads_are_cheap = false;
  // Multiply-accumulates of a network for which a quicker shader variant that compiles long pays.
  uint64_t macs_worth_a_variant = uint64_t{1} << 24;

  // --- Tiles and layers by predicted time: cost/tiles.hpp, cost/gates.hpp, kernels/fused/. ---

  bool tiles_by_predicted_time = true;   // otherwise by size: loads cost more than products
  int64_t most_pixels_by_size = 8;       // of a tile that is chosen by size: 8, or 4
  bool predicts_winograd = false;        // Winograd's kernels by predicted time; otherwise by products
  bool depthwise_tiles = true;           // depthwise convolutions load rows once for several output rows
  bool fuses_separable = true;           // a depthwise and the 1x1 convolution after it may be one kernel
  bool fuses_expand = true;              // a 1x1 and the depthwise convolution after it may be one kernel
  bool compares_fusions = false;         // of these two that which gains more; otherwise the former
  bool merges_branches = true;           // a 1x1 and a 3x3 convolution of one input may be one dispatch
  bool fuses_global_average = true;      // a 1x1 convolution takes the means where a workgroup has all pixels
  bool averages_in_quick_tiles = false;  // and only where one of the quickest tiles does so
  bool computes_gates_last = true;       // the last workgroup of a dispatch may compute gates of its results
  bool counts_idle_lanes = true;  // a subgroup of conv_separable.comp takes as long with few invocations

  // --- Storage ---

  bool weights_in_buffers = false;  // even where tensors are in images
  bool joins_in_buffers = false;    // tensors that are joined or split are in buffers, where they are views
  // Tensors of layout channels4 in buffers are read by texelFetch from uniform texel buffers.
  bool samples_texel_buffers = false;
  // Members of DeviceCaps, which set_default_traits() sets.
  bool prefers_images = true;
  bool reads_images_as_storage = true;
  bool reads_buffers_as_texels = false;
  MemoryTraits memory = {};

  // --- Workgroups: loops that make one result each, squeeze-and-excitation, TopK ---

  int64_t subgroups_to_fill_a_unit = 4;  // 0: the device is busy with any number of them
  // With up to this many results, invocations share the loop of each.
  int64_t most_results_of_shared_loops = kNoBound;
  bool loops_by_subgroups = true;  // subgroups may share a loop
  // Invocations of a workgroup, each of which makes a result; another number up to few_results.
  int64_t loop_workgroup = 64;
  int64_t loop_workgroup_of_few = 64;
  int64_t few_results = 0;
  // Products, and texels to average, that take one workgroup less time than dispatches of many.
  int64_t most_products_of_a_workgroup = int64_t{1} << 17;
  int64_t most_texels_of_a_workgroup = int64_t{1} << 12;
  // Elements of rows that are ranked by length^2 comparisons at once where many are selected.
  int64_t most_ranked_length = int64_t{1} << 15;

  // --- The driver ---

  bool compiles_at_first_dispatch = false;  // of a pipeline, on the thread that executes submits
  bool copies_buffers_by_command = false;   // it copies bytes faster than a shader
  bool allocates_in_the_process = false;    // device memory is memory of the process
  // SessionOptions::max_submit_ms by default where the device may serve a display; 0: any. A frame of 60 Hz:
  // watchdogs end what takes hundreds of milliseconds (i915) or seconds (Windows, amdgpu, phones), which
  // leaves room for predictions that are ten times too short.
  int64_t max_submit_ms_of_displays = 16;
  // Members of ProcessTraits, for process_traits(); 0: unknown.
  uint64_t driver_bytes = 0;
  uint32_t bytes_per_operation = 0, bytes_per_operation_of_largest = 0;
};

// The values that a caps file may give a trait, both inclusive.
struct TraitRange {
  double least = 0, most = 1e9;
};

// Calls visit(name, value, range) for each trait that the object "traits" of a caps file may override: all
// but those that are members of the file themselves.
template <typename Traits, typename Visit>
void visit_traits(Traits& traits, Visit visit) {
#define VELLUM_TRAIT(field, ...) visit(#field, traits.field, TraitRange{__VA_ARGS__})
  VELLUM_TRAIT(latency_ns);
  VELLUM_TRAIT(launch_us);
  VELLUM_TRAIT(barrier_us);
  VELLUM_TRAIT(move_cost);
  VELLUM_TRAIT(shader_copy_ms);
  VELLUM_TRAIT(command_copy_ms);
  VELLUM_TRAIT(step_slots);
  VELLUM_TRAIT(load_slots);
  VELLUM_TRAIT(uniform_slots);
  VELLUM_TRAIT(uniform_loads);
  VELLUM_TRAIT(macs_per_load);
  VELLUM_TRAIT(lane_registers);
  VELLUM_TRAIT(most_resident, 1);
  VELLUM_TRAIT(most_sums, 1);
  VELLUM_TRAIT(most_group_sums, 1);
  VELLUM_TRAIT(most_attention_sums, 1);
  VELLUM_TRAIT(most_fp16_sums);
  VELLUM_TRAIT(texels_ahead, 1);
  VELLUM_TRAIT(wide_texels_ahead, 1);
  VELLUM_TRAIT(most_scaled_ahead, 1, 4);
  VELLUM_TRAIT(least_scaled_slices, 1, 4);
  VELLUM_TRAIT(most_columns, 0, 13);
  VELLUM_TRAIT(attention_slices_ahead, 1, 8);
  VELLUM_TRAIT(attention_shares_keys);
  VELLUM_TRAIT(gate_slices_ahead, 1, 4);
  VELLUM_TRAIT(scalar_weights);
  VELLUM_TRAIT(most_held_lanes);
  VELLUM_TRAIT(most_lanes_of_large_kernels, 1);
  VELLUM_TRAIT(most_full_register_group, 64, DeviceTraits::kNoBound);
  VELLUM_TRAIT(most_resident_expand, 1);
  VELLUM_TRAIT(recompute_positions);
  VELLUM_TRAIT(shifts_last_tile);
  VELLUM_TRAIT(slices_ahead_in_windows);
  VELLUM_TRAIT(scales_halves_last);
  VELLUM_TRAIT(contiguous_image_pixels);
  VELLUM_TRAIT(attention_key_by_key);
  VELLUM_TRAIT(reads_planes);
  VELLUM_TRAIT(cooperative_matrices);
  VELLUM_TRAIT(blocks_in_shared_memory);
  VELLUM_TRAIT(broadcasts_are_cheap);
  VELLUM_TRAIT(uniform_loads_are_cheap);
  VELLUM_TRAIT(uniform_split_loads_are_cheap);
  VELLUM_TRAIT(macs_worth_a_variant, 0, 1e15);
  VELLUM_TRAIT(tiles_by_predicted_time);
  VELLUM_TRAIT(most_pixels_by_size, 4, 8);
  VELLUM_TRAIT(predicts_winograd);
  VELLUM_TRAIT(depthwise_tiles);
  VELLUM_TRAIT(fuses_separable);
  VELLUM_TRAIT(fuses_expand);
  VELLUM_TRAIT(compares_fusions);
  VELLUM_TRAIT(merges_branches);
  VELLUM_TRAIT(fuses_global_average);
  VELLUM_TRAIT(averages_in_quick_tiles);
  VELLUM_TRAIT(computes_gates_last);
  VELLUM_TRAIT(counts_idle_lanes);
  VELLUM_TRAIT(weights_in_buffers);
  VELLUM_TRAIT(joins_in_buffers);
  VELLUM_TRAIT(samples_texel_buffers);
  VELLUM_TRAIT(subgroups_to_fill_a_unit);
  VELLUM_TRAIT(most_results_of_shared_loops, 0, DeviceTraits::kNoBound);
  VELLUM_TRAIT(loops_by_subgroups);
  VELLUM_TRAIT(loop_workgroup, 1, 64);
  VELLUM_TRAIT(loop_workgroup_of_few, 1, 64);
  VELLUM_TRAIT(few_results);
  VELLUM_TRAIT(most_products_of_a_workgroup);
  VELLUM_TRAIT(most_texels_of_a_workgroup);
  VELLUM_TRAIT(most_ranked_length);
  VELLUM_TRAIT(compiles_at_first_dispatch);
  VELLUM_TRAIT(copies_buffers_by_command);
  VELLUM_TRAIT(allocates_in_the_process);
  VELLUM_TRAIT(max_submit_ms_of_displays);
#undef VELLUM_TRAIT
}

// Returns the traits of a device: those that its caps file overrides (DeviceCaps::traits), or the row of its
// vendor. The reference is valid as long as `caps` and its traits.
const DeviceTraits& device_traits(const DeviceCaps& caps);
// Returns the row of a device's vendor and type, and that of a GPU of a vendor.
const DeviceTraits& vendor_traits(const DeviceCaps& caps);
const DeviceTraits& gpu_traits(uint32_t vendor_id);

// Sets the members of `caps` that are traits, where nothing was measured.
void set_default_traits(DeviceCaps& caps);

// Returns the driver's memory in the process by the size of shaders (estimate/shader_size.hpp): as measured,
// else as usual for drivers of this vendor, without a host; nothing if there is no model of it.
std::optional<ProcessTraits> process_traits(const DeviceCaps& caps);

}  // namespace vellum
