// The generated protobuf classes of ONNX, and how much of the standard this reader knows. Included by this
// folder alone.
#pragma once

#include <vellum_onnx.pb.h>

namespace vellum::onnx {

namespace schema = ::vellum::onnx_schema;

// Versions of the format (IR) and of the default operator set that are read. The schema of IR 8 also reads
// the files of later versions as long as they use nothing new in it; what they must not use is refused where
// it is met.
inline constexpr int64_t kOldestIr = 3, kNewestIr = 8;
inline constexpr int64_t kOldestOpset = 7, kNewestOpset = 17;

// Protobuf counts the bytes of a message in an int.
inline constexpr uint64_t kLargestModelFile = 0x7fffffff;

}  // namespace vellum::onnx
