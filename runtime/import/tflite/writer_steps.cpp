// The real numbers of quantised tensors, rounded to those that the integers stand for: for operators that
// compare values, where equal integers have to be equal numbers.
#include "graph/operators/elementwise/unary.hpp"
#include "import/tflite/writer.hpp"

namespace vellum::tflite {

ValueId Writer::in_steps(int32_t tensor) {
  const ValueId value = in_file_order(tensor);
  const Tensor& entry = at(tensor);
  if (entry.is_constant || !entry.quantisation || !is_byte(entry.quantisation->stored)) return value;
  const StoredGrid grid = grid_of(*entry.quantisation);
  if (const auto known = grids_.find(value); known != grids_.end() && known->second == grid) return value;
  auto op = std::make_shared<Unary>();
  op->activation = rounding(grid);
  const ValueId on_grid = add_value(entry.name + "_rounded");
  add_node(std::move(op), {value}, {on_grid});
  grids_[on_grid] = grid;
  return on_grid;
}

}  // namespace vellum::tflite
