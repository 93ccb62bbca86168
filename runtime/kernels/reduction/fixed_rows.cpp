// FixedRows: functions of rows in integers. One dispatch finds what the elements of each row have in common,
// a second one computes them.
#include "graph/operators/reduction/fixed_rows.hpp"

#include "kernels/framework/elements.hpp"
#include "kernels/framework/shared_loop.hpp"
#include "shaders/reduction/fixed_rows.h"
#include "shaders/reduction/fixed_rows_statistics.h"

namespace vellum {
namespace {

void define_kind(Dispatch& dispatch, FixedRowsKind kind) {
  if (kind <= FixedRowsKind::softmax_16) define(dispatch, "SOFTMAX");
  if (kind == FixedRowsKind::softmax_16) define(dispatch, "SHORT");
}

TensorId integers(Lowering& lowering, const char* name, const std::vector<int32_t>& values) {
  return lowering.integer_weight(lowering.node().name + name, {static_cast<int64_t>(values.size())},
                                 {values.begin(), values.end()});
}

}  // namespace

void lower_fixed_rows(Lowering& lowering) {
  const FixedRows& op = lowering.op<FixedRows>();
  const Shape& shape = lowering.output_type().shape;
  const size_t axis = normalize_axis(op.axis, shape.size());
  const int64_t length = shape[axis], inner = product(shape, axis + 1, shape.size());
  const SharedLoop loop{.results = product(shape, 0, axis) * inner, .length = length, .iterations = 2};
  if (split_loop(lowering.caps(), loop).are_many())
    return lowering.run_on_host("FixedRows of such long rows has no kernel");
  const LoopBy by = choose_loop(lowering, loop);
  const TensorId x = lowering.read(0, Layout::linear);
  const TensorId statistics = integer_workspace(lowering, "statistics", {loop.results, 4});
  std::vector<Binding> operands{reads("x", x)};
  int64_t last = 0;
  if (op.is_softmax()) {
    const std::vector<int32_t> exponentials = op.exponentials();
    last = static_cast<int64_t>(exponentials.size()) - 1;
    operands.push_back(reads("exps", integers(lowering, "/exponentials", exponentials)));
  }
  std::vector<Binding> first = operands;
  if (op.kind == FixedRowsKind::softmax_16)
    first.push_back(reads("reciprocals", integers(lowering, "/reciprocals", reciprocals_of_16_bits())));
  first.push_back(writes("statistics", statistics));
  Dispatch of_rows = loop_dispatch(
      lowering.caps(), "fixed_rows_statistics", loop, by, std::move(first),
      FixedRowsStatisticsParameters{
          .rows = loop.results, .length = length, .inner = inner, .last = last, .x_step = op.x_step});
  define_kind(of_rows, op.kind);
  lowering.dispatch(std::move(of_rows));
  operands.push_back(reads("statistics", statistics));
  operands.push_back(writes("y", lowering.write(0, Layout::linear)));
  Dispatch of_elements =
      make_dispatch("fixed_rows", grid_1d(lowering.caps(), groups_of_four(shape)), std::move(operands),
                    FixedRowsParameters{.count = element_count(shape),
                                        .length = length,
                                        .inner = inner,
                                        .last = last,
                                        .least = op.y_least,
                                        .most = op.y_most,
                                        .x_step = op.x_step,
                                        .y_step = op.y_step});
  define_kind(of_elements, op.kind);
  if (op.kind == FixedRowsKind::unit_length_u8) define(of_elements, "UNSIGNED");
  lowering.dispatch(std::move(of_elements));
}

}  // namespace vellum
