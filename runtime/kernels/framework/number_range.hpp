// Detects values beyond the range of the device's number formats: constants, and exponentials that grow
// without bounds.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace vellum {

// Returns whether a finite element is beyond the range of fp16.
bool exceeds_halves(const HostTensor& constant);

// Returns a warning for each Exp of a running sum, such as exp(-CumSum(x)) in parallel scans, which quickly
// leaves the range of fp16.
std::vector<std::string> warnings_of_running_exponentials(const Graph& graph);

// Returns whether a signed integer does not fit 32 bits.
bool exceeds_32_bits(const HostTensor& constant);
// Returns the elements clamped to 32-bit integers.
HostTensor within_32_bits(const HostTensor& constant);
// Returns whether results depend only on comparisons of the constant's elements with others. An example is
// the least integer as minus infinity, in a Where before ReduceMax. False if the constant reaches arithmetic
// or an output.
bool only_order_matters(const Graph& graph, ValueId constant);

}  // namespace vellum
