#include "vulkan/cooperative_matrices.hpp"

#include <optional>
#include <vector>

#include "vulkan/crash_marks.hpp"
#include "vulkan/glslang_compiler.hpp"

namespace vellum::gpu {
namespace {

// The numbers are the same in both extensions (Vulkan specification, VkComponentTypeKHR, VkScopeKHR).
MatrixElement element(int type) {
  constexpr MatrixElement known[] = {MatrixElement::f16, MatrixElement::f32, MatrixElement::f64,
                                     MatrixElement::s8,  MatrixElement::s16, MatrixElement::s32,
                                     MatrixElement::s64, MatrixElement::u8,  MatrixElement::u16,
                                     MatrixElement::u32, MatrixElement::u64};
  return type >= 0 && static_cast<size_t>(type) < std::size(known) ? known[type] : MatrixElement::other;
}

// Returns nothing for an unknown scope.
std::optional<MatrixScope> scope(int scope) {
  switch (scope) {
    case 1:
      return MatrixScope::device;
    case 2:
      return MatrixScope::workgroup;
    case 3:
      return MatrixScope::subgroup;
    case 5:
      return MatrixScope::queue_family;
    default:
      return std::nullopt;
  }
}

// `Properties`: the type of either extension.
template <typename Properties>
void add(std::vector<CooperativeMatrix>& matrices, MatrixExtension extension, const Properties& p,
         int result) {
  const std::optional<MatrixScope> known_scope = scope(static_cast<int>(p.scope));
  if (!known_scope || p.MSize == 0 || p.NSize == 0 || p.KSize == 0) return;
  matrices.push_back({extension, *known_scope, p.MSize, p.NSize, p.KSize, element(static_cast<int>(p.AType)),
                      element(static_cast<int>(p.BType)), element(static_cast<int>(p.CType)),
                      element(result)});
}

// Returns the matrices that compute shaders can use; none if compute is not among the supported stages.
std::vector<CooperativeMatrix> khr_matrices([[maybe_unused]] const vk::raii::PhysicalDevice& device,
                                            [[maybe_unused]] const DeviceSupport& support) {
  std::vector<CooperativeMatrix> matrices;
#ifdef VK_KHR_cooperative_matrix
  using Properties = vk::PhysicalDeviceCooperativeMatrixPropertiesKHR;
  const auto properties = device.getProperties2<vk::PhysicalDeviceProperties2, Properties>();
  if (!(properties.get<Properties>().cooperativeMatrixSupportedStages & vk::ShaderStageFlagBits::eCompute) ||
      !support.has(kCooperativeMatrixKhr))
    return {};
  // Products whose sums saturate are listed beside the same ones without.
  for (const vk::CooperativeMatrixPropertiesKHR& p : device.getCooperativeMatrixPropertiesKHR())
    if (!p.saturatingAccumulation) add(matrices, MatrixExtension::khr, p, static_cast<int>(p.ResultType));
#endif
  return matrices;
}

std::vector<CooperativeMatrix> nv_matrices(const vk::raii::PhysicalDevice& device,
                                           const DeviceSupport& support) {
  using Properties = vk::PhysicalDeviceCooperativeMatrixPropertiesNV;
  const auto properties = device.getProperties2<vk::PhysicalDeviceProperties2, Properties>();
  if (!(properties.get<Properties>().cooperativeMatrixSupportedStages & vk::ShaderStageFlagBits::eCompute) ||
      !support.has(kCooperativeMatrixNv))
    return {};
  std::vector<CooperativeMatrix> matrices;
  for (const vk::CooperativeMatrixPropertiesNV& p : device.getCooperativeMatrixPropertiesNV())
    add(matrices, MatrixExtension::nv, p, static_cast<int>(p.DType));
  return matrices;
}

// Returns what this build lacks for the KHR extension; empty if nothing.
std::string missing_in_build() {
  std::string text;
#ifndef VK_KHR_cooperative_matrix
  text = "Vellum was built with Vulkan headers that lack ";
  text += kCooperativeMatrixKhrName;
#else
  if (!knows_khr_cooperative_matrix()) {
    text = "Vellum was built with a glslang that lacks GL_KHR_cooperative_matrix: ";
    text += glslang_version();
  }
#endif
  return text;
}

}  // namespace

void fill_cooperative_matrices(DeviceCaps& caps, const vk::raii::PhysicalDevice& device,
                               const DeviceSupport& support, CrashMarks* marks) {
  const bool khr = support.has(kCooperativeMatrixKhrName);
  const bool nv = support.has(VK_NV_COOPERATIVE_MATRIX_EXTENSION_NAME);
  std::string& obstacle = caps.cooperative_obstacle;
  if (!khr && !nv)
    obstacle = "the driver has none";
  else if (!caps.fp16_arithmetic)
    obstacle = "the device computes no halves";
  else if (!caps.full_subgroups)
    obstacle = "subgroups may be of any size";
  else if (caps.api_version < VK_API_VERSION_1_2 || !support.has(kMemoryModel) ||
           !support.has(kMemoryModelDeviceScope))
    obstacle = "the driver lacks Vulkan's memory model";
  if (!obstacle.empty()) return;
  if (khr) obstacle = missing_in_build();
  std::optional<CrashMarks::Mark> mark;
  if (marks)
    mark.emplace(
        marks->begin({AttemptKind::cooperative_query, "", "was asked for its cooperative matrices"}));
  if (khr && obstacle.empty()) caps.cooperative_matrices = khr_matrices(device, support);
  if (nv && caps.cooperative_matrices.empty()) caps.cooperative_matrices = nv_matrices(device, support);
  // A shader with matrices of bytes has integers of 8 bits.
  if (!support.has(kShaderInt8)) std::erase_if(caps.cooperative_matrices, multiplies_bytes);
  if (!caps.cooperative_matrices.empty())
    obstacle.clear();
  else if (obstacle.empty())
    obstacle = "the driver has none for compute shaders";
}

}  // namespace vellum::gpu
