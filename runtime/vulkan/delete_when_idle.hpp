// How the members of Vulkan objects are deleted.
#pragma once

#include <memory>

namespace vellum::gpu {

// Deletes them, unless a submit may still use the object because a wait timed out or failed: then the context
// keeps them (retained.hpp). Defined in context_impl.hpp, for members that have a `context`.
struct DeleteWhenIdle {
  template <typename Impl>
  void operator()(Impl* impl) const noexcept;
};

}  // namespace vellum::gpu
