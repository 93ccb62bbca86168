#include "api/guard.hpp"
#include "api/impl.hpp"
#include "cost/device_traits.hpp"
#include "estimate/calibration_file.hpp"
#include "exec/streamed_weights.hpp"
#include "platform/files.hpp"
#include "tune/table_file.hpp"
#include "vellum/vulkan.hpp"
#include "vulkan/device_requirements.hpp"

namespace vellum {
namespace {

const char* type_name(DeviceType type) {
  switch (type) {
    case DeviceType::discrete_gpu:
      return "discrete GPU";
    case DeviceType::integrated_gpu:
      return "integrated GPU";
    case DeviceType::virtual_gpu:
      return "virtual GPU";
    case DeviceType::cpu:
      return "CPU";
    case DeviceType::other:
      break;
  }
  return "other";
}

// Major, minor and patch as VK_MAKE_API_VERSION packs them (Vulkan specification, "Version numbers"). A
// device with a newer version than the instance has any patch of the instance's version, which is no number
// to show.
std::string version(uint32_t api) {
  constexpr uint32_t kAnyPatch = 0xfff;
  const uint32_t patch = api & kAnyPatch;
  const std::string minor = std::to_string((api >> 22) & 0x7f) + "." + std::to_string((api >> 12) & 0x3ff);
  return patch == kAnyPatch ? minor : minor + "." + std::to_string(patch);
}

DeviceInfo device_info(const DeviceCaps& caps, const gpu::DeviceIdentity& identity) {
  DeviceInfo info;
  info.index = identity.index;
  info.uuid = identity.uuid;
  info.luid = identity.luid;
  info.vendor_id = caps.vendor_id;
  info.device_id = caps.device_id;
  info.name = caps.name;
  info.type = type_name(caps.type);
  info.driver = caps.driver;
  info.api_version = version(caps.api_version);
  info.preferred_storage = caps.prefers_images ? "image2d" : "buffer";
  info.fp16_arithmetic = caps.fp16_arithmetic;
  info.subgroup_size = caps.full_subgroups ? caps.subgroup_size : 0;
  info.cooperative_matrices = cooperative_summary(caps);
  info.timestamp_period_ns = caps.timestamp_period_ns;
  info.max_image_dimension_2d = caps.max_image_dimension_2d;
  info.max_image_dimension_3d = caps.max_image_dimension_3d;
  info.max_storage_buffer_range = caps.max_storage_buffer_range;
  return info;
}

gpu::ContextOptions context_options(const DeviceOptions& options) {
  gpu::ContextOptions context;
  context.device = options.device;
  context.validation = options.validation;
  context.log = options.log;
  context.cache_folder = options.cache_folder;
  context.queue_priority = options.queue_priority;
  context.global_priority = options.global_priority;
  context.debug_labels = options.debug_labels;
  context.wait_limit = options.wait_limit_ms == 0 ? std::chrono::nanoseconds::max()
                                                  : std::chrono::milliseconds(options.wait_limit_ms);
  if (options.android_baseline_2022) context.adjust_caps = clamp_to_android_baseline_2022;
  return context;
}

void check_choices(const DeviceOptions& options) {
  check_choice(options.global_priority, GlobalPriority::realtime, "DeviceOptions::global_priority");
  check_choice(options.self_check, SelfCheck::on, "DeviceOptions::self_check");
}

FindPacked packed_weights_of(const Model& model) {
  const std::shared_ptr<const PackedModel> packed = impl(model)->packed;
  if (!packed) return {};
  return [packed](const VirtualTensor& weight) { return packed->find(weight); };
}

FixedConstants constants_of(const Model& model) {
  FixedConstants constants;
  for (const Value& value : impl(model)->graph.values)
    if (value.constant) constants.insert(value.constant->data());
  return constants;
}

}  // namespace

std::vector<DeviceInfo> devices() {
  return guard([] {
    std::vector<DeviceInfo> infos;
    for (const gpu::ListedDevice& device : gpu::list_devices())
      infos.push_back(device_info(device.caps, device.identity));
    return infos;
  });
}

std::filesystem::path default_cache_folder() {
  return guard([] { return platform::default_cache_folder(); });
}

std::shared_ptr<WeightSource> Device::Impl::weights_for(const Model& model, const SessionOptions& options,
                                                        std::shared_ptr<gpu::MemoryBudget> memory_budget) {
  if (options.weights_budget == 0) {
    if (!memory_budget) return weights_of(model);
    return std::make_shared<WeightStore>(context, constants_of(model), packed_weights_of(model),
                                         std::move(memory_budget));
  }
  StreamOptions stream_options;
  stream_options.budget = options.weights_budget;
  stream_options.memory_budget = std::move(memory_budget);
  const std::filesystem::path& folder = context->options().cache_folder;
  if (!folder.empty()) stream_options.packed.folder = folder / "weights";
  stream_options.packed.ready = packed_weights_of(model);
  return std::make_shared<StreamedWeights>(context, stream_options, constants_of(model));
}

SubmitLimits Device::Impl::submit_limits(const SessionOptions& options) const {
  const int64_t usual = context->draws() ? device_traits(context->caps()).max_submit_ms_of_displays : 0;
  return {options.tasks_per_submit, static_cast<double>(options.max_submit_ms.value_or(usual))};
}

std::shared_ptr<const TuningTable> Device::Impl::tuning() {
  const std::lock_guard lock(mutex_);
  if (!tuning_) {
    const gpu::ContextOptions& options = context->options();
    tuning_ = std::make_shared<const TuningTable>(
        options.cache_folder.empty() ? TuningTable{}
                                     : read_table(options.cache_folder, context->caps(), options.log));
  }
  return tuning_;
}

void Device::Impl::keep_tuning(TuningTable table) {
  const std::lock_guard lock(mutex_);
  tuning_ = std::make_shared<const TuningTable>(std::move(table));
  const std::filesystem::path& folder = context->options().cache_folder;
  if (!folder.empty()) write_table(folder, context->caps(), *tuning_);
}

// Returns whether a session uses tuned kernels. Not with a weights budget: split layers would choose other
// kernels than whole layers, and their results must be equal.
std::shared_ptr<const TuningTable> Device::Impl::tuning_for(const SessionOptions& options) {
  return options.tuned && options.weights_budget == 0 ? tuning() : nullptr;
}

std::optional<ProcessTraits> Device::Impl::calibration() {
  const std::lock_guard lock(mutex_);
  if (!calibration_) {
    const gpu::ContextOptions& options = context->options();
    calibration_.emplace();
    if (!options.cache_folder.empty() && device_traits(context->caps()).allocates_in_the_process)
      calibration_ = read_calibration(options.cache_folder, context->caps(), options.log);
  }
  return *calibration_;
}

std::shared_ptr<WeightStore> Device::Impl::weights_of(const Model& model) {
  const std::lock_guard lock(mutex_);
  std::erase_if(weights_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<WeightStore>& known = weights_[impl(model)];
  if (auto store = known.lock()) return store;
  auto store = std::make_shared<WeightStore>(context, constants_of(model), packed_weights_of(model));
  known = store;
  return store;
}

Device Device::open(const DeviceOptions& options) {
  return guard([&] {
    check_choices(options);
    auto impl = std::make_shared<Impl>();
    impl->self_check = options.self_check;
    impl->context = gpu::Context::create(context_options(options));
    return Device(std::move(impl));
  });
}

DeviceRequirements Device::requirements(const VulkanPhysicalDevice& device) {
  return guard([&] { return DeviceRequirements(gpu::device_requirements(device)); });
}

Device Device::adopt(const VulkanDevice& device, const DeviceOptions& options) {
  return guard([&] {
    check_choices(options);
    const DeviceOptions defaults;
    if (!options.device.empty() || options.validation || options.queue_priority != defaults.queue_priority ||
        options.global_priority != defaults.global_priority)
      throw Error(
          ErrorCode::invalid_argument,
          "DeviceOptions::device, validation, queue_priority and global_priority are for devices that Vellum "
          "opens; the application decided them for its own");
    auto impl = std::make_shared<Impl>();
    impl->self_check = options.self_check;
    impl->context = gpu::Context::adopt(device, context_options(options));
    return Device(std::move(impl));
  });
}

uint64_t Device::validation_messages() const {
  return guard([&] {
    const gpu::ValidationCounts counts = impl(*this)->context->validation_messages();
    return counts.errors + counts.warnings;
  });
}

DeviceInfo Device::info() const {
  return guard([&] {
    const gpu::Context& context = *impl(*this)->context;
    return device_info(context.caps(), context.identity());
  });
}

}  // namespace vellum
