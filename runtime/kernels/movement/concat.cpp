// Concat and Split.
#include "graph/operators/movement/concat.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "kernels/framework/elements.hpp"
#include "kernels/framework/strided.hpp"
#include "kernels/movement/copy_region.hpp"
#include "shaders/movement/concat_linear.h"
#include "shaders/movement/concat_texels.h"

namespace vellum {

namespace {

constexpr size_t kMostConcatParts = 8;  // of concat_texels.comp
constexpr size_t kChannels = 1;         // slot

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

// An input of a concatenation of texels and the range of y along the axis that it becomes.
struct Part {
  TensorId tensor = kNoTensor;
  int64_t begin = 0, end = 0;
};

std::vector<Part> find_parts(const std::vector<TensorId>& inputs, const Lowering& lowering, size_t axis) {
  std::vector<Part> parts;
  int64_t begin = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == kNoTensor) continue;
    const int64_t end = begin + lowering.input_type(i).shape[axis];
    parts.push_back({inputs[i], begin, end});
    begin = end;
  }
  return parts;
}

Region region_of(const Part& part, const Shape& y, size_t slot) {
  Region region = whole_region(y);
  region.begin[slot] = part.begin;
  region.size[slot] = part.end - part.begin;
  region.offset[slot] = -part.begin;
  return region;
}

// Returns how many parts one dispatch may read.
size_t most_parts(const Lowering& lowering, std::span<const Part> parts, TensorId y) {
  const auto in_buffer = [&](TensorId id) { return lowering.tensor(id).desc.storage == Storage::buffer; };
  const bool in_images =
      !in_buffer(y) && std::ranges::none_of(parts, [&](const Part& part) { return in_buffer(part.tensor); });
  const DeviceCaps& caps = lowering.caps();
  const size_t most =
      in_images ? caps.max_sampled_images_per_stage
                : std::min(caps.max_sampled_images_per_stage, caps.max_storage_buffers_per_stage - 1);
  return std::min(kMostConcatParts, most);
}

void copy_part(Lowering& lowering, const Part& part, TensorId y, size_t slot) {
  copy_region(lowering, part.tensor, y, region_of(part, lowering.tensor(y).desc.shape, slot));
}

// Adds a dispatch that copies parts that follow each other. The planner may replace it by one for each part,
// unless a kernel is known to be wrong: kernels that are not in the program are not checked.
void join_parts(Lowering& lowering, std::span<const Part> parts, TensorId y, size_t slot) {
  const Shape& shape = lowering.tensor(y).desc.shape;
  std::array<int64_t, kMostConcatParts> ends;
  ends.fill(parts.back().end);
  std::vector<Binding> bindings;
  bool unaligned = false;
  for (size_t i = 0; i < parts.size(); ++i) {
    bindings.push_back(reads("x" + std::to_string(i), parts[i].tensor));
    ends[i] = parts[i].end;
    unaligned |= slot == kChannels && parts[i].begin % 4 != 0;
  }
  const bool keeps = slot == kChannels && parts.front().begin % 4 != 0;
  bindings.push_back(keeps ? reads_and_writes("y", y) : writes("y", y));
  std::array<int64_t, 4> origin{0, 0, 0, 0}, size = nchw(shape);
  origin[slot] = parts.front().begin;
  size[slot] = parts.back().end - origin[slot];
  if (slot == kChannels) {
    origin[slot] /= 4;
    size[slot] = parts.back().end - 4 * origin[slot];
  }
  const Shape box(size.begin(), size.end());
  Dispatch dispatch =
      make_dispatch("concat_texels", grid_of_texels(lowering.caps(), box), std::move(bindings),
                    ConcatTexelsParameters{.y_shape = texel_shape(shape),
                                           .origin = {origin[3], origin[2], origin[1], origin[0]},
                                           .size = texel_shape(box),
                                           .ends = {ends[0], ends[1], ends[2], ends[3]},
                                           .further_ends = {ends[4], ends[5], ends[6], ends[7]},
                                           .begin = parts.front().begin});
  define(dispatch, "INPUTS", std::to_string(parts.size()));
  define(dispatch, "AXIS", std::to_string(3 - slot));  // shaders have (w, h, c, n)
  if (unaligned) define(dispatch, "UNALIGNED");
  if (keeps) define(dispatch, "KEEP");
  if (!lowering.options().wrong)
    dispatch.apart = std::make_shared<const std::vector<Dispatch>>(lowering.without_adding([&] {
      for (const Part& part : parts) copy_part(lowering, part, y, slot);
    }));
  lowering.dispatch(std::move(dispatch));
}

// Several parts are copied by one dispatch, unless one of them may become a view of y: then each is copied
// on its own.
void concat_texels(Lowering& lowering, size_t axis) {
  const Shape& shape = lowering.output_type().shape;
  const size_t slot = channels4_slot(shape.size(), axis);
  const std::vector<TensorId> inputs = read_parts(lowering, Layout::channels4);
  const TensorId y = lowering.write(0, Layout::channels4);
  const std::vector<Part> parts = find_parts(inputs, lowering, axis);
  const bool has_views = std::ranges::any_of(parts, [&](const Part& part) {
    return copies_bytes(lowering, part.tensor, y, region_of(part, shape, slot));
  });
  const size_t most = has_views ? 1 : most_parts(lowering, parts, y);
  for (size_t first = 0; first < parts.size(); first += most) {
    const auto joined = std::span(parts).subspan(first, std::min(most, parts.size() - first));
    if (joined.size() > 1)
      join_parts(lowering, joined, y, slot);
    else
      copy_part(lowering, joined[0], y, slot);
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
