// Runs a session with zeros, to measure its memory.
#pragma once

#include "vellum/vellum.hpp"

namespace vellum {

// Sets all inputs to zeros, or the nearest integers that they take, runs twice and reads the outputs. Throws
// Error(invalid_argument) if the model leaves the shape of an input open.
void run_with_zeros(Session& session);

}  // namespace vellum
