// Names the format of a file that is no model, by its first bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace vellum {

// As many first bytes as refuse_other_formats() looks at.
inline constexpr size_t kSignatureBytes = 256;

// Throws Error(unsupported), which says what the file is and what to do, if the bytes are those of a format
// that is known and not read: pictures, weights, other engines' models, archives, failed downloads.
void refuse_other_formats(std::string_view head, const std::string& source);

}  // namespace vellum
