// Translates Vulkan's exceptions to vellum::Error at the boundary of this folder.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "vellum/error.hpp"
#include "vulkan/vulkan_hpp.hpp"

namespace vellum::gpu {

// `what`: the action that failed, e.g. "creating a pipeline for conv".
Error translate(const vk::SystemError& error, std::string_view what);

// Calls f and translates Vulkan's exceptions. `what`: a text, or a function that returns the text on demand.
template <typename What, typename F>
decltype(auto) translated(const What& what, F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const vk::SystemError& error) {
    if constexpr (std::is_invocable_v<const What&>)
      throw translate(error, what());
    else
      throw translate(error, what);
  }
}

}  // namespace vellum::gpu
