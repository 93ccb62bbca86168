#include "vulkan/pipeline_statistics.hpp"

#include "vellum/error.hpp"
#include "vulkan/context_impl.hpp"
#include "vulkan/pipeline_objects.hpp"

namespace vellum::gpu {
namespace {

double value(const vk::PipelineExecutableStatisticKHR& statistic) {
  switch (statistic.format) {
    case vk::PipelineExecutableStatisticFormatKHR::eBool32:
      return statistic.value.b32 ? 1 : 0;
    case vk::PipelineExecutableStatisticFormatKHR::eInt64:
      return static_cast<double>(statistic.value.i64);
    case vk::PipelineExecutableStatisticFormatKHR::eUint64:
      return static_cast<double>(statistic.value.u64);
    case vk::PipelineExecutableStatisticFormatKHR::eFloat64:
      return statistic.value.f64;
  }
  throw Error(ErrorCode::internal, "a driver gives a pipeline statistic of an unknown format");
}

// Called twice as Vulkan wants it: first for the sizes, then for the texts. Vulkan-Hpp's own function for it
// gives no memory for the texts.
std::vector<KernelRepresentation> read_representations(const vk::raii::Device& device,
                                                         const vk::PipelineExecutableInfoKHR& info) {
  const auto* functions = device.getDispatcher();
  const VkPipelineExecutableInfoKHR& executable = info;
  uint32_t count = 0;
  const auto read = [&](VkPipelineExecutableInternalRepresentationKHR* to) {
    const auto result = static_cast<vk::Result>(
        functions->vkGetPipelineExecutableInternalRepresentationsKHR(*device, &executable, &count, to));
    if (result != vk::Result::eSuccess && result != vk::Result::eIncomplete)
      throw Error(ErrorCode::internal,
                  "a driver does not give its forms of a shader: " + vk::to_string(result));
  };
  read(nullptr);
  std::vector<VkPipelineExecutableInternalRepresentationKHR> found(
      count,
      {VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INTERNAL_REPRESENTATION_KHR, nullptr, {}, {}, 0, 0, nullptr});
  read(found.data());
  std::vector<std::string> texts(count);
  for (uint32_t i = 0; i < count; ++i) {
    texts[i].resize(found[i].dataSize);
    found[i].pData = texts[i].data();
  }
  read(found.data());
  std::vector<KernelRepresentation> result;
  for (uint32_t i = 0; i < count; ++i)
    if (found[i].isText)
      result.push_back({found[i].name, found[i].description, texts[i].substr(0, texts[i].find('\0'))});
  return result;
}

}  // namespace

bool has_pipeline_statistics(const Context& context) { return context.impl().physical.pipeline_statistics; }

std::vector<PipelineExecutable> pipeline_statistics(Context& context, const PipelineKey& key,
                                                    bool representations) {
  Context::Impl& device = context.impl();
  if (!device.physical.pipeline_statistics)
    throw Error(ErrorCode::unsupported, device.caps.name +
                                            " does not say what its compiler makes of shaders: the driver " +
                                            "lacks VK_KHR_pipeline_executable_properties");
  vk::PipelineCreateFlags flags = vk::PipelineCreateFlagBits::eCaptureStatisticsKHR;
  if (representations) flags |= vk::PipelineCreateFlagBits::eCaptureInternalRepresentationsKHR;
  const PipelineObjects objects = create_pipeline(device, key, nullptr, flags);
  return translated("reading the statistics of shader " + key.shader, [&] {
    std::vector<PipelineExecutable> executables;
    for (const auto& properties : device.device.getPipelineExecutablePropertiesKHR({*objects.pipeline})) {
      PipelineExecutable& executable = executables.emplace_back();
      executable.name = properties.name.data();
      executable.subgroup_size = properties.subgroupSize;
      const vk::PipelineExecutableInfoKHR info(*objects.pipeline,
                                               static_cast<uint32_t>(executables.size() - 1));
      for (const auto& statistic : device.device.getPipelineExecutableStatisticsKHR(info))
        executable.statistics.push_back(
            {statistic.name.data(), statistic.description.data(), value(statistic)});
      if (representations) executable.representations = read_representations(device.device, info);
    }
    return executables;
  });
}

}  // namespace vellum::gpu
