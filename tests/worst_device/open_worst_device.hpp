// The worst device for tests of the public interface.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "api/impl.hpp"
#include "worst_device/worst_device.hpp"

namespace vellum::test {

// A device without cache, validation and checks of its kernels; none if the environment asks for no
// allowances.
inline std::optional<Device> open_worst_device() {
  gpu::ContextOptions options;
  use_worst_device(options);
  if (!options.get_instance_proc_addr) return std::nullopt;
  auto impl = std::make_shared<Device::Impl>();
  impl->self_check = SelfCheck::off;
  impl->context = gpu::Context::create(options);
  return Handles::device(std::move(impl));
}

}  // namespace vellum::test
