// A range of bytes in one allocation or buffer.
#pragma once

#include <cstdint>

namespace vellum {

struct ByteRange {
  uint64_t begin = 0, end = 0;  // `end` is exclusive

  uint64_t size() const { return end - begin; }
  bool overlaps(const ByteRange& other) const { return begin < other.end && other.begin < end; }
};

}  // namespace vellum
