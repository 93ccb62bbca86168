// The generated protobuf classes of ONNX, and the versions of the standard that this reader supports. Only
// this folder includes it.
#pragma once

#include <vellum_onnx.pb.h>

namespace vellum::onnx {

namespace schema = ::vellum::onnx_schema;

// The oldest versions of the format (IR) and of the default operator set that are read. No version is too
// new: additions are refused if a model uses them, by operator, attribute or element type. Fields that were
// added to the format after the schema's version (metadata, device configurations, overloads of functions) do
// not affect results, and protobuf skips them.
inline constexpr int64_t kOldestIr = 3, kOldestOpset = 1;

// Protobuf stores the byte size of a message in an int.
inline constexpr uint64_t kLargestModelFile = 0x7fffffff;

}  // namespace vellum::onnx
