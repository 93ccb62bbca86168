// Converter of an operator that replaces a part of a tensor.
#include "graph/operators/movement/scatter.hpp"
#include "graph/operators/movement/slice.hpp"
#include "import/tflite/call.hpp"

namespace vellum::tflite {
namespace {

// Returns the positions of an update's elements, or of its slices after the first `count` dimensions, counted
// from where it begins.
HostTensor positions_of(const Shape& update, size_t count) {
  Shape shape(update.begin(), update.begin() + static_cast<std::ptrdiff_t>(count));
  const int64_t tuples = checked_element_count(shape);
  shape.push_back(static_cast<int64_t>(count));
  HostTensor positions(DType::i64, shape);
  const auto numbers = positions.mutable_as<int64_t>();
  for (int64_t i = 0; i < tuples; ++i) {
    int64_t rest = i;
    for (size_t k = count; k-- > 0; rest /= update[k])
      numbers[static_cast<size_t>(i) * count + k] = rest % update[k];
  }
  return positions;
}

}  // namespace

// Inputs operand, update, the position where it begins, which is moved so that the update fits.
void convert_dynamic_update_slice(const Call& call) {
  const Shape operand = call.writer.type(call.input(0)).shape, update = call.writer.type(call.input(1)).shape;
  if (operand.empty() || operand.size() != update.size())
    refuse_model("an update of " + to_string(update) + " in " + to_string(operand));
  if (!is_known(operand) || !is_known(update)) refuse_unsupported("an update with open dimensions");
  Ints last;
  size_t count = 1;  // dimensions along which the update may begin anywhere
  for (size_t i = 0; i < operand.size(); ++i) {
    if (update[i] > operand[i])
      refuse_model("an update of " + to_string(update) + " in " + to_string(operand));
    last.push_back(operand[i] - update[i]);
    if (last.back() > 0) count = i + 1;
  }
  last.resize(count);
  int64_t tuples = 1;
  for (size_t i = 0; i < count; ++i) tuples = checked_multiply(tuples, update[i]);
  call.writer.file().count(static_cast<uint64_t>(tuples), sizeof(int64_t) * count);
  ValueId begin = call.computed_ints(2);
  auto first = std::make_shared<Slice>();
  first->starts = Ints{0};
  first->ends = Ints{static_cast<int64_t>(count)};
  begin = call.emit_inner(std::move(first), {begin});
  begin = call.emit_inner(make_binary(BinaryKind::max), {begin, call.ints({0}, "first")});
  begin = call.emit_inner(make_binary(BinaryKind::min), {begin, call.ints(last, "last")});
  const ValueId offsets = call.writer.add_constant(call.writer.name_of(call.output()) + "_positions",
                                                   positions_of(update, count));
  const ValueId indices = call.emit_inner(make_binary(BinaryKind::add), {offsets, begin});
  call.emit(std::make_shared<ScatterND>(),
            {call.writer.in_file_order(call.input(0)), indices, call.writer.in_file_order(call.input(1))},
            false);
}

}  // namespace vellum::tflite
