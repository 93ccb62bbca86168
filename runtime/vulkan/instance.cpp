#include "vulkan/instance.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include "vellum/vulkan.hpp"
#include "vulkan/context.hpp"
#include "vulkan/disown.hpp"
#include "vulkan/error_translation.hpp"

namespace vellum::gpu {
namespace {

std::atomic<bool> used_vulkan{false};

constexpr uint32_t kAnyPatch = 0xfff;
constexpr uint32_t kNewestVersion = VK_MAKE_API_VERSION(0, 1, 3, kAnyPatch);
constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";

platform::DynamicLibrary open_loader() {
#if defined(_WIN32)
  constexpr std::array names{"vulkan-1.dll"};
  constexpr const char* remedy = "(vulkan-1.dll) was found; install the graphics driver of the GPU's vendor";
#elif defined(__ANDROID__)
  constexpr std::array names{"libvulkan.so"};
  constexpr const char* remedy = "(libvulkan.so) was found; this Android device has no Vulkan";
#elif defined(__APPLE__)
  // The loader, also in the folders of the Vulkan SDK and of Homebrew, which not every program searches. Then
  // MoltenVK without a loader: a library, or the framework that applications for iOS embed.
  constexpr std::array names{"libvulkan.1.dylib", "/usr/local/lib/libvulkan.1.dylib",
                             "/opt/homebrew/lib/libvulkan.1.dylib", "libMoltenVK.dylib",
                             "@rpath/MoltenVK.framework/MoltenVK"};
  constexpr const char* remedy =
      "(libvulkan.1.dylib) and no MoltenVK was found; install the Vulkan SDK, or embed MoltenVK.framework";
#else
  // libvulkan.so alone belongs to the development package.
  constexpr std::array names{"libvulkan.so.1", "libvulkan.so"};
  constexpr const char* remedy =
      "(libvulkan.so.1) was found; install it (Debian: libvulkan1, and mesa-vulkan-drivers for a driver)";
#endif
  platform::DynamicLibrary library = platform::DynamicLibrary::open(names);
  if (!library) throw Error(ErrorCode::no_device, std::string("no Vulkan loader ") + remedy);
  return library;
}

VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                          VkDebugUtilsMessageTypeFlagsEXT type,
                                          const VkDebugUtilsMessengerCallbackDataEXT* data, void* user) {
  auto& validation = *static_cast<ValidationLog*>(user);
  const bool error = severity >= VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  // General messages come from the loader, e.g. about a skipped driver for another architecture: they concern
  // the machine, not Vellum.
  const bool from_loader = type == VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT;
  if (!from_loader) ++(error ? validation.errors : validation.warnings);
  if (validation.log)
    validation.log(from_loader ? LogLevel::info : error ? LogLevel::error : LogLevel::warning,
                   std::string(from_loader ? "Vulkan loader: " : kValidationPrefix) + data->pMessage);
  return VK_FALSE;
}

vk::DebugUtilsMessengerCreateInfoEXT messenger_info(ValidationLog& validation) {
  using Severity = vk::DebugUtilsMessageSeverityFlagBitsEXT;
  using Type = vk::DebugUtilsMessageTypeFlagBitsEXT;
  return {{},
          Severity::eWarning | Severity::eError,
          Type::eGeneral | Type::eValidation | Type::ePerformance,
          on_message,
          &validation};
}

void require_validation_layer(const vk::raii::Context& loader) {
  const auto layers = loader.enumerateInstanceLayerProperties();
  if (std::ranges::none_of(layers, [](const vk::LayerProperties& layer) {
        return std::strcmp(layer.layerName, kValidationLayer) == 0;
      }))
    throw Error(ErrorCode::no_device, std::string("validation was asked for, but the Vulkan layer ") +
                                          kValidationLayer +
                                          " is not installed (Debian: vulkan-validationlayers)");
}

// Applications and Wine's loader leave the patch at 0, which says nothing of the devices.
uint32_t usable_version(uint32_t version) { return std::min(version | kAnyPatch, kNewestVersion); }

uint32_t instance_version(const vk::raii::Context& loader) {
  // Null in a loader of Vulkan 1.0; Android's up to API 27 has it, if at all, only through
  // vkGetInstanceProcAddr.
  const bool newer_than_1_0 = loader.getDispatcher()->vkEnumerateInstanceVersion != nullptr;
  const uint32_t version = newer_than_1_0 ? loader.enumerateInstanceVersion() : VK_API_VERSION_1_0;
  if (version < VK_API_VERSION_1_1)
    throw Error(ErrorCode::no_device, "the Vulkan loader offers Vulkan 1.0 only; Vellum needs 1.1 or later");
  return usable_version(version);
}

void require_debug_utils(const vk::raii::Context& loader) {
  if (std::ranges::none_of(
          loader.enumerateInstanceExtensionProperties(), [](const vk::ExtensionProperties& extension) {
            return std::strcmp(extension.extensionName, VK_EXT_DEBUG_UTILS_EXTENSION_NAME) == 0;
          }))
    throw Error(ErrorCode::unsupported,
                "debug_labels needs VK_EXT_debug_utils, which neither the Vulkan loader nor a driver offers");
}

// Without this extension the loader lists no driver that only follows the portability subset (MoltenVK).
bool can_enumerate_portability(const vk::raii::Context& loader) {
  return std::ranges::any_of(
      loader.enumerateInstanceExtensionProperties(), [](const vk::ExtensionProperties& extension) {
        return std::strcmp(extension.extensionName, VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME) == 0;
      });
}

}  // namespace

bool has_used_vulkan() { return used_vulkan; }

Instance::Instance(const ContextOptions& options, ValidationLog& validation_log) {
  used_vulkan = true;
  PFN_vkGetInstanceProcAddr get_proc_addr = options.get_instance_proc_addr;
  if (!get_proc_addr) {
    library_ = open_loader();
    get_proc_addr = reinterpret_cast<PFN_vkGetInstanceProcAddr>(library_.symbol("vkGetInstanceProcAddr"));
    if (!get_proc_addr) throw Error(ErrorCode::no_device, "the Vulkan loader has no vkGetInstanceProcAddr");
  }
  translated("starting Vulkan", [&] {
    loader_.emplace(get_proc_addr);
    api_version_ = instance_version(*loader_);
    const vk::ApplicationInfo application("Vellum", 1, "Vellum", 1, api_version_);
    vk::InstanceCreateInfo info({}, &application);
    std::vector<const char*> extensions;
    if (can_enumerate_portability(*loader_)) {
      extensions.push_back(VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME);
      info.flags |= vk::InstanceCreateFlagBits::eEnumeratePortabilityKHR;
    }
    if (options.debug_labels) {
      require_debug_utils(*loader_);
      extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
    }
    if (!options.validation) {
      create(info.setPEnabledExtensionNames(extensions));
      return;
    }
    require_validation_layer(*loader_);
    if (!options.debug_labels) extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
    extensions.push_back(VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME);
    constexpr std::array layers{kValidationLayer};
    constexpr std::array enabled{vk::ValidationFeatureEnableEXT::eSynchronizationValidation};
    auto messages = messenger_info(validation_log);  // chained: for its creation and destruction
    const vk::ValidationFeaturesEXT features(enabled, {}, &messages);
    create(info.setPEnabledLayerNames(layers).setPEnabledExtensionNames(extensions).setPNext(&features));
    if (!has_driver()) return;
    messenger_ = vk::raii::DebugUtilsMessengerEXT(instance_, messenger_info(validation_log));
  });
}

Instance::Instance(const VulkanPhysicalDevice& adopted) {
  used_vulkan = true;
  const auto require = [](bool is_present, const char* member) {
    if (!is_present)
      throw Error(ErrorCode::invalid_argument, std::string("VulkanPhysicalDevice::") + member + " is null");
  };
  require(adopted.get_instance_proc_addr, "get_instance_proc_addr");
  require(adopted.instance, "instance");
  if (adopted.api_version < VK_API_VERSION_1_1)
    throw Error(
        ErrorCode::unsupported,
        "the application's instance is of Vulkan 1.0 (VkApplicationInfo::apiVersion); Vellum needs 1.1 "
        "or later");
  translated("using the application's instance", [&] {
    loader_.emplace(adopted.get_instance_proc_addr);
    api_version_ = usable_version(adopted.api_version);
    instance_ = vk::raii::Instance(*loader_, adopted.instance);
    disown(instance_);
  });
}

void Instance::create(const vk::InstanceCreateInfo& info) {
  try {
    instance_ = vk::raii::Instance(*loader_, info);
  } catch (const vk::IncompatibleDriverError&) {
    // The loader found no driver, or none that fits this machine.
  }
}

}  // namespace vellum::gpu
