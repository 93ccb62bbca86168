// The entry points of the plug-in, which LiteRT calls an external delegate.
#include <map>
#include <string>

#include "bindings/plugins/open_devices.hpp"
#include "delegate.hpp"

#ifdef _WIN32
#define VELLUM_PLUGIN extern "C" __declspec(dllexport)
#else
#define VELLUM_PLUGIN extern "C" __attribute__((visibility("default")))
#endif

// Returns null after `report_error` was called. `keys` and `values`: `count` strings each.
VELLUM_PLUGIN TfLiteDelegate* tflite_plugin_create_delegate(const char* const* keys,
                                                            const char* const* values, size_t count,
                                                            void (*report_error)(const char*)) noexcept {
  using namespace vellum;
  TfLiteDelegate* delegate = nullptr;
  const auto create = [&] {
    std::map<std::string, std::string> texts;
    for (size_t i = 0; i < count; ++i) texts[keys[i]] = values[i];
    const plugin::PluginOptions options = plugin::parse_options(texts);
    delegate = lite::make_delegate(plugin::OpenDevices::of_process().open(options.device), options);
  };
  lite::guarded(create, [&](const char* message) {
    if (report_error != nullptr) report_error((std::string("Vellum: ") + message).c_str());
  });
  return delegate;
}

VELLUM_PLUGIN void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate) noexcept {
  if (delegate != nullptr) vellum::lite::delete_delegate(delegate);
}
