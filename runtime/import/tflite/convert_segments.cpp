// Converter of the reductions of numbered segments, in any order: a ScatterND that reduces.
#include <algorithm>
#include <array>
#include <limits>

#include "graph/operators/elementwise/select.hpp"
#include "graph/operators/movement/gather.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/scatter.hpp"
#include "graph/operators/movement/slice.hpp"
#include "import/tflite/call.hpp"

namespace vellum::tflite {
namespace {

struct SegmentReduction {
  ScatterReduction reduction;
  int64_t integer;  // the result of a segment without elements
  float real;
};

SegmentReduction segment_reduction(const std::string& type) {
  using Integers = std::numeric_limits<int32_t>;
  using Floats = std::numeric_limits<float>;
  if (type == "UNSORTED_SEGMENT_PROD") return {ScatterReduction::mul, 1, 1.0f};
  if (type == "UNSORTED_SEGMENT_MAX") return {ScatterReduction::max, Integers::lowest(), Floats::lowest()};
  if (type == "UNSORTED_SEGMENT_MIN") return {ScatterReduction::min, Integers::max(), Floats::max()};
  return {ScatterReduction::add, 0, 0.0f};
}

}  // namespace

// Inputs data, the segment of each element or slice, the number of segments. Slices of a negative segment are
// in no result: they are reduced into one more segment, which is cut off.
void convert_unsorted_segments(const Call& call) {
  const DType dtype = call.writer.type(call.input(0)).dtype;
  if (call.writer.quantised(call.input(0)) || (dtype != DType::f32 && dtype != DType::i32))
    refuse_unsupported("data other than float32 and int32");
  const Ints number = call.writer.constant_ints(call.input(2), "the number of segments");
  const Shape &data = call.writer.type(call.input(0)).shape, &ids = call.writer.type(call.input(1)).shape;
  if (number.size() != 1 || number[0] < 0 || number[0] > std::numeric_limits<int32_t>::max())
    refuse_model("the number of segments is not one integer of 32 bits, at least 0");
  if (ids.size() > data.size() || !std::equal(ids.begin(), ids.end(), data.begin()))
    refuse_model("segments of " + to_string(ids) + " for data of " + to_string(data));
  if (call.writer.constant(call.input(1)) != nullptr)
    for (const int64_t id : call.writer.constant_ints(call.input(1), "the segments"))
      if (id >= number[0]) refuse_model("segment " + std::to_string(id) + " of " + std::to_string(number[0]));
  Shape shape{number[0] + 1};
  shape.insert(shape.end(), data.begin() + static_cast<std::ptrdiff_t>(ids.size()), data.end());
  if (!is_known(shape)) refuse_unsupported("data with open dimensions");
  call.writer.file().count(static_cast<uint64_t>(checked_element_count(shape)), size_of(dtype));

  const SegmentReduction found = segment_reduction(call.type);
  const HostTensor empty = dtype == DType::f32 ? HostTensor::f32({}, std::array{found.real})
                                               : HostTensor::from<int64_t>(dtype, {}, Ints{found.integer});
  const ValueId start =
      call.emit_inner(std::make_shared<Expand>(),
                      {call.writer.add_constant(call.writer.name_of(call.output()) + "_empty", empty),
                       call.ints(shape, "shape")});
  const ValueId segments = call.computed_ints(1);
  const ValueId is_negative =
      call.emit_inner(make_binary(BinaryKind::less), {segments, call.ints({0}, "first")});
  auto tuples = std::make_shared<Unsqueeze>();
  tuples->axes = Ints{-1};
  // A scalar segment has the shape (1) after Where, which is that of one tuple.
  const ValueId kept =
      call.emit_inner(std::make_shared<Where>(), {is_negative, call.ints({number[0]}, "beyond"), segments});
  const ValueId indices = ids.empty() ? kept : call.emit_inner(std::move(tuples), {kept});
  auto op = std::make_shared<ScatterND>();
  op->reduction = found.reduction;
  const ValueId all =
      call.emit_inner(std::move(op), {start, indices, call.writer.in_file_order(call.input(0))});
  auto cut = std::make_shared<Slice>();
  cut->starts = Ints{0};
  cut->ends = Ints{number[0]};
  call.emit(std::move(cut), {all}, false);
}

}  // namespace vellum::tflite
