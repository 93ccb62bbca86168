// Prepares memory reports for drawing.
#pragma once

#include "vellum/profile.hpp"

namespace vellum {

// Throws Error(invalid_argument) if a tensor names an object that does not exist, or has no lifetime.
void check_tensors(const MemoryReport& memory);
// Throws Error(invalid_argument) if an object is in an arena that does not exist.
void check_objects(const MemoryReport& memory);

// Returns a report of mode `offsets` with arenas instead of objects, because in this mode each object holds
// one tensor, and a picture must show how the tensors alias in an arena. Other reports are returned
// unchanged. Throws the errors of check_tensors(), and for mode `offsets` those of check_objects().
MemoryReport with_arenas_as_objects(MemoryReport memory);

}  // namespace vellum
