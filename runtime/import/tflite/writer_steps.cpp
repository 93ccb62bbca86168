// The real numbers of quantised tensors, rounded to those that the integers stand for: for operators that
// compare values, where equal integers have to be equal numbers.
#include "graph/operators/elementwise/unary.hpp"
#include "import/tflite/writer.hpp"

namespace vellum::tflite {

ValueId Writer::in_steps(int32_t tensor) {
  const ValueId value = in_file_order(tensor);
  const Tensor& entry = at(tensor);
  if (entry.is_constant || !entry.quantisation || !is_byte(entry.quantisation->stored)) return value;
  const StoredRange range = range_of(*entry.quantisation);
  auto op = std::make_shared<Unary>();
  op->activation.step = range.scale;
  op->activation.least = range.least;
  op->activation.most = range.most;
  const ValueId rounded = add_value(entry.name + "_rounded");
  add_node(std::move(op), {value}, {rounded});
  ranges_[rounded] = range.values;
  return rounded;
}

}  // namespace vellum::tflite
