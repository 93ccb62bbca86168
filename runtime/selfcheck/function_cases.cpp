#include "selfcheck/function_cases.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace vellum {
namespace {

using namespace selfcheck;
using Ids = std::vector<ValueId>;

// Appends functions to a small operator, whose value `x` is its result.
class Functions {
 public:
  explicit Functions(SmallOperator first) : made_(std::move(first)) {
    const Node& node = made_.graph.nodes.back();
    x_ = node.outputs[0];
    std::vector<OperatorInput> inputs = operator_inputs(made_.graph, node);
    types_.emplace_back(x_, node.op->infer(inputs).front());
  }

  ValueId x() const { return x_; }

  // Appends an input of the network, or a constant.
  ValueId add(Operand operand) {
    Graph& graph = made_.graph;
    const ValueId id =
        graph.add_value("operand" + std::to_string(types_.size()), operand.tensor.type(), true);
    types_.emplace_back(id, operand.tensor.type());
    if (operand.constant) {
      graph.values[id].constant = std::move(operand.tensor);
    } else {
      graph.inputs.push_back(id);
      made_.inputs.push_back(std::move(operand.tensor));
    }
    return id;
  }

  // Appends a function whose result has the shape of the first operand.
  ValueId apply(const std::string& function, const Ids& operands) {
    const ValueId y = made_.graph.add_value("y" + std::to_string(types_.size()), type_of(operands[0]), true);
    types_.emplace_back(y, type_of(operands[0]));
    append_node(made_.graph, function, operands, {}, y);
    made_.graph.outputs = {y};
    return y;
  }

  SmallOperator made(const std::string& name) {
    made_.name = name;
    return std::move(made_);
  }

 private:
  const TensorType& type_of(ValueId id) const {
    for (const auto& [known, type] : types_)
      if (known == id) return type;
    return types_.front().second;
  }

  SmallOperator made_;
  ValueId x_ = kNoValue;
  std::vector<std::pair<ValueId, TensorType>> types_;
};

// Functions of one and two tensors of one shape. Whole texels, and an end within one.
SmallOperator of_one_shape(const Shape& shape) {
  Functions f(small_operator("Tanh", "Tanh", {computed(shape)}));
  const ValueId other = f.add(computed(shape, 3));
  const ValueId product = f.apply("Mul", {f.x(), other}), largest = f.apply("Max", {product, f.x()});
  f.apply("Sub", {f.apply("Exp", {largest}), f.apply("Sigmoid", {product})});
  return f.made("elementwise functions of " + to_string(shape));
}

// Operands along rows, along columns, and of one element.
SmallOperator of_broadcast_operands() {
  Functions f(small_operator("Abs", "Abs", {computed({3, 7, 12})}));
  const ValueId row = f.add(computed({12}, 3)), column = f.add(computed({3, 7, 1}, 4)),
                one = f.add(computed({1}, 5)), rows = f.add(weights({1, 7, 12}, 6));
  f.apply("Mul", {f.apply("Add", {f.apply("Min", {f.apply("Mul", {f.x(), row}), column}), one}), rows});
  return f.made("elementwise functions of broadcast operands");
}

}  // namespace

void add_functions(std::vector<SmallOperator>& list) {
  list.push_back(of_one_shape({1, 2, 8, 12}));
  list.push_back(of_one_shape({2, 5, 7}));
  list.push_back(of_broadcast_operands());
}

}  // namespace vellum
