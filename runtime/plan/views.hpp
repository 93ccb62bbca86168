// Concatenations and splits without copies: tensors that are a part of another tensor's memory.
//
//   whole  | view A | view B | view C |   inputs of a concatenation are written, outputs of a split read here
#pragma once

#include <cstdint>
#include <functional>

#include "program/program.hpp"

namespace vellum {

// Removes dispatches that only copy (Dispatch::copy) if their offsets are multiples of `alignment` (that of
// storage buffer bindings, in bytes). The source becomes a view of the tensor into which it was copied, or
// the destination a view of the tensor from which it was copied. A view lives as long as the whole tensor,
// which may take more memory than copies. Therefore copies into, or out of, one tensor are removed together,
// and only if `bytes` (the memory of a program) does not grow. Returns the number of copies removed.
size_t replace_copies_by_views(Program& program, uint64_t alignment,
                               const std::function<uint64_t(const Program&)>& bytes);

}  // namespace vellum
