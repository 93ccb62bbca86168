// Converters of non-maximum suppression, whose results have as many entries as may be kept: zeros follow
// those that are.
#include <cmath>

#include "graph/operators/generators/shape.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/gather.hpp"
#include "graph/operators/movement/non_max_suppression.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/slice.hpp"
#include "import/tflite/call.hpp"

namespace vellum::tflite {
namespace {

// The inputs of the operator.
enum BoxInput : size_t { kBoxes, kScores, kMostBoxes, kOverlap, kLeastScore, kSigma };

const HostTensor& single_constant(const Call& call, size_t index, const char* what) {
  const HostTensor* value = call.writer.constant(call.input(index));
  if (value == nullptr) refuse_unsupported(std::string(what) + " is computed at run time");
  if (value->elements() != 1) refuse_model(std::string(what) + " is not one number");
  return *value;
}

int64_t most_boxes(const Call& call) {
  constexpr int64_t kLimit = int64_t{1} << 24;
  const int64_t most = single_constant(call, kMostBoxes, "the number of boxes").to_ints()[0];
  if (most < 0 || most > kLimit) refuse_model("it keeps " + std::to_string(most) + " boxes");
  return most;
}

// A box that overlaps a better one by the limit is suppressed; ONNX's operator keeps it.
float overlap_limit(const Call& call) {
  const float limit = single_constant(call, kOverlap, "the limit of overlap").to_floats()[0];
  if (!(limit >= 0.0f && limit <= 1.0f)) refuse_model("the limit of overlap is " + std::to_string(limit));
  return std::nextafter(limit, -1.0f);
}

ValueId with_dimensions(const Call& call, ValueId value, Ints axes) {
  auto op = std::make_shared<Unsqueeze>();
  op->axes = std::move(axes);
  return call.emit_inner(std::move(op), {value});
}

// Returns the boxes that are kept, best first (kept).
ValueId kept_boxes(const Call& call, int64_t most) {
  Writer& writer = call.writer;
  const ValueId limit = writer.add_constant(writer.name_of(call.output()) + "_overlap",
                                            HostTensor::f32({1}, std::vector<float>{overlap_limit(call)}));
  auto shape = std::make_shared<Reshape>();
  shape->shape = Ints{1};
  const ValueId least = call.emit_inner(std::move(shape), {writer.in_file_order(call.input(kLeastScore))});
  const ValueId triples =
      call.emit_inner(std::make_shared<NonMaxSuppression>(),
                      {with_dimensions(call, writer.in_file_order(call.input(kBoxes)), {0}),
                       with_dimensions(call, writer.in_file_order(call.input(kScores)), {0, 1}),
                       call.ints({most}, "most"), limit, least});
  auto column = std::make_shared<Gather>();
  column->axis = 1;
  const ValueId index = writer.add_constant(writer.name_of(call.output()) + "_column",
                                            HostTensor::from<int64_t>(DType::i64, {}, Ints{2}));
  return call.emit_inner(std::move(column), {triples, index});
}

// Defines output `index` as the values and zeros up to `most`.
void define_filled_up(const Call& call, size_t index, ValueId values, DType dtype, int64_t most) {
  Writer& writer = call.writer;
  writer.file().count(static_cast<uint64_t>(most), size_of(dtype));
  const ValueId zeros =
      writer.add_constant(writer.name_of(call.output(index)) + "_zeros", HostTensor(dtype, {most}));
  auto concat = std::make_shared<Concat>();
  concat->axis = 0;
  const ValueId all = call.emit_inner(std::move(concat), {values, zeros});
  auto first = std::make_shared<Slice>();
  first->starts = Ints{0};
  first->ends = Ints{most};
  writer.add_node(std::move(first), {all}, {writer.define(call.output(index), false)});
}

void define_count(const Call& call, size_t index, ValueId kept) {
  const ValueId shape = call.emit_inner(std::make_shared<ShapeOf>(), {kept});
  auto scalar = std::make_shared<Squeeze>();
  scalar->axes = Ints{0};
  const ValueId count = call.emit_inner(cast_to(DType::i32), {shape});
  call.writer.add_node(std::move(scalar), {count}, {call.writer.define(call.output(index), false)});
}

}  // namespace

// Outputs the kept boxes and their number.
void convert_non_max_suppression(const Call& call) {
  const int64_t most = most_boxes(call);
  const ValueId kept = kept_boxes(call, most);
  define_filled_up(call, 0, call.emit_inner(cast_to(DType::i32), {kept}), DType::i32, most);
  define_count(call, 1, kept);
}

// Outputs the kept boxes, their scores, and their number.
void convert_soft_non_max_suppression(const Call& call) {
  if (single_constant(call, kSigma, "sigma").to_floats()[0] != 0.0f)
    refuse_unsupported("suppression that lowers scores (sigma is not 0)");
  const int64_t most = most_boxes(call);
  const ValueId kept = kept_boxes(call, most);
  define_filled_up(call, 0, call.emit_inner(cast_to(DType::i32), {kept}), DType::i32, most);
  const ValueId scores =
      call.emit_inner(std::make_shared<Gather>(), {call.writer.in_file_order(call.input(kScores)), kept});
  define_filled_up(call, 1, scores, DType::f32, most);
  define_count(call, 2, kept);
}

}  // namespace vellum::tflite
