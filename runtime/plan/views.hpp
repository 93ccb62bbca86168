// Concatenations and splits without copies: tensors that lie inside another one.
#pragma once

#include <cstdint>
#include <functional>

#include "program/program.hpp"

namespace vellum {

// Removes dispatches that only copy (Dispatch::copy) and makes the tensor that is copied a view of the whole,
// or the part a view of what it is copied from, where offsets are multiples of `alignment` (that of storage
// buffer bindings). A view lives as long as the whole, which may take more memory than copies do: copies that
// belong together (into, or out of, one tensor) go only where `bytes`, what the program would take, does not
// grow. Gives back how many went.
size_t replace_copies_by_views(Program& program, uint64_t alignment,
                               const std::function<uint64_t(const Program&)>& bytes);

}  // namespace vellum
