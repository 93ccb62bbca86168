#include "kernels/framework/kernel_id.hpp"

#include <string_view>

namespace vellum {
namespace {

constexpr std::string_view kTensor = "TENSOR_", kBinding = "BINDING_";

void append_word(std::string& text, std::string_view name, std::string_view value) {
  if (!text.empty()) text += ' ';
  text.append(name).append("=").append(value);
}

}  // namespace

std::string KernelId::text() const { return shader + " | " + candidate + " | " + forms + " | " + variant; }

std::string KernelId::description() const {
  return candidate.empty() ? "shader '" + shader + "'"
                           : "kernel '" + candidate + "' (shader '" + shader + "')";
}

KernelId kernel_id(const Dispatch& dispatch) {
  KernelId id{.shader = dispatch.shader, .candidate = dispatch.candidate};
  for (const auto& [name, value] : dispatch.defines) {
    if (name.starts_with(kBinding)) continue;
    if (!name.starts_with(kTensor)) {
      append_word(id.variant, name, value);
      continue;
    }
    const std::string_view tensor = std::string_view(name).substr(kTensor.size());
    append_word(id.forms, tensor, value);
    for (const Binding& binding : dispatch.bindings)
      if (id.written.empty() && binding.access != Access::read && binding.name == tensor) id.written = value;
  }
  return id;
}

bool is_conversion(const KernelId& kernel) {
  return kernel.shader == "to_linear" || kernel.shader == "to_channels4";
}

std::string wrong_kernel_warning(const DeviceCaps& caps, const std::string& kernel, const std::string& why) {
  return caps.name + (caps.driver.empty() ? "" : ", " + caps.driver) + ": " + kernel +
         " computes wrong results and is not used: " + why;
}

}  // namespace vellum
