#include "shaders/sources.hpp"

#include "shaders/embedded_sources.hpp"

namespace vellum {

std::optional<std::string_view> find_shader_source(std::string_view file_name) {
  for (const EmbeddedSource& source : embedded_sources())
    if (file_name == source.file_name)
      return std::string_view(reinterpret_cast<const char*>(source.text), source.length);
  return std::nullopt;
}

std::vector<std::string_view> shader_file_names() {
  std::vector<std::string_view> names;
  for (const EmbeddedSource& source : embedded_sources()) names.emplace_back(source.file_name);
  return names;
}

}  // namespace vellum
