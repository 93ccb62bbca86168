// Tensor usage records: the planner's input. Plain values, no Vulkan, no graph.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

namespace vellum::planner {

// A texel format: an opaque id and the bytes of a texel. Only tensors with equal ids may share an object.
struct TexelFormat {
  uint32_t id = 0;
  uint32_t bytes_per_texel = 16;
  bool operator==(const TexelFormat&) const = default;
};

struct Bytes {
  uint64_t bytes = 0;
  bool operator==(const Bytes&) const = default;
};

// Extents are in texels.
struct Texture2D {
  uint32_t width = 0, height = 0;
  TexelFormat format;
  bool operator==(const Texture2D&) const = default;
};

struct Texture3D {
  uint32_t width = 0, height = 0, depth = 0;
  TexelFormat format;
  bool operator==(const Texture3D&) const = default;
};

using Size = std::variant<Bytes, Texture2D, Texture3D>;

// Returns the bytes of `size` without any device padding. Throws PlanError if they exceed 64 bits.
uint64_t byte_size(const Size& size);

// The size and lifetime of one tensor: live from the task that writes it to the last task that reads it, both
// inclusive, counted in execution order (Pisarchyk & Lee 2020, section 3).
struct TensorUsageRecord {
  Size size;
  int64_t first_task = 0;
  int64_t last_task = 0;
  // For a Texture2D: other extents that the tensor may have instead, in the same format. A plan of objects
  // chooses one.
  std::vector<Texture2D> other_extents = {};
};

}  // namespace vellum::planner
