// The devices that the networks of a plug-in run on.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>

#include "bindings/plugins/fork_guard.hpp"
#include "vellum/vellum.hpp"

namespace vellum::plugin {

// Networks with the same options share one device with its pipelines and kernel checks. Thread-safe.
class OpenDevices {
 public:
  // Returns the devices of this library. They are never freed: networks may outlive the static objects of a
  // process that ends.
  static OpenDevices& of_process();

  // Throws the errors of Device::open(), and Error(unsupported) in a process that was forked after the first
  // call.
  Device open(const DeviceOptions& options);
  // Returns the device of this UUID, or any device if that is empty: one that is open, else a new one with
  // default options. Throws as open() does.
  Device open_any(const std::string& uuid);
  // Opens a new device for the next networks: this one was lost.
  void forget(const Device& lost);

 private:
  OpenDevices() = default;

  std::mutex mutex_;
  std::optional<ForkGuard> process_;  // of the first device
  std::map<std::tuple<std::string, std::filesystem::path, SelfCheck>, std::weak_ptr<Device::Impl>> devices_;
};

// Calls `run`, which uses the device. If the device is lost, the networks that are made afterwards get
// another one.
template <typename Function>
void run_on(const Device& device, Function&& run) {
  try {
    run();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::device_lost) OpenDevices::of_process().forget(device);
    throw;
  }
}

}  // namespace vellum::plugin
