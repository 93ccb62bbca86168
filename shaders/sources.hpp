// The text of the shaders, embedded in the library.
#pragma once

#include <optional>
#include <string_view>

namespace vellum {

// By file name, "conv.comp" or "tensor.glsl".
std::optional<std::string_view> find_shader_source(std::string_view file_name);
// Another one for other names or texts. Taken when the library is built.
std::string_view shader_files_digest();

}  // namespace vellum
