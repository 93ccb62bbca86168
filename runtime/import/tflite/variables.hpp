// Variables of a TFLite file: values that are kept from one run to the next.
#pragma once

#include "import/tflite/subgraph.hpp"

namespace vellum::tflite {

enum : int32_t { kCallOnce = 129, kVarHandle = 142, kReadVariable = 143, kAssignVariable = 144 };

// Finds the variables of a graph, by name, with the values that the graphs of its CALL_ONCE assign. Throws
// Error(unsupported) for a value that is not stored in the file.
Variables read_variables(File& file, const schema::SubGraph& graph);

// Returns the variable name of a VAR_HANDLE.
std::string variable_name(const schema::Operator& handle);

}  // namespace vellum::tflite
