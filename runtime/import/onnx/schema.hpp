// The generated protobuf classes of ONNX, and the versions of the standard that this reader supports.
// Included by this folder alone.
#pragma once

#include <vellum_onnx.pb.h>

namespace vellum::onnx {

namespace schema = ::vellum::onnx_schema;

// Versions of the format (IR) and of the default operator set that are read. What later versions have added
// to the format since the schema of IR 8 (functions with overloads, 4- and 8-bit floats, tensor metadata) is
// either unknown to it and without meaning for what is computed, or refused where it is met; the operators'
// versions are told apart in runtime/graph, up to the newest one here. Opset 22 goes with IR 10.
inline constexpr int64_t kOldestIr = 3, kNewestIr = 10;
inline constexpr int64_t kOldestOpset = 1, kNewestOpset = 22;

// Protobuf counts the bytes of a message in an int.
inline constexpr uint64_t kLargestModelFile = 0x7fffffff;

}  // namespace vellum::onnx
