#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/operators/matmul.hpp"
#include "passes/rewrite/node_writer.hpp"
#include "passes/rewrite/pattern.hpp"
#include "passes/fuse/transformers.hpp"

namespace vellum {
namespace {

// A MatMul of any rows with one constant matrix, as far as what follows it can become part of a Gemm.
struct Product {
  std::optional<HostTensor> bias;  // one value per column
  Activation activation;
  size_t last = 0;            // the node whose output is the result
  std::optional<size_t> sum;  // the node that adds the bias
};

bool has_constant_matrix(const GraphEditor& editor, size_t index) {
  if (!editor.is(index, "MatMul")) return false;
  const Node& node = editor.node(index);
  const HostTensor* matrix = editor.constant_input(index, 1);
  return matrix != nullptr && matrix->shape().size() == 2 && matrix->elements() > 0 &&
         editor.constant(node.inputs[0]) == nullptr && is_float_value(editor, node.outputs[0]) &&
         editor.type(node.inputs[0]).shape.size() >= 2 &&
         element_count(editor.type(node.inputs[0]).shape) > 0;
}

Product follow(const GraphEditor& editor, size_t index) {
  Product product;
  product.last = index;
  ValueId result = editor.node(index).outputs[0];
  const int64_t columns = editor.type(result).shape.back();
  if (const auto sum = constant_reader(editor, result, BinaryKind::add)) {
    product.bias = expand_to_last_dimensions(*sum->constant, {columns});
    if (product.bias) {
      product.sum = product.last = sum->index;
      result = sum->output;
    }
  }
  const auto reader = editor.only_reader(result);
  if (!reader) return product;
  const ValueId output = editor.node(*reader).outputs[0];
  const auto applied = undo_activation(editor, output);
  if (applied && applied->input == result && editor.type(output) == editor.type(result)) {
    product.activation = applied->activation;
    product.last = *reader;
  }
  return product;
}

// Nodes in place of those that `graph` has: the Gemm stands where the last node of its product stood.
class Rewriter {
 public:
  explicit Rewriter(Graph& graph) : graph_(graph), nodes_(std::exchange(graph.nodes, {})), writer_(graph) {}

  void write(const std::map<size_t, Product>& products) {
    std::set<size_t> lasts;
    for (const auto& [index, product] : products) lasts.insert(product.last);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (const auto found = products.find(i); found != products.end())
        waiting_.emplace(found->second.last, i);
      if (lasts.contains(i))
        write_product(products.at(waiting_.at(i)), nodes_[waiting_.at(i)], nodes_[i]);
      else if (!products.contains(i) && !between(products, i))
        graph_.nodes.push_back(std::move(nodes_[i]));
    }
  }

 private:
  // The Add between a MatMul and its activation.
  bool between(const std::map<size_t, Product>& products, size_t index) const {
    return std::any_of(products.begin(), products.end(),
                       [&](const auto& entry) { return entry.second.sum == index; });
  }

  void write_product(const Product& product, const Node& matmul, const Node& last) {
    const TensorType x = graph_.values[matmul.inputs[0]].type, y = graph_.values[last.outputs[0]].type;
    const int64_t rows = element_count(x.shape) / x.shape.back();
    ValueId input = matmul.inputs[0];
    if (x.shape.size() > 2) {
      const Shape shape{rows, x.shape.back()};
      input = writer_.add(matmul.name + "/rows", reshape_to(shape), {input}, {x.dtype, shape});
    }
    std::vector<ValueId> inputs{input, matmul.inputs[1]};
    if (product.bias) inputs.push_back(writer_.add_constant(matmul.name + "/bias", *product.bias));
    auto gemm = std::make_shared<Gemm>();
    gemm->activation = product.activation;
    if (x.shape.size() == 2) {
      graph_.nodes.push_back({matmul.name, std::move(gemm), std::move(inputs), last.outputs});
      return;
    }
    const ValueId result =
        writer_.add(matmul.name, std::move(gemm), std::move(inputs), {y.dtype, {rows, y.shape.back()}});
    graph_.nodes.push_back({last.name + "/shape", reshape_to(y.shape), {result}, last.outputs});
  }

  Graph& graph_;
  std::vector<Node> nodes_;
  NodeWriter writer_;
  std::map<size_t, size_t> waiting_;  // last node of a product -> its MatMul
};

}  // namespace

void matmul_to_gemm(Graph& graph) {
  std::map<size_t, Product> products;
  {
    const GraphEditor editor(graph);
    for (size_t i = 0; i < editor.node_count(); ++i)
      if (has_constant_matrix(editor, i)) products.emplace(i, follow(editor, i));
  }
  if (!products.empty()) Rewriter(graph).write(products);
}

}  // namespace vellum
