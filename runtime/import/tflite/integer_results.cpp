#include "import/tflite/integer_results.hpp"

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/conv/conv_transpose.hpp"
#include "graph/operators/elementwise/binary.hpp"
#include "graph/operators/matmul/fixed_matmul.hpp"
#include "graph/operators/reduction/pool.hpp"

namespace vellum::tflite {
namespace {

bool has_integers(const Operator& op) {
  if (const auto* conv = dynamic_cast<const Conv*>(&op)) return conv->fixed_point != nullptr;
  if (const auto* conv = dynamic_cast<const ConvTranspose*>(&op)) return conv->fixed_point != nullptr;
  if (const auto* binary = dynamic_cast<const Binary*>(&op)) return static_cast<bool>(binary->fixed_point);
  if (const auto* pool = dynamic_cast<const Pool*>(&op)) return static_cast<bool>(pool->fixed_average);
  if (const auto* product = dynamic_cast<const FixedMatMul*>(&op))
    return static_cast<bool>(product->fixed_point);
  return false;
}

}  // namespace

std::shared_ptr<const Operator> with_result_in_integers(const Operator& op, const Activation& activation) {
  return has_integers(op) ? op.with_activation(activation) : nullptr;
}

}  // namespace vellum::tflite
