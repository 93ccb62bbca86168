// Converters of operators that stack, repeat and select, and that move blocks of space into the batch. All
// work in the file's order.
#include "graph/operators/elementwise/select.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/gather.hpp"
#include "graph/operators/movement/pad.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/slice.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "import/tflite/call.hpp"

namespace vellum::tflite {
namespace {

std::shared_ptr<Reshape> reshape_to(Ints shape) {
  auto op = std::make_shared<Reshape>();
  op->shape = std::move(shape);
  op->allow_zero = true;
  return op;
}

std::shared_ptr<Transpose> transpose_by(Ints perm) {
  auto op = std::make_shared<Transpose>();
  op->perm = std::move(perm);
  return op;
}

// Inputs x, block sizes (one for each spatial dimension; these follow the batch), and for each of them the
// begin and end of a padding or a crop.
struct Blocks {
  Shape shape;
  Ints sizes, edges;

  size_t spatial() const { return sizes.size(); }
};

Blocks read_blocks(const Call& call) {
  Blocks blocks{call.writer.type(call.input(0)).shape,
                call.writer.constant_ints(call.input(1), "the block sizes"),
                call.writer.constant_ints(call.input(2), "paddings or crops")};
  const size_t spatial = blocks.spatial();
  if (spatial == 0 || spatial >= blocks.shape.size() || blocks.edges.size() != 2 * spatial) {
    refuse_model("block sizes and paddings or crops do not fit its input");
  }
  for (size_t i = 1; i < blocks.shape.size(); ++i) {
    if (blocks.shape[i] < 0) refuse_unsupported("open dimensions other than the batch");
  }
  for (size_t i = 0; i < spatial; ++i) {
    if (blocks.sizes[i] < 1) refuse_model("a block size is " + std::to_string(blocks.sizes[i]));
    if (blocks.edges[2 * i] < 0 || blocks.edges[2 * i + 1] < 0) refuse_model("a negative padding or crop");
  }
  return blocks;
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
  const Ints repeats = call.writer.constant_ints(call.input(1), "the repeats");
  call.emit(std::make_shared<Tile>(),
            {call.writer.in_file_order(call.input(0)), call.ints(repeats, "repeats")}, false);
}

void convert_broadcast_to(const Call& call) {
  const Ints shape = call.writer.constant_ints(call.input(1), "the new shape");
  call.emit(std::make_shared<Expand>(), {call.writer.in_file_order(call.input(0)), call.ints(shape, "shape")},
            false);
}

// [n, s b, c] becomes [n, s, b, c], then [b, n, s, c], then [b n, s, c], for every s.
void convert_space_to_batch(const Call& call) {
  const Blocks blocks = read_blocks(call);
  const size_t rank = blocks.shape.size(), spatial = blocks.spatial();
  auto pad = std::make_shared<Pad>();
  pad->pads = Ints(2 * rank, 0);
  Ints split{-1}, merged{-1}, perm;
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t before = blocks.edges[2 * i], after = blocks.edges[2 * i + 1], block = blocks.sizes[i];
    (*pad->pads)[1 + i] = before;
    (*pad->pads)[rank + 1 + i] = after;
    const int64_t size = checked_add(blocks.shape[1 + i], checked_add(before, after));
    if (size % block != 0) refuse_model("blocks of " + std::to_string(block) + " in " + std::to_string(size));
    split.insert(split.end(), {size / block, block});
    merged.push_back(size / block);
    perm.push_back(static_cast<int64_t>(2 + 2 * i));
  }
  perm.push_back(0);
  for (size_t i = 0; i < spatial; ++i) perm.push_back(static_cast<int64_t>(1 + 2 * i));
  for (size_t i = 1 + spatial; i < rank; ++i) {
    perm.push_back(static_cast<int64_t>(i + spatial));
    split.push_back(blocks.shape[i]);
    merged.push_back(blocks.shape[i]);
  }
  const ValueId padded = call.emit_inner(std::move(pad), {call.writer.in_file_order(call.input(0))});
  const ValueId parts = call.emit_inner(reshape_to(split), {padded});
  call.emit(reshape_to(merged), {call.emit_inner(transpose_by(perm), {parts})}, false);
}

// [b n, s, c] becomes [b, n, s, c], then [n, s, b, c], then [n, s b, c], for every s.
void convert_batch_to_space(const Call& call) {
  const Blocks blocks = read_blocks(call);
  const size_t rank = blocks.shape.size(), spatial = blocks.spatial();
  const auto count = static_cast<int64_t>(spatial);
  Ints split = blocks.sizes, merged{-1}, perm{count}, begin(rank, 0), end(rank, INT64_MAX);
  split.push_back(-1);
  for (size_t i = 0; i < spatial; ++i) {
    const auto at = static_cast<int64_t>(i);
    perm.insert(perm.end(), {count + 1 + at, at});
    const int64_t size = checked_multiply(blocks.shape[1 + i], blocks.sizes[i]);
    if (checked_add(blocks.edges[2 * i], blocks.edges[2 * i + 1]) > size) refuse_model("nothing is left");
    merged.push_back(size);
    begin[1 + i] = blocks.edges[2 * i];
    end[1 + i] = size - blocks.edges[2 * i + 1];
  }
  for (size_t i = 1; i < rank; ++i) split.push_back(blocks.shape[i]);
  for (size_t i = 1 + spatial; i < rank; ++i) {
    perm.push_back(static_cast<int64_t>(i + spatial));
    merged.push_back(blocks.shape[i]);
  }
  const ValueId parts = call.emit_inner(reshape_to(split), {call.writer.in_file_order(call.input(0))});
  const ValueId whole = call.emit_inner(reshape_to(merged), {call.emit_inner(transpose_by(perm), {parts})});
  auto slice = std::make_shared<Slice>();
  slice->starts = begin;
  slice->ends = end;
  call.emit(std::move(slice), {whole}, false);
}

}  // namespace vellum::tflite
