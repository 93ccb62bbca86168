// Reads values, tensors and attributes of ONNX Runtime.
#pragma once

#include <string>
#include <vector>

#include "graph/attributes.hpp"
#include "network.hpp"
#include "runtime_api.hpp"

namespace vellum::ort {

struct TensorDescription {
  int64_t onnx_type = 0;  // TensorProto.DataType, which has the same values as the runtime's enum
  std::optional<std::vector<Dimension>> dimensions;
};

// Returns nothing for sequences, maps and optionals.
std::optional<TensorDescription> describe_tensor(const OrtValueInfo& value);

// Returns a tensor that refers to the runtime's memory, which `owner` keeps alive. Tensors of narrow types
// (graph/narrow_types.hpp) are unpacked to a copy. Throws Error(unsupported) for an element type that Vellum
// does not have.
HostTensor borrow_tensor(const OrtValue& value, std::shared_ptr<const void> owner);
HostTensor copy_tensor(const OrtValue& value);

// Throws Error(unsupported) for attributes with graphs.
Attributes read_attributes(const OrtNode& node);

}  // namespace vellum::ort
