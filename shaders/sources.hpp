// The text of the shaders, embedded in the library.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace vellum {

// By file name, "conv.comp" or "tensor.glsl".
std::optional<std::string_view> find_shader_source(std::string_view file_name);
std::vector<std::string_view> shader_file_names();

}  // namespace vellum
