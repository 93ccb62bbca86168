// Links the library and calls it. A machine without a Vulkan driver has no devices.
#include <cstdio>
#include <vellum/device.hpp>
#include <vellum/error.hpp>

int main() {
  try {
    for (const vellum::DeviceInfo& info : vellum::devices()) std::printf("%s\n", info.name.c_str());
  } catch (const vellum::Error& error) {
    std::printf("%s\n", error.what());
  }
}
