#include "caps/driver_quirks.hpp"

#include "caps/vendors.hpp"

namespace vellum {

namespace {

// Whether drivers on the CPU compile for Arm: they compile for the processor of this process.
#if defined(__aarch64__) || defined(_M_ARM64)
constexpr bool kOnArm = true;
#else
constexpr bool kOnArm = false;
#endif

bool is_mesas_cpu_driver(const DeviceCaps& caps) {
  return caps.vendor_id == kMesa && caps.type == DeviceType::cpu;
}

constexpr uint32_t kVulkan1_1_87 = (1u << 22) | (1u << 12) | 87;  // as VK_MAKE_API_VERSION()

}  // namespace

void apply_driver_quirks(DeviceCaps& caps) {
  const bool is_lavapipe = is_mesas_cpu_driver(caps);
  // lavapipe counts the iterations of all loops of an invocation together and ends the loops, without an
  // error, when there were this many (measured on Mesa 22.3 and 25.0; llama.cpp#13813 describes the same).
  caps.max_loop_iterations = is_lavapipe ? 65535 : kNoLoopLimit;
  // lavapipe divides by the processor's instruction (Mesa 22.3: none of four million random quotients
  // differed).
  caps.exact_division = is_lavapipe;
  // Adreno drivers without 16-bit storage compute wrong results in fp16.
  if (caps.vendor_id == kQualcomm && !caps.fp16_buffer_storage) caps.fp16_arithmetic = false;
  // Adreno drivers before 1.1.87 read zeros from an image that was just copied to (ncnn, src/gpu.cpp).
  if (caps.vendor_id == kQualcomm && caps.api_version < kVulkan1_1_87)
    caps.rgba32f_images = caps.rgba16f_images = false;
  // Some Mali drivers report 0 for the subgroup size and yet claim subgroup operations.
  if (caps.subgroup_size == 0)
    caps.subgroup_arithmetic = caps.subgroup_broadcast = caps.full_subgroups = false;
  // SwiftShader always keeps NaN and infinities, and its optimiser skips modules that declare
  // SignedZeroInfNanPreserve: a fused pool took 2 s to compile without the declaration, and minutes and 9 GB
  // with it.
  const bool is_swiftshader = caps.vendor_id == kGoogle && caps.type == DeviceType::cpu;
  if (is_swiftshader) caps.declares_inf_nan_preserve = false;
  // SwiftShader packs infinities, and numbers beyond the range of fp16, to NaN; minus infinity also changes
  // the other half of the word (measured). Its stores to fp16 images have the same fault.
  if (is_swiftshader) caps.packs_halves = caps.rgba16f_images = false;
  // If a shader stores fp16 to an image, lavapipe on arm64 aborts the process: LLVM 15 cannot select
  // instructions for the conversion that Mesa 22.3 emits on processors other than x86.
  if (kOnArm && is_lavapipe) caps.rgba16f_images = false;
}

// AMD's proprietary driver for Windows crashes in this query on integrated GPUs (GPUOpen-Drivers/AMDVLK#422,
// llama.cpp#22750).
bool crashes_in_cooperative_query(const DeviceCaps& caps) {
  return caps.vendor_id == kAmd && caps.type == DeviceType::integrated_gpu &&
         caps.driver.starts_with("AMD proprietary driver");
}

// NVIDIA's driver must stay loaded. From the thirty-first instance on it offers no device (measured with
// 580.159 for Linux; slang-rhi#757 for Windows), or invocations get wrong indices within their subgroups
// (quadrants#465).
bool must_stay_loaded(const DeviceCaps& caps) {
  return caps.vendor_id == kNvidia && caps.driver.starts_with("NVIDIA");
}

// Qualcomm's own driver does not support waits for fences on several threads (eden's DriverBugs.md).
bool waits_in_turn(const DeviceCaps& caps) {
  return caps.vendor_id == kQualcomm && !caps.driver.starts_with("turnip");
}

// lavapipe reads queries with the context in which its queue runs other submits at the same time, and may
// then wait for ever (measured on Mesa 22.3).
bool queries_race_with_submits(const DeviceCaps& caps) { return is_mesas_cpu_driver(caps); }

// Apple's GPUs ignore barriers if a workgroup has at most 32 invocations (MoltenVK#2711).
uint32_t least_workgroup_with_barriers(const DeviceCaps& caps) { return caps.portability_driver ? 64 : 1; }

}  // namespace vellum
