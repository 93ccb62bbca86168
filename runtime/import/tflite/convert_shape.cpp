// Converters of operators that compute values from shapes, and tensors from values.
#include "graph/operators/elementwise/cast.hpp"
#include "graph/operators/generators/shape.hpp"
#include "graph/operators/movement/gather.hpp"
#include "import/tflite/call.hpp"

namespace vellum::tflite {
namespace {

std::shared_ptr<Cast> cast_to(DType dtype) {
  auto op = std::make_shared<Cast>();
  op->to = dtype;
  return op;
}

}  // namespace

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
