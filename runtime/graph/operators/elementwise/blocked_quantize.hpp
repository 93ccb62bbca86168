// QuantizeLinear and DequantizeLinear in forms that are composed of other operators (graph/composed.hpp):
// with a scale for each block of elements along an axis, with 8-bit floats, or with an explicit output type.
#pragma once

#include <memory>

#include "graph/operators/elementwise/quantize.hpp"

namespace vellum {

// `block`: elements along the axis that share a scale; 0: a single scale, or one per index. `output`: ONNX's
// number of the output type; 0: the default.
std::shared_ptr<const Operator> make_blocked_quantize(const NodeSpec& spec, const QuantizeLinear& plain,
                                                      int64_t block, int64_t output, bool saturate);
std::shared_ptr<const Operator> make_blocked_dequantize(const NodeSpec& spec, int64_t axis, int64_t block,
                                                        int64_t output);

}  // namespace vellum
