#include "kernels/framework/kernel_id.hpp"

#include <algorithm>
#include <cstdio>
#include <span>
#include <string_view>
#include <utility>

#include "platform/fingerprint.hpp"
#include "program/macros.hpp"

namespace vellum {
namespace {

constexpr std::string_view kStorage = "STORAGE_";

void append_word(std::string& text, std::string_view name, std::string_view value) {
  if (!text.empty()) text += ' ';
  text.append(name).append("=").append(value);
}

// Returns the value of a macro, or the hash of generated code, which may have thousands of characters.
std::string short_value(std::string_view value) {
  constexpr size_t kLongest = 200;
  if (value.size() <= kLongest) return std::string(value);
  const platform::Fingerprint hash = platform::fingerprint(std::as_bytes(std::span(value)));
  char text[40];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(hash.high),
                static_cast<unsigned long long>(hash.low));
  return text;
}

std::string text_of(const KernelId& kernel, const std::string& forms) {
  return kernel.shader + " | " + kernel.candidate + " | " + forms + " | " + kernel.variant;
}

}  // namespace

std::string KernelId::text() const { return text_of(*this, forms); }

std::string KernelId::description() const {
  return candidate.empty() ? "shader '" + shader + "'"
                           : "kernel '" + candidate + "' (shader '" + shader + "')";
}

KernelId kernel_id(const Dispatch& dispatch) {
  KernelId id{.shader = dispatch.shader,
              .candidate = dispatch.candidate,
              .forms = {},
              .written = {},
              .variant = {},
              .fused = dispatch.fused};
  std::string unfolded_forms;
  for (const auto& [name, value] : dispatch.defines) {
    if (!is_tensor_macro(name)) append_word(id.variant, name, short_value(value));
    if (!name.starts_with(kStorage)) continue;
    const std::string tensor = name.substr(kStorage.size());
    const std::string* type = find_macro(dispatch.defines, "ELEMENT_" + tensor);
    const std::string element = "_" + (type ? *type : std::string()), form = value + element;
    append_word(id.forms, tensor, form);
    id.accesses_rows |= value.starts_with(kRowsOfTexels);
    append_word(unfolded_forms, tensor, std::string(unfolded(value)) + element);
    for (const Binding& binding : dispatch.bindings)
      if (id.written.empty() && binding.access != Access::read && binding.name == tensor) id.written = form;
  }
  // Drivers are known that compute wrongly in workgroups of some shapes (docs/drivers.md, row 7).
  if (const auto& size = dispatch.workgroup_size; size[1] > 1)
    append_word(id.variant, "workgroup", std::to_string(size[0]) + "x" + std::to_string(size[1]));
  if (unfolded_forms != id.forms) id.unfolded = text_of(id, unfolded_forms);
  return id;
}

WrongKernel wrong_kernel(const KernelId& kernel, std::string why) {
  return {std::move(why), kernel.fused, kernel.unfolded, kernel.accesses_rows};
}

bool is_conversion(const KernelId& kernel) {
  return kernel.shader == "to_linear" || kernel.shader == "to_channels4";
}

std::string wrong_kernel_warning(const DeviceCaps& caps, const std::string& kernel, const std::string& why) {
  const bool is_measured = why.starts_with("an error of ");
  return caps.name + (caps.driver.empty() ? "" : ", " + caps.driver) + ": " + kernel +
         (is_measured ? " computes wrong results and is not used: " : " is not used: ") + why;
}

}  // namespace vellum
