// Deletes the members of Vulkan objects safely.
#pragma once

#include <memory>

namespace vellum::gpu {

// Deletes an object's members. If a submit may still use the object, because a wait timed out or failed, the
// context keeps them instead (retained.hpp). Defined in context_impl.hpp, for members that have a `context`.
struct DeleteWhenIdle {
  template <typename Impl>
  void operator()(Impl* impl) const noexcept;
};

}  // namespace vellum::gpu
