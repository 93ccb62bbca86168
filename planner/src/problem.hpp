// The planning problem in the form that strategies solve: records are checked, aligned, and split into
// classes.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

#include "vellum/planner/plan.hpp"

namespace vellum::planner::detail {

// The size in each dimension. A number of bytes is an extent of one dimension, so that one rule covers
// buffers and textures.
//
// In a class with choices (some tensors may have one of several extents) an Extent stores instead, for each
// width of RecordClass::widths, how high an object of that width must be. This describes the needs of a set
// of tensors without fixing the choice of each:
//
//   widths    2  4  8
//   tensor a  8  4  4    2x8 or 4x4
//   tensor b  -  -  2    8x2; no object of a smaller width
//   both      -  -  4    an object of 8x4
struct Extent {
  std::array<uint64_t, 3> dims{0, 0, 0};
  std::vector<uint64_t> heights = {};  // classes with choices only; kNoHeight: no object of this width

  bool operator==(const Extent&) const = default;
  // Android's libc++ has operator<=> neither for arrays nor for vectors.
  bool operator<(const Extent& other) const {
    return std::tie(dims, heights) < std::tie(other.dims, other.heights);
  }
};
inline constexpr uint64_t kNoHeight = std::numeric_limits<uint64_t>::max();

// A tensor to place.
struct Item {
  uint32_t record = 0;  // index into the caller's records
  int64_t first = 0;    // tasks, both inclusive
  int64_t last = 0;
  Extent extent;
  uint64_t bytes = 0;  // of the smallest object that holds this tensor, alignment included
};

// Records of one kind (bytes, 2D, 3D) and one texel format: only these may share objects.
struct RecordClass {
  size_t kind = 0;  // index of the alternative in Size
  TexelFormat format{0, 1};
  uint64_t alignment = 1;
  std::vector<Item> items;                            // in record order
  std::function<uint64_t(const Size&)> object_bytes;  // of PlanOptions
  std::vector<uint64_t> widths = {};                  // ascending; empty: no tensor has a choice

  bool one_dimensional() const { return kind == 0; }
  // Returns the bytes of an object of this extent; the largest uint64_t if they exceed 64 bits.
  uint64_t bytes_of(const Extent& extent) const;
  Size size_of(const Extent& extent) const;  // size of that object
};

// Returns the smallest extent that covers both: the maximum in each dimension, or at each width. Every extent
// covers Extent{}.
Extent cover(const Extent& a, const Extent& b);

// Splits the records into classes, in the order of their first record. Checks every record, the options, and
// the sum of all sizes. Throws PlanError, which names the record.
std::vector<RecordClass> classify(std::span<const TensorUsageRecord> records, const PlanOptions& options);

// Returns all records as one class of bytes, whatever their kind: the input of the offset strategies.
RecordClass as_bytes(std::span<const TensorUsageRecord> records, const PlanOptions& options);

}  // namespace vellum::planner::detail
