// The names by which callers mean inputs and outputs: those of tensors, or those of the model's signature.
#pragma once

#include <string_view>
#include <vector>

#include "vellum/session.hpp"

namespace vellum {

// Returns the index of a name. Throws Error(not_found) that lists the names. kind: "input" or "output".
size_t position(const std::vector<TensorInfo>& infos, std::string_view name, const char* kind);

// Return the same under the names of tensors; names of no input stay. Throw Error(invalid_argument) where two
// names mean one input.
InputShapes by_tensor_name(const std::vector<TensorInfo>& inputs, const InputShapes& shapes);
InputTensors by_tensor_name(const std::vector<TensorInfo>& inputs, const InputTensors& tensors);
SessionOptions by_tensor_name(const std::vector<TensorInfo>& inputs, SessionOptions options);

// Error(invalid_argument) for a tensor that was moved from, or that nothing was ever put in.
void check_holds_values(const std::string& input, const Tensor& tensor);

}  // namespace vellum
