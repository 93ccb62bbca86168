// The devices of the scoreboard (tests/gpu_compilers/scoreboard.py) and of the caps files: their
// capabilities, for tests of what is compiled for them.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "caps/vendors.hpp"
#include "caps_file/caps_json.hpp"

namespace vellum::test {

struct ScoreboardGpu {
  const char* name;
  const char* device_name;  // by which rates are known
  uint32_t vendor_id;
  DeviceType type;
  uint32_t subgroup_size, shared_kib;
  bool prefers_images, reads_images_as_storage;
  // Dot products of bytes that the driver reports as accelerated (Mesa 25.0.7); those of Arm and NVIDIA were
  // not asked.
  bool signed_dot_products = false, mixed_dot_products = false;
};

// With the limits that Mesa's drivers have in common.
inline constexpr ScoreboardGpu kGpus[] = {
    {"navi31", "AMD Radeon RX 7900 XTX (RADV NAVI31)", kAmd, DeviceType::discrete_gpu, 64, 64, false, true,
     true, true},
    {"navi21", "AMD Radeon RX 6800 XT (RADV NAVI21)", kAmd, DeviceType::discrete_gpu, 64, 64, false, true,
     true},
    {"renoir", "AMD Radeon Graphics (RADV RENOIR)", kAmd, DeviceType::integrated_gpu, 64, 64, false, true},
    {"a618", "Turnip Adreno (TM) 618", kQualcomm, DeviceType::integrated_gpu, 64, 32, true, false},
    {"a660", "Turnip Adreno (TM) 660", kQualcomm, DeviceType::integrated_gpu, 64, 32, true, false, false,
     true},
    {"a740", "Turnip Adreno (TM) 740", kQualcomm, DeviceType::integrated_gpu, 64, 32, true, false, false,
     true},
    {"intel-tgl", "Intel(R) Xe Graphics (TGL GT2)", kIntel, DeviceType::integrated_gpu, 32, 64, false, true,
     true, true},
    {"intel-mtl", "Intel(R) Graphics (MTL)", kIntel, DeviceType::integrated_gpu, 32, 64, false, true, true,
     true},
    {"mali-g610", "Mali-G610 MC4", kArm, DeviceType::integrated_gpu, 16, 32, false, false},
    {"tu104", "NVIDIA GeForce RTX 2080 (NVK TU104)", kNvidia, DeviceType::discrete_gpu, 32, 48, true, true},
    {"ga102", "NVIDIA GeForce RTX 3090 (NVK GA102)", kNvidia, DeviceType::discrete_gpu, 32, 48, true, true},
};

inline DeviceCaps caps_of(const ScoreboardGpu& gpu) {
  DeviceCaps caps;
  caps.name = gpu.device_name;
  caps.vendor_id = gpu.vendor_id;
  caps.type = gpu.type;
  caps.max_image_dimension_2d = 16384;
  caps.max_image_dimension_3d = caps.max_image_array_layers = 2048;
  caps.max_storage_images_per_stage = caps.max_storage_buffers_per_stage = 64;
  caps.max_sampled_images_per_stage = 64;
  caps.max_push_constant_bytes = 256;
  caps.max_storage_buffer_range = (uint64_t{1} << 32) - 1;
  caps.max_workgroup_invocations = 1024;
  caps.max_workgroup_size = {1024, 1024, 64};
  caps.max_shared_memory_bytes = gpu.shared_kib << 10;
  caps.max_texel_buffer_elements = 1 << 27;
  caps.max_loop_iterations = kNoLoopLimit;
  caps.min_storage_buffer_offset_alignment = caps.min_texel_buffer_offset_alignment = 64;
  caps.fp16_arithmetic = caps.fp16_buffer_storage = true;
  caps.subgroup_arithmetic = caps.subgroup_broadcast = caps.full_subgroups = true;
  caps.integer_dot_products = true;
  caps.accelerates_signed_dot_products = gpu.signed_dot_products;
  caps.accelerates_mixed_dot_products = gpu.mixed_dot_products;
  caps.subgroup_size = gpu.subgroup_size;
  caps.unified_memory = gpu.type == DeviceType::integrated_gpu;
  caps.prefers_images = gpu.prefers_images;
  caps.reads_images_as_storage = gpu.reads_images_as_storage;
  return caps;
}

inline std::string text_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

inline std::filesystem::path sources() {
  const char* folder = std::getenv("VELLUM_TEST_SOURCE");
  return folder ? folder : "tests";
}

inline std::vector<std::pair<std::string, DeviceCaps>> scoreboard_devices() {
  std::vector<std::pair<std::string, DeviceCaps>> list;
  for (const auto& [name, file] : {std::pair{"lavapipe", "lavapipe"},
                                   {"android", "android_baseline_2022"},
                                   {"moltenvk", "moltenvk_apple_m1"}}) {
    const std::filesystem::path path = sources().parent_path() / "caps" / (std::string(file) + ".json");
    list.emplace_back(name, caps_from_json(text_of(path), path.string()));
  }
  for (const ScoreboardGpu& gpu : kGpus) list.emplace_back(gpu.name, caps_of(gpu));
  // As the drivers of these GPUs list them: NVIDIA's of an H200 (caps/nvidia_h200.json), and RADV for gfx11
  // (radv_GetPhysicalDeviceCooperativeMatrixPropertiesKHR).
  const CooperativeMatrix halves{.m = 16, .n = 16, .k = 16};
  CooperativeMatrix bytes = halves;
  bytes.a = bytes.b = MatrixElement::s8;
  bytes.c = bytes.result = MatrixElement::s32;
  for (const ScoreboardGpu& gpu : {kGpus[std::size(kGpus) - 1], kGpus[0]}) {
    DeviceCaps matrices = caps_of(gpu);
    bytes.k = gpu.vendor_id == kNvidia ? 32 : 16;
    matrices.cooperative_matrices = {halves, bytes};
    list.emplace_back(std::string(gpu.name) + "-matrices", matrices);
  }
  return list;
}

}  // namespace vellum::test
