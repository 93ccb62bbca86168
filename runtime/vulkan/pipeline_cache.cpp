#include "vulkan/pipeline_cache.hpp"

#include <algorithm>
#include <cstring>

#include "vulkan/cache_file.hpp"
#include "vulkan/context_impl.hpp"
#include "vulkan/crash_marks.hpp"

namespace vellum::gpu {
namespace {

// Identifies the driver that may read the data. Vulkan's own header has the UUID, but some drivers keep it
// over updates.
platform::Sha256Digest cache_key(const DeviceCaps& caps) {
  platform::Sha256 hash;
  hash.add_string("pipeline cache").add_string(caps.name).add_string(caps.driver);
  hash.add(std::as_bytes(std::span(caps.pipeline_cache_uuid)));
  for (const uint32_t number : {caps.vendor_id, caps.device_id, caps.driver_version, caps.api_version})
    hash.add(std::as_bytes(std::span(&number, 1)));
  return hash.finish();
}

// Empty: nothing is stored.
std::filesystem::path cache_path(const Context& context) {
  const std::filesystem::path& folder = context.options().cache_folder;
  if (folder.empty() || context.impl().crash_marks.has_crashed(AttemptKind::pipeline_cache)) return {};
  return folder / ("pipelines-" + platform::to_hex(cache_key(context.device_caps())).substr(0, 16) + ".bin");
}

// Vulkan's header, VkPipelineCacheHeaderVersionOne; drivers should check it themselves, and some do not.
bool is_for(const DeviceCaps& caps, const std::vector<std::byte>& data) {
  VkPipelineCacheHeaderVersionOne header;
  if (data.size() < sizeof(header)) return false;
  std::memcpy(&header, data.data(), sizeof(header));
  return header.headerSize >= sizeof(header) && header.headerSize <= data.size() &&
         header.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE && header.vendorID == caps.vendor_id &&
         header.deviceID == caps.device_id &&
         std::ranges::equal(header.pipelineCacheUUID, caps.pipeline_cache_uuid);
}

}  // namespace

PipelineCache::PipelineCache(Context& context) : context_(context) {
  const DeviceCaps& caps = context.device_caps();
  CrashMarks& marks = context.impl().crash_marks;
  const Attempt attempt{AttemptKind::pipeline_cache, "", "made a pipeline cache from stored data"};
  std::optional<std::vector<std::byte>> data;
  if (const auto path = cache_path(context); !path.empty())
    data = read_cache_file(path, cache_key(caps), context.options().log);
  if (data && !is_for(caps, *data)) data.reset();
  vk::PipelineCacheCreateInfo info;
  if (data) info.setInitialDataSize(data->size()).setPInitialData(data->data());
  const auto create = [&] {
    std::optional<CrashMarks::Mark> mark;
    if (info.initialDataSize > 0) mark.emplace(marks.begin(attempt));
    return translated("creating the pipeline cache", [&] {
      return vk::raii::PipelineCache(context.impl().device, info, context.impl().allocator());
    });
  };
  try {
    cache_ = create();
  } catch (const Error& error) {
    if (!data || error.code() == ErrorCode::device_lost) throw;
    context.log(LogLevel::warning, std::string("the pipeline cache begins empty: ") + error.what());
    info = vk::PipelineCacheCreateInfo();
    cache_ = create();
  }
}

void PipelineCache::save() const {
  const auto path = cache_path(context_);
  if (path.empty()) return;
  try {
    const std::vector<uint8_t> data =
        translated("reading the pipeline cache", [&] { return cache_.getData(); });
    write_cache_file(path, cache_key(context_.device_caps()), std::as_bytes(std::span(data)));
  } catch (const Error& error) {
    context_.log(LogLevel::warning, std::string("the pipeline cache was not saved: ") + error.what());
  }
}

}  // namespace vellum::gpu
