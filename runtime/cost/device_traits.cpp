#include "cost/device_traits.hpp"

#include <algorithm>

#include "caps/vendors.hpp"

// Sources of the figures. "Measured" is followed by the device. "Code" means machine code of Mesa 25.0.7
// (docs/gpu_compilers.md), not measured. Figures without a source are assumed. The only GPU on which figures
// were measured is an H200.
//
// Latencies, launches and barriers are assumed, because no maker publishes them; measurements should replace
// them. A launch or a barrier is taken to take a few microseconds on desktops, and ten to twenty on phones.
// ncnn's measured times of blazeface (benchmark/README.md there), a network of fifty small layers, are upper
// bounds of launch and barrier together: 12 us for each layer on RTX 3090, 57 us on Adreno 660, 50 us on
// Mali-G610. A latency is that of a load from the second cache. Pointer chasing on RX 6800 XT and RTX 3090
// finds 90 and 140 ns (Chips and Cheese, 2021); other GPUs are assumed to be slower in proportion to their
// clocks.
//
// macs_per_load: in a cycle RDNA loads 128 bytes for 64 lanes, Ampere 128 bytes for 128 lanes, Turing 64
// bytes for 64 lanes (the makers' white papers). Other figures are assumed.
//
// byte_matrix_macs: RDNA 3 multiplies and adds 256 bytes in a cycle of a compute unit of 64 lanes, 512
// operations (AMD, "Using the Matrix Cores of AMD RDNA 4 architecture GPUs", 2025; RDNA 4 has four times as
// many). RTX 3090 has 284 TOPS of bytes and 35.6 Tflop/s (NVIDIA, "Ampere GA102 GPU Architecture"); other
// chips have more, H200 30 times as many. A matrix engine of Xe-HPG has 256 operations of bytes in a cycle,
// its vector engine 16 of floats (Intel, "Introduction to the Xe-HPG Architecture").

namespace vellum {
namespace {

constexpr DeviceTraits kOtherGpu;

constexpr DeviceTraits kAmdGpu{
    .latency_ns = 100,
    .launch_us = 1.5,
    .barrier_us = 2.5,
    // Code. Loads into scalar registers take no slot and no vector load.
    .step_slots = 0,
    .uniform_slots = 0,
    .uniform_loads = 0,
    .macs_per_load = 8,
    .byte_matrix_macs = 4,
    .lane_registers = 1536,
    .most_resident = 32,
    .attention_slices_ahead = 4,
    .scalar_weights = true,
    // Code: with split-K it costs nothing to require that a subgroup sums one share of the products.
    .uniform_split_loads_are_cheap = true,
    // Images are padded to blocks of texels, up to twice the size of their tensors. Buffers use the same
    // caches as images, and no compiler emits scalar loads from images.
    .weights_in_buffers = true,
    .prefers_images = false,
};

constexpr DeviceTraits kIntelGpu{
    .latency_ns = 150,
    .launch_us = 3,
    .barrier_us = 4,
    // Code: one message loads uniform weights that would otherwise take four loads.
    .load_slots = 3.2,
    .uniform_loads = 0.25,
    .byte_matrix_macs = 16,
    .lane_registers = 896,
    .most_resident = 7,
    .most_sums = 4,  // code: more spill
    // Code: with sixteen of each, two hundred registers spill; with four slices of attention ahead, 84.
    .most_fp16_sums = 8,
    // Code: four registers spill with fp16 arithmetic.
    .merges_branches = false,
    // Like AMD's: buffers and images use the same caches, and buffers take fewer instructions.
    .weights_in_buffers = true,
    .prefers_images = false,
};

constexpr DeviceTraits kNvidiaGpu{
    .latency_ns = 140,
    .launch_us = 1.5,
    .barrier_us = 2.5,
    // Code of Mesa's NVK: buffer addresses have 64 bits, and every lane loads uniform weights for itself.
    .step_slots = 4,
    .load_slots = 5.5,
    .byte_matrix_macs = 8,
    .texels_ahead = 8,
    .wide_texels_ahead = 8,
    // Measured on an H200: with one slice the attention of vit_b_16 takes 1.2 times as long.
    .attention_slices_ahead = 8,
    .attention_shares_keys = true,
    .blocks_in_shared_memory = true,
    .uniform_loads_are_cheap = false,
    // Measured on an H200: with the kernels that they fuse, efficientnet_b0 takes 1.16 times as long, and the
    // last layer of convnext_tiny five times.
    .fuses_expand = false,
    .fuses_global_average = false,
    .fuses_norms = false,  // not measured; its workgroups are as few as those of global averages
    // Measured on an H200: it loads 30 TB/s from buffers and 8 from images, and networks take 0.73 to 0.93 of
    // the time in buffers.
    .prefers_images = false,
};

constexpr DeviceTraits kArmGpu{
    .latency_ns = 250,
    .launch_us = 5,
    .barrier_us = 10,
    .load_slots = 1.8,       // code
    .lane_registers = 1024,  // code
    // Code: more sums spill or halve the resident subgroups. Loops over more columns (four pixels with stride
    // 2) reload spilled registers.
    .most_sums = 4,
    .most_columns = 6,
    .uniform_loads_are_cheap = false,
    // In a cycle the texture units load one texel, the load units a vec4 from any buffer (Mali's
    // documentation).
    .prefers_images = false,
    .reads_images_as_storage = false,
};

constexpr DeviceTraits kQualcommGpu{
    .latency_ns = 250,
    .launch_us = 5,
    .barrier_us = 8,
    .step_slots = 30,   // code
    .load_slots = 1.5,  // code
    // Code: three slices of 4x2 texels fit in registers, or four in fp16; scales are in registers, too. With
    // tiles of one slice, a quarter of the instructions scale texels.
    .wide_texels_ahead = 8,
    .most_scaled_ahead = 2,
    .least_scaled_slices = 2,
    .most_columns = 13,
    .attention_slices_ahead = 4,
    // A workgroup that computes gates is one subgroup, so that nothing hides its loads. Other vendors were
    // not tried.
    .gate_slices_ahead = 4,
    // A unit of Adreno 660 executes five subgroups of 64 at a time, but holds only four if a kernel uses half
    // of the registers. Other chips with as many registers hold more subgroups than they execute.
    .most_held_lanes = 4 * 64,
    // Code: kernels with many registers have subgroups of half the size, larger workgroups have half of the
    // registers, and filtering the rows of a window takes the registers of a fused kernel.
    .most_lanes_of_large_kernels = 64,
    .most_full_register_group = 64,
    .most_resident_expand = 4,
    // Code: otherwise positions stay in registers during the loop, and attention with the values of four keys
    // spills 33 registers. Other vendors were not tried.
    .recompute_positions = true,
    .shifts_last_tile = true,
    .slices_ahead_in_windows = true,
    .scales_halves_last = true,
    .contiguous_image_pixels = true,
    .attention_key_by_key = true,
    .contracts_beside_infinities = false,  // code: a third of the loop's instructions were additions
    .uniform_loads_are_cheap = false,      // code: every lane loads for itself and computes more addresses
    // By the model. Other vendors were not tried.
    .predicts_winograd = true,
    .compares_fusions = true,
    .averages_in_quick_tiles = true,
    .counts_idle_lanes = false,  // tiles were chosen without it
    .joins_in_buffers = true,
    // The first cache belongs to the texture units, which only sampled reads use.
    .reads_images_as_storage = false,
};

constexpr DeviceTraits kImaginationGpu{
    .latency_ns = 250,
    .launch_us = 5,
    .barrier_us = 10,
    .uniform_loads_are_cheap = false,
    .reads_images_as_storage = false,
};

constexpr DeviceTraits kAppleGpu{
    // Metal before version 3.2 has no barrier for memory that other workgroups read.
    .computes_gates_last = false,
};

struct GpuRow {
  uint32_t vendor_id;
  const DeviceTraits& traits;
};
constexpr GpuRow kGpus[] = {{kAmd, kAmdGpu},    {kIntel, kIntelGpu},       {kNvidia, kNvidiaGpu},
                            {kArm, kArmGpu},    {kQualcomm, kQualcommGpu}, {kImagination, kImaginationGpu},
                            {kApple, kAppleGpu}};

// Drivers that run on the CPU. Measured on lavapipe of Mesa 22.3, unless another driver is named.
constexpr DeviceTraits kCpu{
    // Strips and their copies, measured by tests/bench/tile_bench.cpp. A copy command wakes no threads, and
    // copies as fast as memory allows: a few rows take 1 us instead of 50.
    .move_cost = 3.6,
    .shader_copy_ms = 0.02,
    // A token of a decoder with 8 billion weights of 4 bits takes 1.1 s of CPU time
    // (tests/bench/llama_network.py), of 0.47 s at the assumed peak rate (kCpuRates).
    .packed_efficiency = 0.42,
    // Registers spill to a cache that is faster than a load from a tensor. With twice as many sums, attention
    // takes a second to compile.
    .most_group_sums = 64,
    .most_attention_sums = 32,
    .texels_ahead = 1,
    .wide_texels_ahead = 1,
    .most_columns = 0,
    .reads_planes = false,
    // Drivers compute matrices element by element: on lavapipe of Mesa 26.1 that takes 12 to 34 times as long
    // as other kernels.
    .cooperative_matrices = false,
    .uniform_loads_are_cheap = false,
    // LLVM takes 0.2 s for a variant of 3x3 convolutions that runs a quarter faster. (On GPUs this is
    // assumed.)
    .macs_worth_a_variant = uint64_t{1} << 24,
    // Launches and barriers cost little, and depthwise kernels with large tiles are faster than fused
    // kernels, which share pixels in a workgroup.
    .tiles_by_predicted_time = false,
    .depthwise_tiles = false,
    .fuses_separable = false,
    .fuses_expand = false,
    .merges_branches = false,
    .fuses_global_average = false,
    .fuses_norms = false,
    .computes_gates_last = false,
    // A storage image load is an address computation and a load, while texelFetch goes through the sampler.
    .reads_images_as_storage = true,
    // A CPU has a few threads with a few lanes each, and shared memory costs more than the work that it
    // saves.
    .subgroups_to_fill_a_unit = 0,
    .most_results_of_shared_loops = 15,
    // Softmax, layer normalisation, means of channels and of planes take 1.0 to 8 times as long by subgroups
    // on lavapipe of Mesa 22.3 and 25.0.
    .loops_by_subgroups = false,
    // A thread runs whole workgroups. With few results, workgroups are as wide as the lanes of a thread, so
    // that threads finish at the same time.
    .loop_workgroup_of_few = 8,
    .few_results = 512,
    // A workgroup runs on one thread. Starting another dispatch takes as long as about 50,000 products.
    .most_products_of_a_workgroup = int64_t{1} << 20,
    .most_texels_of_a_workgroup = int64_t{1} << 16,
    .most_ranked_length = 0,
    .copies_buffers_by_command = true,
    .allocates_in_the_process = true,
    .max_submit_ms_of_displays = 0,  // the scheduler of the operating system divides a CPU's time
};

constexpr DeviceTraits kSwiftShader = [] {
  DeviceTraits traits = kCpu;
  traits.memory = {2, 2, 1, 16, 256};
  // A texelFetch loads the texel of each lane at once; imageLoad and loads from storage buffers take a branch
  // for each lane and component (docs/gpu_compilers.md). By `vellum bench`, in CPU time of inferences of four
  // MediaPipe models: storage images 1, sampled images 0.6 to 0.8, storage buffers 0.7 to 0.86, sampled texel
  // buffers 0.5 to 0.7.
  traits.prefers_images = false;
  traits.reads_images_as_storage = false;
  traits.samples_texel_buffers = true;
  // `vellum tune` on the layers of face_landmark and hand_landmark: tiles of 8x2 texels take 1.0 to 2.3 times
  // as long. Its compiler keeps 16 vectors of four lanes in registers.
  traits.most_pixels_by_size = 4;
  // Weights that are broadcast within the four lanes of a subgroup are not cheaper: four MediaPipe models
  // take 0.73 to 0.97 of the CPU time without, a fifth as long, on an idle machine.
  return traits;
}();

constexpr DeviceTraits kLavapipe = [] {
  DeviceTraits traits = kCpu;
  // To store a vec4 takes 2 ns in a buffer and 17 ns in an image, to load one 2.5 ns from a storage buffer
  // and 0.9 ns from a texel buffer or an image.
  traits.prefers_images = false;
  traits.reads_buffers_as_texels = true;
  traits.memory = {4, 4, 64, 16, 64};  // by vkGetDeviceImageMemoryRequirements, as SwiftShader's
  // To create squeezenet1_1's eight pipelines takes 50 ms of CPU time, their first dispatches 600 ms.
  traits.compiles_at_first_dispatch = true;
  // As in caps/lavapipe.json.
  traits.driver_bytes = 101'663'000;
  traits.bytes_per_operation = 942;
  traits.bytes_per_operation_of_largest = 2938;
  return traits;
}();

// Pointwise convolutions by subgroup broadcast take 0.8 to 0.96 of the time on Mesa 25.0, 0.8 for two of
// three shapes (1.4 for the third) on 26.1, 1.4 to 1.5 of it on 22.3.
constexpr uint32_t kMesa25 = 25u << 22;  // as VK_MAKE_API_VERSION packs it
constexpr DeviceTraits kLavapipe25 = [] {
  DeviceTraits traits = kLavapipe;
  traits.broadcasts_are_cheap = true;
  return traits;
}();

}  // namespace

const DeviceTraits& gpu_traits(uint32_t vendor_id) {
  const auto* const row = std::ranges::find(kGpus, vendor_id, &GpuRow::vendor_id);
  return row == std::end(kGpus) ? kOtherGpu : row->traits;
}

const DeviceTraits& vendor_traits(const DeviceCaps& caps) {
  if (caps.type != DeviceType::cpu) return gpu_traits(caps.vendor_id);
  if (caps.vendor_id == kMesa) return caps.driver_version >= kMesa25 ? kLavapipe25 : kLavapipe;
  return caps.vendor_id == kGoogle ? kSwiftShader : kCpu;
}

const DeviceTraits& device_traits(const DeviceCaps& caps) {
  return caps.traits ? *caps.traits : vendor_traits(caps);
}

void set_default_traits(DeviceCaps& caps) {
  const DeviceTraits& traits = device_traits(caps);
  caps.prefers_images = traits.prefers_images;
  caps.reads_images_as_storage = traits.reads_images_as_storage;
  caps.reads_buffers_as_texels = traits.reads_buffers_as_texels;
  caps.memory = traits.memory;
}

std::optional<ProcessTraits> process_traits(const DeviceCaps& caps) {
  const DeviceTraits& traits = device_traits(caps);
  if (!traits.allocates_in_the_process) return std::nullopt;
  if (caps.process || traits.driver_bytes == 0) return caps.process;
  return ProcessTraits{.host = {},
                       .driver_bytes = traits.driver_bytes,
                       .bytes_per_operation = traits.bytes_per_operation,
                       .bytes_per_operation_of_largest = traits.bytes_per_operation_of_largest};
}

}  // namespace vellum
