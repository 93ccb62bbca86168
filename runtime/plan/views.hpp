// Concatenations and splits without copies: tensors that are a part of another tensor's memory.
//
//   whole  | view A | view B | view C |   inputs of a concatenation are written, outputs of a split read here
#pragma once

#include <cstdint>
#include <functional>

#include "program/program.hpp"

namespace vellum {

// Removes dispatches that only copy (Dispatch::copy), where offsets are multiples of `alignment` (that of
// storage buffer bindings, in bytes). The source becomes a view of the whole that it was copied into, or the
// destination a view of the whole that it was copied from. A view lives as long as the whole, which may take
// more memory than copies: copies into, or out of, one tensor are removed together, and only where `bytes`,
// the memory of a program, does not grow. Returns the number of copies removed.
size_t replace_copies_by_views(Program& program, uint64_t alignment,
                               const std::function<uint64_t(const Program&)>& bytes);

}  // namespace vellum
