// Identifies files that are no models by their first bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace vellum {

// The number of first bytes that refuse_other_formats() reads.
inline constexpr size_t kSignatureBytes = 256;

// Throws Error(unsupported), which states the file's format and the remedy, if the bytes belong to a known
// format that is not supported: pictures, weights, other engines' models, archives, failed downloads.
void refuse_other_formats(std::string_view head, const std::string& source);

}  // namespace vellum
