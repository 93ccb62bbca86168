// Names of inputs and outputs. Callers may use a tensor's name or its name in the model's signature.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "vellum/session.hpp"

namespace vellum {

// Returns the index of a name. Throws Error(not_found), which lists the names. kind: "input" or "output".
size_t position(const std::vector<TensorInfo>& infos, std::string_view name, const char* kind);

// Replace signature names by tensor names; unknown names are kept. Throw Error(invalid_argument) if two names
// mean one input.
InputShapes by_tensor_name(const std::vector<TensorInfo>& inputs, const InputShapes& shapes);
InputTensors by_tensor_name(const std::vector<TensorInfo>& inputs, const InputTensors& tensors);
// Replaces signature names in a text of SessionOptions::state, and "auto" by the pairs that it means. Throws
// Error(not_found) for unknown names, Error(invalid_argument) for a text that lists no pairs.
std::string by_tensor_name(const Model& model, const std::string& state);
// Replaces signature names in all options.
SessionOptions by_tensor_name(const Model& model, SessionOptions options);

// Throws Error(invalid_argument) for a tensor that was moved from or default-constructed.
void check_holds_values(const std::string& input, const Tensor& tensor);

}  // namespace vellum
