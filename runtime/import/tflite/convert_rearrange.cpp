// Converters of operators that stack, repeat and select, and that move blocks of space into the batch. All
// work in the file's order.
#include "graph/operators/elementwise/select.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/gather.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/slice.hpp"
#include "graph/operators/movement/space_to_batch.hpp"
#include "import/tflite/call.hpp"

namespace vellum::tflite {
namespace {

std::shared_ptr<Reshape> reshape_to(Ints shape) {
  auto op = std::make_shared<Reshape>();
  op->shape = std::move(shape);
  op->allow_zero = true;
  return op;
}

// Inputs x, block sizes, paddings or crops.
std::vector<ValueId> in_file_order(const Call& call) {
  std::vector<ValueId> values;
  for (size_t i = 0; i < 3; ++i) values.push_back(call.writer.in_file_order(call.input(i)));
  return values;
}

}  // namespace

void convert_pack(const Call& call) {
  const auto& options = call.required_options<schema::PackOptions>();
  const size_t rank = call.writer.rank(call.input(0)) + 1;
  const auto axis = static_cast<int64_t>(normalize_axis(options.axis(), rank));
  std::vector<ValueId> values;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    auto unsqueeze = std::make_shared<Unsqueeze>();
    unsqueeze->axes = Ints{axis};
    values.push_back(call.emit_inner(std::move(unsqueeze), {call.writer.in_file_order(call.input(i))}));
  }
  auto concat = std::make_shared<Concat>();
  concat->axis = axis;
  call.emit(std::move(concat), std::move(values), false);
}

void convert_unpack(const Call& call) {
  const auto& options = call.required_options<schema::UnpackOptions>();
  const Shape& shape = call.writer.type(call.input(0)).shape;
  const size_t axis = normalize_axis(options.axis(), shape.size());
  if (shape[axis] != static_cast<int64_t>(call.outputs.size())) {
    refuse_model("it has " + std::to_string(call.outputs.size()) + " outputs for dimension " +
                 std::to_string(axis) + " of " + to_string(shape));
  }
  auto split = std::make_shared<Split>();
  split->axis = static_cast<int64_t>(axis);
  split->output_count = call.outputs.size();
  std::vector<ValueId> parts;
  for (const int32_t output : call.outputs) {
    parts.push_back(call.writer.add_value(call.writer.name_of(output) + "_inner"));
  }
  call.writer.add_node(std::move(split), {call.writer.in_file_order(call.input(0))}, parts);
  for (size_t i = 0; i < parts.size(); ++i) {
    auto squeeze = std::make_shared<Squeeze>();
    squeeze->axes = Ints{static_cast<int64_t>(axis)};
    call.writer.add_node(std::move(squeeze), {parts[i]}, {call.writer.define(call.output(i), false)});
  }
}

// SELECT_V2 broadcasts. In SELECT a condition that is a vector selects whole slices along the first
// dimension.
void convert_select(const Call& call) {
  ValueId condition = call.writer.in_file_order(call.input(0));
  const size_t rank = call.writer.rank(call.input(1));
  if (call.type == "SELECT" && call.writer.rank(call.input(0)) == 1 && rank > 1) {
    Ints shape(rank, 1);
    shape[0] = -1;
    condition = call.emit_inner(reshape_to(shape), {condition});
  }
  call.emit(std::make_shared<Where>(),
            {condition, call.writer.in_file_order(call.input(1)), call.writer.in_file_order(call.input(2))},
            false);
}

void convert_gather_nd(const Call& call) {
  call.emit(std::make_shared<GatherND>(),
            {call.writer.in_file_order(call.input(0)), call.writer.in_file_order(call.input(1))}, false);
}

void convert_tile(const Call& call) {
  call.emit(std::make_shared<Tile>(), {call.writer.in_file_order(call.input(0)), call.computed_ints(1)},
            false);
}

void convert_broadcast_to(const Call& call) {
  call.emit(std::make_shared<Expand>(), {call.writer.in_file_order(call.input(0)), call.computed_ints(1)},
            false);
}

void convert_space_to_batch(const Call& call) { call.emit(space_to_batch(), in_file_order(call), false); }

void convert_batch_to_space(const Call& call) { call.emit(batch_to_space(), in_file_order(call), false); }

}  // namespace vellum::tflite
