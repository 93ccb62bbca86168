// BatchNormalization in training mode: with the mean and variance of the batch itself.
// https://onnx.ai/onnx/operators/onnx__BatchNormalization.html
#pragma once

#include <memory>

#include "graph/operator.hpp"

namespace vellum {

// Outputs Y and the running mean and variance: momentum * previous + (1 - momentum) * batch.
std::shared_ptr<const Operator> make_batch_statistics(const NodeSpec& spec, float epsilon, float momentum);

}  // namespace vellum
