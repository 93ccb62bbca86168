// Values beyond the range of the device's numbers: constants, and exponentials that grow without bounds.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace vellum {

// Whether a finite element is beyond the range of fp16.
bool exceeds_halves(const HostTensor& constant);

// One sentence for each Exp of a running sum, such as exp(-CumSum(x)) of scans in parallel form: it leaves
// the range of halves soon.
std::vector<std::string> warnings_of_running_exponentials(const Graph& graph);

// Whether an element of signed integers does not fit 32 bits.
bool exceeds_32_bits(const HostTensor& constant);
// The nearest integers of 32 bits.
HostTensor within_32_bits(const HostTensor& constant);
// Whether what is computed from the constant depends only on how its elements compare with others, as that of
// the least integer, which stands for minus infinity, in Where and then ReduceMax. False where it reaches
// arithmetic or an output.
bool only_order_matters(const Graph& graph, ValueId constant);

}  // namespace vellum
