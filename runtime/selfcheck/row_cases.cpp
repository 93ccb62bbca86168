#include "selfcheck/row_cases.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "plan/row_texels.hpp"
#include "selfcheck/small_operator.hpp"

namespace vellum {
namespace {

bool is_finite(const HostTensor& tensor) {
  return !is_float(tensor.dtype()) ||
         std::ranges::all_of(tensor.to_floats(), [](float value) { return std::isfinite(value); });
}

// Returns a shape of a matrix for the value's elements. Its rows have several texels, where possible a number
// that is no power of two. It is not the value's shape, so that the Reshape between them makes the operator's
// tensor linear. Empty: there is no such shape, or the elements are not whole texels.
Shape matrix_of(const TensorType& type) {
  if (!is_float(type.dtype)) return {};
  const int64_t elements = element_count(type.shape);
  for (const int64_t texels : {3, 5, 7, 2, 4, 1})
    if (elements % (4 * texels) == 0 && elements > 0)
      if (Shape shape{elements / (4 * texels), 4 * texels}; shape != type.shape) return shape;
  return {};
}

HostTensor identity(int64_t size) {
  HostTensor matrix(DType::f32, {size, size});
  const auto elements = matrix.mutable_as<float>();
  for (int64_t i = 0; i < size; ++i) elements[static_cast<size_t>(i * size + i)] = 1.0f;
  return matrix;
}

// Builds the graph around the operator's.
class BetweenProducts {
 public:
  explicit BetweenProducts(const Graph& graph) : graph_(graph) { graph_.nodes.clear(); }

  void add_input(ValueId input) {
    if (const ValueId outer = replace_port(graph_.inputs, input); outer != kNoValue)
      reshape(product(outer), input);
  }

  void add_nodes(const std::vector<Node>& nodes) {
    graph_.nodes.insert(graph_.nodes.end(), nodes.begin(), nodes.end());
  }

  void add_output(ValueId output) {
    if (const ValueId outer = replace_port(graph_.outputs, output); outer != kNoValue)
      reshape(product(output), outer);
  }

  std::optional<Graph> graph() && { return is_changed_ ? std::optional(std::move(graph_)) : std::nullopt; }

 private:
  // Puts a new value of the same type in the place of an input or output of the graph, and returns it;
  // kNoValue if there is no matrix of the elements.
  ValueId replace_port(std::vector<ValueId>& ports, ValueId port) {
    const TensorType type = graph_.values[port].type;
    if (matrix_of(type).empty()) return kNoValue;
    const ValueId outer = graph_.add_value(name(port) + "/outer", type, true);
    std::ranges::replace(ports, port, outer);
    is_changed_ = true;
    return outer;
  }

  std::string name(ValueId value) const { return graph_.values[value].name; }

  // Returns the product of the value's elements, as a matrix, with the identity matrix.
  ValueId product(ValueId value) {
    const TensorType type{graph_.values[value].type.dtype, matrix_of(graph_.values[value].type)};
    const ValueId x = graph_.add_value(name(value) + "/matrix", type, true);
    const ValueId y = graph_.add_value(name(value) + "/product", type, true);
    reshape(value, x);
    const ValueId weights = graph_.add_constant(name(value) + "/identity", identity(type.shape[1]));
    selfcheck::append_node(graph_, "MatMul", {x, weights}, {}, y);
    return y;
  }

  void reshape(ValueId x, ValueId y) {
    const Shape& shape = graph_.values[y].type.shape;
    const ValueId sizes =
        graph_.add_constant(name(y) + "/shape", HostTensor::i64({static_cast<int64_t>(shape.size())}, shape));
    selfcheck::append_node(graph_, "Reshape", {x, sizes}, {}, y);
  }

  Graph graph_;
  bool is_changed_ = false;
};

}  // namespace

std::optional<Graph> between_products(const Graph& graph, const std::vector<HostTensor>& inputs,
                                      bool inputs_too) {
  if (graph.tail || !std::ranges::all_of(inputs, is_finite)) return std::nullopt;
  BetweenProducts made(graph);
  for (const ValueId input : graph.inputs)
    if (inputs_too && !graph.constant(input)) made.add_input(input);
  made.add_nodes(graph.nodes);
  for (const ValueId output : graph.outputs) made.add_output(output);
  return std::move(made).graph();
}

void access_all_rows(Program& program, const DeviceCaps& caps) {
  access_row_texels(program, row_texel_limits(caps), [](Program&) { return uint64_t{0}; });
}

}  // namespace vellum
