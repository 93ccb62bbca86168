// Activations and roundings of operators whose integer arithmetic includes them.
#pragma once

#include <memory>

#include "graph/operator.hpp"

namespace vellum::tflite {

// Returns `op` with `activation` if `op` is an operator of a quantised model that computes integers, which it
// does only if the rounding of its result is a part of it. Returns null for other operators.
std::shared_ptr<const Operator> with_result_in_integers(const Operator& op, const Activation& activation);

}  // namespace vellum::tflite
