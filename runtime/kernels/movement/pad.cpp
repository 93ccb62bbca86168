// Pad.
#include "graph/operators/movement/pad.hpp"

#include <algorithm>

#include "kernels/framework/elements.hpp"
#include "kernels/movement/copy_region.hpp"
#include "kernels/movement/pad.hpp"
#include "shaders/movement/pad_linear.h"

namespace vellum {

namespace {

constexpr size_t kMaxRank = decltype(PadLinearParameters::y_dims)::size();

// The PAD_ constants of pad.glsl.
int64_t shader_mode(PadMode mode) {
  switch (mode) {
    case PadMode::constant:
      return 0;
    case PadMode::edge:
      return 1;
    case PadMode::reflect:
      return 2;
    case PadMode::wrap:
      return 3;
  }
  return 0;
}

bool pads_channels(const PadAmounts& amounts, size_t rank) {
  for (size_t axis = 0; axis < rank; ++axis)
    if (channels4_slot(rank, axis) == 1) return amounts.begin[axis] != 0 || amounts.end[axis] != 0;
  return false;
}

void pad_texels(Lowering& lowering, const Pad& op, const PadAmounts& amounts, float fill) {
  const TensorId x = lowering.read(0, Layout::channels4), y = lowering.write(0, Layout::channels4);
  const size_t rank = amounts.begin.size();
  Region region = whole_region(lowering.output_type().shape);
  for (size_t axis = 0; axis < rank; ++axis) region.offset[channels4_slot(rank, axis)] = -amounts.begin[axis];
  region.mode = shader_mode(op.mode);
  region.fill = fill;
  copy_region(lowering, x, y, region);
}

// The value outside of x: `number` for floats, `integer` for integers.
struct Fill {
  float number = 0;
  int64_t integer = 0;
};

// The dimensions of a Pad in the form of its kernel.
struct PaddedDims {
  Shape y, x;
  std::vector<int64_t> begin;
};

// Returns the dimensions without those of 1, and with adjacent dimensions merged, because each dimension
// takes the kernel a division. Two dimensions can be merged if neither is padded, or if the padding is
// constant and the second is not padded.
PaddedDims merged(const Shape& y, const Shape& x, const std::vector<int64_t>& begin, bool constant) {
  PaddedDims result;
  bool mergeable = false;  // whether the previous dimension can be merged with this one
  for (size_t d = 0; d < y.size(); ++d) {
    const bool padded = begin[d] != 0 || y[d] != x[d];
    if (y[d] == 1 && !padded) continue;
    if (mergeable && !padded) {
      result.y.back() *= y[d];
      result.x.back() *= x[d];
      result.begin.back() *= x[d];
      continue;
    }
    result.y.push_back(y[d]);
    result.x.push_back(x[d]);
    result.begin.push_back(begin[d]);
    mergeable = constant || !padded;
  }
  if (result.y.empty()) return {{1}, {1}, {0}};
  return result;
}

void pad_linear(Lowering& lowering, TensorId x, TensorId y, int64_t mode, Fill fill,
                const std::vector<int64_t>& begin) {
  const Shape& shape = lowering.tensor(y).desc.shape;
  const PaddedDims dims =
      merged(shape, lowering.tensor(x).desc.shape, begin, mode == shader_mode(PadMode::constant));
  Dispatch dispatch = make_dispatch("pad_linear", grid_1d(lowering.caps(), groups_of_four(shape)),
                                    {reads("x", x), writes("y", y)},
                                    PadLinearParameters{.count = element_count(shape),
                                                        .rank = dims.y.size(),
                                                        .mode = mode,
                                                        .fill = fill.number,
                                                        .integer_fill = fill.integer,
                                                        .y_dims = dims.y,
                                                        .x_dims = dims.x,
                                                        .begin = dims.begin});
  define_element(dispatch, lowering.tensor(y));
  lowering.dispatch(std::move(dispatch));
}

}  // namespace

void lower_pad(Lowering& lowering) {
  const Pad& op = lowering.op<Pad>();
  const auto inputs = operator_inputs(lowering);
  const size_t rank = lowering.output_type().shape.size();
  const bool constant_mode = op.mode == PadMode::constant;
  if (constant_mode && lowering.has_input(2) && !lowering.constant(2))
    return lowering.run_on_host("Pad with a value computed at run time has no kernel");
  if (rank > kMaxRank) return lowering.run_on_host("Pad of more than six dimensions has no kernel");
  const PadAmounts amounts = op.amounts(inputs);
  const HostTensor value =
      constant_mode ? op.padding_value(inputs) : HostTensor(lowering.input_type(0).dtype, {});
  // In channels4, reflections and repetitions along the channels would gather single channels.
  const bool texels = is_in_channels4(lowering, 0) && (constant_mode || !pads_channels(amounts, rank));
  if (texels) return pad_texels(lowering, op, amounts, value.to_floats()[0]);
  const TensorId x = lowering.read(0, Layout::linear), y = lowering.write(0, Layout::linear);
  const bool integers = lowering.tensor(y).desc.element == ElementType::i32;
  const Fill fill = integers ? Fill{.integer = value.to_ints()[0]} : Fill{.number = value.to_floats()[0]};
  pad_linear(lowering, x, y, shader_mode(op.mode), fill, amounts.begin);
}

void pad_with_zeros(Lowering& lowering, TensorId x, TensorId y, const std::vector<int64_t>& begin) {
  pad_linear(lowering, x, y, shader_mode(PadMode::constant), {}, begin);
}

}  // namespace vellum
