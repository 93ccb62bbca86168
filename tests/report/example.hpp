// Profiles made of plain values, for tests.
#pragma once

#include "vellum/report.hpp"

namespace vellum::test {

// Names that would end a script element, close an attribute or open a tag, and one that is not UTF-8.
ProfileReport hostile_profile();
// `count` tensors in eight objects, a task each.
ProfileReport large_profile(size_t count);

}  // namespace vellum::test
