// Concat and Split.
#include "graph/operators/movement/concat.hpp"

#include "kernels/framework/elements.hpp"
#include "kernels/framework/strided.hpp"
#include "kernels/movement/copy_region.hpp"
#include "shaders/movement/concat_linear.h"

namespace vellum {

namespace {

// Returns the layout of the result: the layout in which most of the elements that are computed at run time
// exist. A graph output that no node reads is linear, so that parts that are whole rows or images are copied
// straight to its buffer.
Layout concat_layout(const Lowering& lowering, size_t axis) {
  const size_t rank = lowering.output_type().shape.size();
  if (lowering.is_final(0) && rank == 4 && (axis == 0 || axis == 2)) return Layout::linear;
  int64_t texels = 0, linear = 0;
  for (size_t i = 0; i < lowering.node().inputs.size(); ++i) {
    if (lowering.constant(i)) continue;
    (is_in_channels4(lowering, i) ? texels : linear) += element_count(lowering.input_type(i).shape);
  }
  return texels > linear ? Layout::channels4 : Layout::linear;
}

// Returns the inputs in this layout; kNoTensor for inputs without elements.
std::vector<TensorId> read_parts(Lowering& lowering, Layout layout) {
  std::vector<TensorId> parts;
  for (size_t i = 0; i < lowering.node().inputs.size(); ++i)
    parts.push_back(element_count(lowering.input_type(i).shape) > 0 ? lowering.read(i, layout) : kNoTensor);
  return parts;
}

void concat_texels(Lowering& lowering, size_t axis) {
  const Shape& shape = lowering.output_type().shape;
  const size_t slot = channels4_slot(shape.size(), axis);
  const std::vector<TensorId> inputs = read_parts(lowering, Layout::channels4);
  const TensorId y = lowering.write(0, Layout::channels4);
  int64_t begin = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Shape& input = lowering.input_type(i).shape;
    if (inputs[i] == kNoTensor) continue;
    Region region = whole_region(input);
    region.begin[slot] = begin;
    region.offset[slot] = -begin;
    copy_region(lowering, inputs[i], y, region);
    begin += input[axis];
  }
}

// Copies x, as `rows` rows of `length` elements, into the rows of y, of `y_length` elements, from column
// `begin` on.
void concat_rows(Lowering& lowering, TensorId x, TensorId y, int64_t rows, int64_t length, int64_t begin,
                 int64_t y_length) {
  const bool aligned = length % 4 == 0 && begin % 4 == 0 && (rows == 1 || y_length % 4 == 0);
  const int64_t first4 = begin / 4, last = (rows - 1) * y_length + begin + length;
  const int64_t count4 = aligned ? rows * length / 4 : (last + 3) / 4 - first4;
  Dispatch dispatch = make_dispatch("concat_linear", grid_1d(lowering.caps(), count4),
                                    {reads("x", x), aligned ? writes("y", y) : reads_and_writes("y", y)},
                                    ConcatLinearParameters{.rows = rows,
                                                           .x_length = length,
                                                           .y_length = y_length,
                                                           .begin = begin,
                                                           .first4 = first4,
                                                           .count4 = count4});
  if (aligned) define(dispatch, "ALIGNED");
  const TensorDesc& desc = lowering.tensor(y).desc;
  if (rows == 1 && lowering.tensor(x).desc.has_elements_of(desc)) {
    const uint64_t size = size_of(desc.element);
    dispatch.copy =
        PlainCopy{x, y, 0, static_cast<uint64_t>(begin) * size, static_cast<uint64_t>(length) * size};
  }
  define_element(dispatch, lowering.tensor(y));
  lowering.dispatch(std::move(dispatch));
}

void concat_linear(Lowering& lowering, size_t axis) {
  const Shape& shape = lowering.output_type().shape;
  const int64_t rows = product(shape, 0, axis), inner = product(shape, axis + 1, shape.size());
  const std::vector<TensorId> inputs = read_parts(lowering, Layout::linear);
  const TensorId y = lowering.write(0, Layout::linear);
  int64_t begin = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == kNoTensor) continue;
    const int64_t length = lowering.input_type(i).shape[axis] * inner;
    concat_rows(lowering, inputs[i], y, rows, length, begin, shape[axis] * inner);
    begin += length;
  }
}

}  // namespace

void lower_concat(Lowering& lowering) {
  const size_t axis = normalize_axis(lowering.op<Concat>().axis, lowering.output_type().shape.size());
  if (concat_layout(lowering, axis) == Layout::channels4) return concat_texels(lowering, axis);
  concat_linear(lowering, axis);
}

void lower_split(Lowering& lowering) {
  const Split& op = lowering.op<Split>();
  const Shape& shape = lowering.input_type(0).shape;
  const size_t axis = normalize_axis(op.axis, shape.size());
  const std::vector<int64_t> strides = row_major_strides(shape);
  const bool texels = is_in_channels4(lowering, 0);
  int64_t begin = 0;
  for (size_t i = 0; i < lowering.node().outputs.size(); ++i) {
    const Shape& part = lowering.output_type(i).shape;
    if (!lowering.is_read(i)) {
      begin += part[axis];
      continue;
    }
    if (texels) {
      Region region = whole_region(part);
      region.offset[channels4_slot(shape.size(), axis)] = begin;
      copy_region(lowering, lowering.read(0, Layout::channels4), lowering.write(i, Layout::channels4),
                  region);
    } else {
      strided_copy(lowering, i, strides, begin * strides[axis]);
    }
    begin += part[axis];
  }
}

}  // namespace vellum
