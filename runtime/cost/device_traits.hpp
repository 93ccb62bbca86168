// Traits of devices: figures that describe how a kind of device is best used, one row for each vendor
// (device_traits.cpp). They apply where nothing was measured on the device itself. Vulkan reports none of
// them. Tiles, predictions and kernels read these figures; they never test the vendor or the type of a
// device.
//
// To add a trait: a member with its default and a line in visit_traits() here, the values of the vendors that
// differ in device_traits.cpp, its use, and a test in tests/cost/.
#pragma once

#include <cstdint>
#include <optional>

#include "caps/device_caps.hpp"

namespace vellum {

// The defaults describe a GPU whose vendor has no row. They are assumed, except where a section names a
// source. A texel of sums is the sums of four channels of a pixel.
struct DeviceTraits {
  static constexpr int64_t kNoBound = int64_t{1} << 30;

  // --- Times of dispatches: DeviceRates, plan/dispatch_model.hpp. Assumed, see device_traits.cpp. ---

  double latency_ns = 150;  // of a load that misses the first cache
  double launch_us = 3;     // to start a dispatch
  double barrier_us = 5;    // to drain the device before a dispatch, and make results visible
  // Time of a shader that only moves values, relative to the time of a plain copy of their bytes.
  double move_cost = 1;
  // Fixed time of a shader that copies bytes; 0: launch_us and barrier_us, as for every dispatch.
  double shader_copy_ms = 0;
  // Fixed time of a transfer command that copies bytes (copies_buffers_by_command).
  double command_copy_ms = 0.001;

  // --- Machine code of the loop over a tile: cost/tile_code.hpp. Read from the loops of conv_pointwise in
  // fp32 with tiles of 1x1 to 8x2 as Mesa 25.0.7 compiles them, except macs_per_load. ---

  double step_slots = 2;  // instructions of a step, without multiply-adds and loads
  double load_slots = 2;  // instructions of a load, address computation included
  // Instructions and vector loads of a load of uniform weights, relative to any other load.
  double uniform_slots = 1;
  double uniform_loads = 1;
  // Multiply-adds of a lane in the time of its load of 16 bytes from the first cache.
  double macs_per_load = 16;
  // Share of the peak rate that products of few rows with packed weights reach. A mask, a conversion and a
  // subtraction unpack each weight before it is multiplied.
  double packed_efficiency = 0.25;
  // Multiply-accumulates of bytes by cooperative matrices in the time of one of floats.
  double byte_matrix_macs = 4;
  double lane_registers = 512;  // registers of a unit for each lane, for all resident subgroups together
  double most_resident = 16;    // subgroups that a unit holds at a time

  // --- Registers: cost/registers.hpp. Read from machine code (docs/gpu_compilers.md): the number of values
  // that compilers hold without spilling and without fewer resident subgroups. ---
  int64_t most_sums = 8;             // texels of sums of an invocation
  int64_t most_group_sums = 16;      // texels of sums of a grouped convolution
  int64_t most_attention_sums = 16;  // texels of sums of an attention kernel
  // Texels of sums of an attention kernel that also holds as many partial sums in fp16.
  int64_t most_fp16_sums = 64;
  // Texels of x that a 1x1 convolution loads together: with tiles of one or two pixels, and of four or more.
  int64_t texels_ahead = 4;
  int64_t wide_texels_ahead = 4;
  // If scales multiply x: slices that are loaded together, and the fewest slices of a tile.
  int64_t most_scaled_ahead = 4;
  int64_t least_scaled_slices = 1;
  // Columns of a row that an invocation loads once for all taps of a window. 0: only the common window, three
  // adjacent pixels, is loaded in this way.
  int64_t most_columns = 9;
  int64_t attention_slices_ahead = 1;  // slices of a query and of four keys that are loaded together
  bool attention_shares_keys = false;  // with few tokens, a workgroup's invocations share the keys of each
  int64_t gate_slices_ahead = 1;       // slices of the weights of gates that are loaded together
  bool scalar_weights = false;         // uniform weights take no vector registers
  // Lanes of all subgroups that a unit holds if a kernel uses half of the registers; 0: at least as many as
  // the unit executes at a time. If a unit executes more lanes than it holds, kernels should use all
  // registers, because then only larger loops hide the latency of loads.
  int64_t most_held_lanes = 0;
  int64_t most_lanes_of_large_kernels = 128;    // subgroup size of a kernel with many registers
  int64_t most_full_register_group = kNoBound;  // largest workgroup whose invocations can use all registers
  double most_resident_expand = 64;             // subgroups of conv_expand.comp that a unit holds at a time

  // --- Variants of the loops of convolutions and attention. Read from machine code. ---
  // The positions of pixels are computed again after the loop, so that no registers hold them during the loop
  // (RECOMPUTE_POSITIONS).
  bool recompute_positions = false;
  // The last tile of a row begins earlier and overlaps the tile before, so that fewer columns may be padding
  // (OVERLAP).
  bool shifts_last_tile = false;
  // Window convolutions and Winograd's products load several slices of x together, as 1x1 convolutions do
  // (AHEAD).
  bool slices_ahead_in_windows = false;
  // Window convolutions with fp16 arithmetic scale sums and add the bias after the loop (SCALE_LAST,
  // RUN_AT_ONCE).
  bool scales_halves_last = false;
  // Pixels of a tile that are contiguous in an image share a running offset (CONTIGUOUS).
  bool contiguous_image_pixels = false;
  // Attention with many values loads the values of one key at a time (KEY_BY_KEY).
  bool attention_key_by_key = false;
  // Products and sums become multiply-adds also in shaders that declare SignedZeroInfNanPreserve; if not, the
  // loops of attention have fma() (FMA).
  bool contracts_beside_infinities = true;
  // Convolutions with few input channels read linear planes. Three loads in place of one take less time than
  // a layout conversion, which costs a launch, a barrier, and reading and writing the tensor.
  bool reads_planes = true;
  bool cooperative_matrices = true;      // cooperative matrices multiply faster than other kernels
  bool blocks_in_shared_memory = false;  // convolutions of many channels multiply blocks from shared memory
  bool broadcasts_are_cheap = false;     // a subgroup broadcast costs less than a load
  // A load of one address by a whole workgroup is cheap. With split-K: a load of one address by a whole
  // subgroup, whose invocations sum the same share of the products.
  bool uniform_loads_are_cheap = true;
  bool uniform_split_loads_are_cheap = false;
  // Multiply-accumulates of a network from which on a faster shader variant is worth its long compilation.
  uint64_t macs_worth_a_variant = uint64_t{1} << 24;

  // --- Tiles and layers by predicted time: cost/tiles.hpp, cost/gates.hpp, kernels/fused/. ---

  bool tiles_by_predicted_time = true;   // false: tiles are chosen by size, as loads cost more than products
  int64_t most_pixels_by_size = 8;       // of a tile that is chosen by size: 8, or 4
  bool predicts_winograd = false;        // Winograd is chosen by predicted time; false: by multiplications
  bool depthwise_tiles = true;           // depthwise convolutions load rows once for several output rows
  bool fuses_separable = true;           // a depthwise and the 1x1 convolution after it may be one kernel
  bool fuses_expand = true;              // a 1x1 and the depthwise convolution after it may be one kernel
  bool compares_fusions = false;         // overlapping fusions: the one that gains more; false: by rank
  bool merges_branches = true;           // a 1x1 and a 3x3 convolution of one input may be one dispatch
  bool fuses_global_average = true;      // a 1x1 convolution may compute the means of its pixels
  bool fuses_norms = true;               // a product may normalise the channels of its pixels
  bool averages_in_quick_tiles = false;  // it does so only if one of its quickest tiles can
  bool computes_gates_last = true;       // the last workgroup of a dispatch may compute gates of its results
  bool counts_idle_lanes = true;  // idle lanes of conv_separable.comp's subgroups take as long as busy ones

  // --- Storage ---

  bool weights_in_buffers = false;  // even where tensors are in images
  bool joins_in_buffers = false;    // tensors that are concatenated or split are in buffers, as views
  // Tensors of layout channels4 in buffers, and caches in bytes, are read by texelFetch from uniform texel
  // buffers.
  bool samples_texel_buffers = false;
  // Defaults of members of DeviceCaps; set_default_traits() copies them.
  bool prefers_images = true;
  bool reads_images_as_storage = true;
  bool reads_buffers_as_texels = false;
  MemoryTraits memory = {};

  // --- Workgroups: loops that compute one result each, squeeze-and-excitation, TopK ---
  int64_t subgroups_to_fill_a_unit = 4;  // 0: any number of subgroups keeps the device busy
  // With at most this many results, several invocations share the loop of each result.
  int64_t most_results_of_shared_loops = kNoBound;
  bool loops_by_subgroups = true;  // subgroups may share a loop
  // Workgroup size if each invocation computes one result: in general, and with at most few_results results.
  int64_t loop_workgroup = 64;
  int64_t loop_workgroup_of_few = 64;
  int64_t few_results = 0;
  // Up to this many products, and this many texels to average, one workgroup takes less time than several
  // dispatches of many workgroups.
  int64_t most_products_of_a_workgroup = int64_t{1} << 17;
  int64_t most_texels_of_a_workgroup = int64_t{1} << 12;
  // The longest rows of TopK that are ranked by length^2 comparisons in one dispatch.
  int64_t most_ranked_length = int64_t{1} << 15;

  // --- The driver ---

  // A pipeline is compiled by its first dispatch, on the thread that executes submits.
  bool compiles_at_first_dispatch = false;
  bool copies_buffers_by_command = false;  // a transfer command copies bytes faster than a shader
  bool allocates_in_the_process = false;   // device memory is memory of the process
  // The default of SessionOptions::max_submit_ms if the device may serve a display; 0: no limit. The default
  // is a frame at 60 Hz. Watchdogs end submits that take hundreds of milliseconds (i915) or seconds (Windows,
  // amdgpu, phones), so that even predictions that are ten times too short are safe.
  int64_t max_submit_ms_of_displays = 16;
  // Members of ProcessTraits, for process_traits(); 0: unknown.
  uint64_t driver_bytes = 0;
  uint32_t bytes_per_operation = 0, bytes_per_operation_of_largest = 0;
};

// The range of the values that a caps file may give a trait, both inclusive.
struct TraitRange {
  double least = 0, most = 1e9;
};

// Calls visit(name, value, range) for each trait that the object "traits" of a caps file may override. Traits
// that are members of the file itself are left out.
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
  VELLUM_TRAIT(packed_efficiency, 1e-3, 1);
  VELLUM_TRAIT(byte_matrix_macs, 1);
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
  VELLUM_TRAIT(contracts_beside_infinities);
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
  VELLUM_TRAIT(fuses_norms);
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

// Returns the traits of a device: from its caps file (DeviceCaps::traits), or else the row of its vendor. The
// reference is valid as long as `caps` and its traits.
const DeviceTraits& device_traits(const DeviceCaps& caps);

// Return the row of a device's vendor and type, and the row of the GPUs of a vendor.
const DeviceTraits& vendor_traits(const DeviceCaps& caps);
const DeviceTraits& gpu_traits(uint32_t vendor_id);

// Copies the traits that are members of DeviceCaps from device_traits(caps) to `caps`.
void set_default_traits(DeviceCaps& caps);

// Returns the model of the driver's memory in the process, as a function of the size of shaders
// (estimate/shader_size.hpp). It is the measured one, else the one of this vendor's drivers with an empty
// `host`. Returns nothing if there is no model.
std::optional<ProcessTraits> process_traits(const DeviceCaps& caps);

}  // namespace vellum
