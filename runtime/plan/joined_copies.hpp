// Concatenations as one dispatch or as one for each part.
//
//   together  a .......... join      apart  a ... copy a          each part is free
//             b ......... |                 b ..... copy b        once it is copied
//             c ..... |                     c ....... copy c
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "program/program.hpp"

namespace vellum {

// Returns whether a task is a join that may be split (Dispatch::apart).
bool has_joins(const Program& program);

// Replaces each join by dispatches for its parts.
void split_joins(Program& program);

// Joins parts that split_joins() made, where the last of them is, if all of them are still copied and `bytes`
// (the memory of a program) does not grow. Returns the number of joins.
size_t join_copies(Program& program, const std::function<uint64_t(Program&)>& bytes);

// Removes the alternatives of all dispatches, which hold memory.
void forget_alternatives(Program& program);

}  // namespace vellum
