#include "graph/shape_operands.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace vellum {
namespace {

struct ShapeOperands {
  std::string_view type;
  uint32_t inputs;  // bit i: the values of input i
};

constexpr uint32_t input_bits(auto... inputs) { return ((uint32_t{1} << inputs) | ...); }

// The inputs that shape rules read with constant_input(), by operator. If an input is missing here, models
// that compute it at run time are refused; results are never wrong.
constexpr ShapeOperands kOperands[] = {
    {"AffineGrid", input_bits(1)},
    {"BlackmanWindow", input_bits(0)},
    {"CumProd", input_bits(1)},
    {"DFT", input_bits(1, 2)},
    {"HammingWindow", input_bits(0)},
    {"HannWindow", input_bits(0)},
    {"STFT", input_bits(1, 3)},
    {"BatchToSpaceND", input_bits(1, 2)},
    {"CenterCropPad", input_bits(1)},
    {"Col2Im", input_bits(1, 2)},
    {"ConstantOfShape", input_bits(0)},
    {"CumSum", input_bits(1)},
    {"Dropout", input_bits(1, 2)},
    {"Expand", input_bits(1)},
    {"If", input_bits(0)},
    {"Loop", input_bits(0, 1)},
    {"SequenceAt", input_bits(1)},
    {"SequenceErase", input_bits(1)},
    {"SequenceInsert", input_bits(2)},
    {"SplitToSequence", input_bits(1)},
    {"MaxUnpool", input_bits(2)},
    {"MelWeightMatrix", input_bits(0, 1, 2, 3, 4)},
    {"OneHot", input_bits(1)},
    {"Pad", input_bits(1, 2, 3)},
    {"Range", input_bits(0, 1, 2)},
    {"ReduceL1", input_bits(1)},
    {"ReduceL2", input_bits(1)},
    {"ReduceLogSum", input_bits(1)},
    {"ReduceLogSumExp", input_bits(1)},
    {"ReduceMax", input_bits(1)},
    {"ReduceMean", input_bits(1)},
    {"ReduceMin", input_bits(1)},
    {"ReduceProd", input_bits(1)},
    {"ReduceSum", input_bits(1)},
    {"ReduceSumSquare", input_bits(1)},
    {"Reshape", input_bits(1)},
    {"Resize", input_bits(1, 2, 3)},
    {"Slice", input_bits(1, 2, 3, 4)},
    {"SpaceToBatchND", input_bits(1, 2)},
    {"Split", input_bits(1)},
    {"Squeeze", input_bits(1)},
    {"Tile", input_bits(1)},
    {"TopK", input_bits(1)},
    {"Unsqueeze", input_bits(1)},
    {"Upsample", input_bits(1)},
};

}  // namespace

bool decides_shape(const Operator& op, size_t input) {
  const auto* const found = std::ranges::find(kOperands, op.type(), &ShapeOperands::type);
  return found != std::end(kOperands) && input < 32 && (found->inputs >> input & 1) != 0;
}

}  // namespace vellum
