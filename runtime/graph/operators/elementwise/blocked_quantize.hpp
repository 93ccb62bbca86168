// QuantizeLinear and DequantizeLinear with a scale for each block of elements along an axis, to floats of 8
// bits, or to a type that is given.
#pragma once

#include <memory>

#include "graph/operators/elementwise/quantize.hpp"

namespace vellum {

// `block`: elements along the axis that share a scale, 0 for one scale or one per index. `output`: ONNX's
// number of the output's type, or 0.
std::shared_ptr<const Operator> make_blocked_quantize(const NodeSpec& spec, const QuantizeLinear& plain,
                                                      int64_t block, int64_t output, bool saturate);
std::shared_ptr<const Operator> make_blocked_dequantize(const NodeSpec& spec, int64_t axis, int64_t block,
                                                        int64_t output);

}  // namespace vellum
