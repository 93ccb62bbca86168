// Prepares plans of mode `offsets` for pictures.
#pragma once

#include "vellum/profile.hpp"

namespace vellum {

// Throws Error(invalid_argument) if a tensor names an object that does not exist, or has no lifetime.
void check_tensors(const MemoryReport& memory);
// Throws Error(invalid_argument) if an object is in an arena that does not exist.
void check_objects(const MemoryReport& memory);

// Returns the report with arenas in place of objects, if its memory mode is `offsets`: there every tensor has
// an object of its own, and a picture has to show how the tensors alias inside an arena. Other reports are
// returned unchanged. Throws as check_tensors(), and for mode `offsets` as check_objects().
MemoryReport with_arenas_as_objects(MemoryReport memory);

}  // namespace vellum
