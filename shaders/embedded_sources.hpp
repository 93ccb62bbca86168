// What EmbedSources.cmake generates; used by sources.cpp alone.
#pragma once

#include <cstddef>
#include <span>

namespace vellum {

struct EmbeddedSource {
  const char* file_name;
  const unsigned char* text;
  size_t length;
};

// Sorted by file name.
std::span<const EmbeddedSource> embedded_sources();

}  // namespace vellum
