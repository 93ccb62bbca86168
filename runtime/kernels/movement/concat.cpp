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

constexpr size_t kMostConcatParts = 8;  // of concat_parts.glsl
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

// An input of a concatenation and the range of y along the axis that it becomes; for linear tensors that of
// columns.
struct Part {
  TensorId tensor = kNoTensor;
  int64_t begin = 0, end = 0;
};

// `inner`: columns of an element along the axis.
std::vector<Part> find_parts(const std::vector<TensorId>& inputs, const Lowering& lowering, size_t axis,
                             int64_t inner) {
  std::vector<Part> parts;
  int64_t begin = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == kNoTensor) continue;
    const int64_t end = begin + lowering.input_type(i).shape[axis] * inner;
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

// Binds the parts. Returns where each ends; there is no part after the last one.
std::array<int64_t, kMostConcatParts> bind_parts(std::span<const Part> parts,
                                                 std::vector<Binding>& bindings) {
  std::array<int64_t, kMostConcatParts> ends;
  ends.fill(parts.back().end);
  for (size_t i = 0; i < parts.size(); ++i) {
    bindings.push_back(reads("x" + std::to_string(i), parts[i].tensor));
    ends[i] = parts[i].end;
  }
  return ends;
}

// Lets the planner replace a dispatch by one for each part, which `copy_parts` adds, unless a kernel is known
// to be wrong: kernels that are not in the program are not checked.
template <class CopyParts>
void allow_apart(Lowering& lowering, Dispatch& dispatch, const CopyParts& copy_parts) {
  if (const WrongKernels* wrong = lowering.options().wrong; !wrong || wrong->empty())
    dispatch.apart =
        std::make_shared<const std::vector<Dispatch>>(lowering.without_adding([&] { copy_parts(); }));
}

void copy_part(Lowering& lowering, const Part& part, TensorId y, size_t slot) {
  copy_region(lowering, part.tensor, y, region_of(part, lowering.tensor(y).desc.shape, slot));
}

// Adds a dispatch that copies parts that follow each other.
void join_parts(Lowering& lowering, std::span<const Part> parts, TensorId y, size_t slot) {
  const Shape& shape = lowering.tensor(y).desc.shape;
  std::vector<Binding> bindings;
  const auto ends = bind_parts(parts, bindings);
  const bool unaligned =
      slot == kChannels && std::ranges::any_of(parts, [](const Part& part) { return part.begin % 4 != 0; });
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
  allow_apart(lowering, dispatch, [&] {
    for (const Part& part : parts) copy_part(lowering, part, y, slot);
  });
  lowering.dispatch(std::move(dispatch));
}

// Several parts are copied by one dispatch, unless one of them may become a view of y: then each is copied
// on its own.
void concat_texels(Lowering& lowering, size_t axis) {
  const Shape& shape = lowering.output_type().shape;
  const size_t slot = channels4_slot(shape.size(), axis);
  const std::vector<TensorId> inputs = read_parts(lowering, Layout::channels4);
  const TensorId y = lowering.write(0, Layout::channels4);
  const std::vector<Part> parts = find_parts(inputs, lowering, axis, 1);
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

// Rows of y, of which each part is a range of columns.
struct Rows {
  TensorId y = kNoTensor;
  int64_t count = 0, length = 0;
};

// Copies parts that follow each other with one dispatch.
void copy_columns(Lowering& lowering, std::span<const Part> parts, const Rows& rows) {
  const int64_t begin = parts.front().begin, end = parts.back().end;
  const bool aligned =
      (rows.count == 1 || rows.length % 4 == 0) && std::ranges::all_of(parts, [](const Part& part) {
        return part.begin % 4 == 0 && (part.end - part.begin) % 4 == 0;
      });
  const bool keeps = !aligned && end - begin < rows.length;
  const int64_t first4 = begin / 4, last = (rows.count - 1) * rows.length + end;
  const int64_t count4 = aligned ? rows.count * (end - begin) / 4 : (last + 3) / 4 - first4;
  std::vector<Binding> bindings;
  const auto ends = bind_parts(parts, bindings);
  bindings.push_back(keeps ? reads_and_writes("y", rows.y) : writes("y", rows.y));
  Dispatch dispatch =
      make_dispatch("concat_linear", grid_1d(lowering.caps(), count4), std::move(bindings),
                    ConcatLinearParameters{.ends = {ends[0], ends[1], ends[2], ends[3]},
                                           .further_ends = {ends[4], ends[5], ends[6], ends[7]},
                                           .begin = begin,
                                           .rows = rows.count,
                                           .y_length = rows.length,
                                           .first4 = first4,
                                           .count4 = count4});
  define(dispatch, "INPUTS", std::to_string(parts.size()));
  if (aligned) define(dispatch, "ALIGNED");
  if (keeps) define(dispatch, "KEEP");
  const TensorDesc& desc = lowering.tensor(rows.y).desc;
  const TensorId x = parts.front().tensor;
  if (parts.size() == 1 && rows.count == 1 && lowering.tensor(x).desc.has_elements_of(desc)) {
    const uint64_t size = size_of(desc.element);
    dispatch.copy = PlainCopy{x, rows.y, 0, static_cast<uint64_t>(begin) * size,
                              static_cast<uint64_t>(end - begin) * size};
  }
  define_element(dispatch, lowering.tensor(rows.y));
  if (parts.size() > 1)
    allow_apart(lowering, dispatch, [&] {
      for (size_t i = 0; i < parts.size(); ++i) copy_columns(lowering, parts.subspan(i, 1), rows);
    });
  lowering.dispatch(std::move(dispatch));
}

// Strips of a layer are copied one by one, so that each is free before the next one is computed.
void concat_linear(Lowering& lowering, size_t axis) {
  const Shape& shape = lowering.output_type().shape;
  const int64_t inner = product(shape, axis + 1, shape.size());
  const std::vector<TensorId> inputs = read_parts(lowering, Layout::linear);
  const Rows rows{lowering.write(0, Layout::linear), product(shape, 0, axis), shape[axis] * inner};
  const std::vector<Part> parts = find_parts(inputs, lowering, axis, inner);
  const size_t most = lowering.options().whole_layers ? 1 : most_parts(lowering, parts, rows.y);
  for (size_t first = 0; first < parts.size(); first += most)
    copy_columns(lowering, std::span(parts).subspan(first, std::min(most, parts.size() - first)), rows);
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
