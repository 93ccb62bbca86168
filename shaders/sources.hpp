// The GLSL sources of all shaders, embedded in the library.
#pragma once

#include <optional>
#include <string_view>

namespace vellum {

// Returns the text of the file with this name, such as "conv.comp" or "tensor.glsl"; folders in the name are ignored. Returns
// nothing if there is no such file.
std::optional<std::string_view> find_shader_source(std::string_view file_name);
// Returns a digest of the names and texts of all files, computed when the library is built.
std::string_view shader_files_digest();

}  // namespace vellum
