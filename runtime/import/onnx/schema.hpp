// The generated protobuf classes of ONNX, and the versions of the standard that this reader supports.
// Included by this folder alone.
#pragma once

#include <vellum_onnx.pb.h>

namespace vellum::onnx {

namespace schema = ::vellum::onnx_schema;

// The oldest versions of the format (IR) and of the default operator set that are read. No version is too
// new: what a newer one adds is refused where a model uses it, by operator, attribute or element type. Fields
// that the format gained since the schema's version (metadata, device configurations, overloads of functions)
// change nothing that is computed, and protobuf skips them.
inline constexpr int64_t kOldestIr = 3, kOldestOpset = 1;
// The newest operator set (of IR 14) whose changes runtime/graph implements or refuses. A model of a newer
// one is read as if it were written in this one.
inline constexpr int64_t kNewestOpset = 28;

// Protobuf counts the bytes of a message in an int.
inline constexpr uint64_t kLargestModelFile = 0x7fffffff;

}  // namespace vellum::onnx
