// Converters of operators that compute values from shapes, and tensors from values.
#include <algorithm>

#include "graph/operators/elementwise/select.hpp"
#include "graph/operators/generators/shape.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/gather.hpp"
#include "import/tflite/call.hpp"

namespace vellum::tflite {

// The shape in the file's order. The graph's Shape is int64.
void convert_shape(const Call& call) {
  const ValueId shape =
      call.emit_inner(std::make_shared<ShapeOf>(), {call.writer.in_file_order(call.input(0))});
  call.emit(cast_to(call.writer.type(call.output()).dtype), {shape}, false);
}

// Inputs dims, value. The dims may be computed, from shapes.
void convert_fill(const Call& call) {
  call.emit(std::make_shared<Expand>(), {call.writer.in_file_order(call.input(1)), call.computed_ints(0)},
            false);
}

namespace {

// Returns the dimensions of a shape, after as many of 1 as `rank` has more.
ValueId lengthened(const Call& call, size_t index, int64_t rank) {
  const Shape& entries = call.writer.type(call.input(index)).shape;
  const ValueId dims = call.computed_ints(index);
  if (entries.at(0) == rank) return dims;
  auto concat = std::make_shared<Concat>();
  concat->axis = 0;
  const Ints ones(static_cast<size_t>(rank - entries[0]), 1);
  return call.emit_inner(std::move(concat), {call.ints(ones, "ones"), dims});
}

}  // namespace

// The shape that two shapes have after broadcasting.
void convert_broadcast_args(const Call& call) {
  int64_t rank = 0;
  for (size_t i = 0; i < 2; ++i) {
    const Shape& entries = call.writer.type(call.input(i)).shape;
    if (entries.size() != 1 || entries[0] < 0 || entries[0] > static_cast<int64_t>(kMostDims))
      refuse_unsupported("a shape of " + to_string(entries) + " dimensions");
    rank = std::max(rank, entries[0]);
  }
  const ValueId a = lengthened(call, 0, rank), b = lengthened(call, 1, rank);
  const ValueId is_one = call.emit_inner(make_binary(BinaryKind::equal), {a, call.ints({1}, "one")});
  const ValueId dims = call.emit_inner(std::make_shared<Where>(), {is_one, b, a});
  call.emit(cast_to(call.writer.type(call.output()).dtype), {dims}, false);
}

void convert_zeros_like(const Call& call) {
  const ValueId dims =
      call.emit_inner(std::make_shared<ShapeOf>(), {call.writer.in_file_order(call.input(0))});
  const ValueId zero = call.writer.add_constant(call.writer.name_of(call.output()) + "_zero",
                                                HostTensor(call.writer.type(call.output()).dtype, {}));
  call.emit(std::make_shared<Expand>(), {zero, dims}, false);
}

void convert_rank(const Call& call) {
  const auto rank = static_cast<int64_t>(call.writer.rank(call.input(0)));
  call.writer.set_constant(call.output(), HostTensor::from<int64_t>(DType::i32, {}, Ints{rank}));
}

void convert_range(const Call& call) {
  call.emit(std::make_shared<Range>(),
            {call.writer.in_file_order(call.input(0)), call.writer.in_file_order(call.input(1)),
             call.writer.in_file_order(call.input(2))},
            false);
}

}  // namespace vellum::tflite
