// check(), check_limits() and check_size() of graph.hpp: what holds for every graph, and its limits.
#include <string_view>
#include <unordered_set>

#include "graph/graph.hpp"
#include "graph/operator_support.hpp"
#include "graph/operators/control/subgraphs.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

// Shapes with more dimensions than any model has would slow down each rule and message.
constexpr size_t kMostDimensions = 64;

// Counts the nodes of a graph and of the graphs nested in it. `depth`: the nesting of this graph.
uint64_t count_nodes(const Graph& graph, const LoadLimits& limits, uint32_t depth) {
  if (depth > limits.nesting) {
    throw Error(ErrorCode::unsupported,
                "graphs within graphs are deeper than " + std::to_string(limits.nesting) + ", the limit");
  }
  uint64_t nodes = graph.nodes.size();
  for (const Node& node : graph.nodes)
    if (const auto* op = dynamic_cast<const GraphOperator*>(node.op.get()))
      for (const Graph* inner : op->graphs()) nodes += count_nodes(*inner, limits, depth + 1);
  return nodes;
}

class GraphChecker {
 public:
  explicit GraphChecker(const Graph& graph) : graph_(graph), defined_(graph.values.size(), false) {}

  void run() {
    check_names();
    for (size_t i = 0; i < graph_.values.size(); ++i) defined_[i] = graph_.values[i].constant.has_value();
    for (const ValueId id : graph_.inputs) define_input(id);
    for (const Node& node : graph_.nodes) check_node(node);
    for (const ValueId id : graph_.outputs) use(id, "graph output");
    if (graph_.tail) check_tail(*graph_.tail);
  }

 private:
  [[noreturn]] static void fail(const std::string& message) {
    throw Error(ErrorCode::corrupt_model, message);
  }

  void check_names() const {
    std::unordered_set<std::string_view> names;
    for (const Value& value : graph_.values) {
      if (value.name.empty()) fail("a value of the graph has no name");
      if (!names.insert(value.name).second) fail("two values of the graph are called '" + value.name + "'");
    }
  }

  void check_id(ValueId id, const std::string& where) const {
    if (id >= graph_.values.size())
      throw Error(ErrorCode::internal, where + " names a value that does not exist");
  }

  void define(ValueId id, const std::string& where) {
    check_id(id, where);
    if (defined_[id]) fail(where + ": value '" + graph_.values[id].name + "' is defined twice");
    defined_[id] = true;
  }

  // An input whose values are known before running is a constant, too.
  void define_input(ValueId id) {
    check_id(id, "graph input");
    if (graph_.constant(id) == nullptr) define(id, "graph input");
  }

  void use(ValueId id, const std::string& where) const {
    check_id(id, where);
    if (!defined_[id]) {
      fail(where + ": value '" + graph_.values[id].name +
           "' is used before it is computed (a cycle, or missing)");
    }
  }

  void check_node(const Node& node) {
    const std::string where = describe(node);
    if (node.op == nullptr) throw Error(ErrorCode::internal, where + " has no operator");
    if (node.outputs.empty() || node.outputs[0] == kNoValue)
      throw Error(ErrorCode::internal, where + " has no first output");
    for (const ValueId id : node.inputs) {
      if (id != kNoValue) use(id, where);
    }
    for (const ValueId id : node.outputs) {
      if (id != kNoValue) define(id, where);
    }
  }

  void check_tail(const HostTail& tail) const {
    check(tail.graph);
    bool fits = tail.reads.size() == tail.graph.inputs.size();
    for (const size_t read : tail.reads) fits = fits && read < graph_.outputs.size();
    for (const HostTail::Output& output : tail.outputs)
      fits = fits && output.index < (output.of_tail ? tail.graph : graph_).outputs.size();
    if (!fits) throw Error(ErrorCode::internal, "the tail of the graph reads what does not exist");
  }

  const Graph& graph_;
  std::vector<bool> defined_;
};

}  // namespace

void check_size(const Graph& graph, const Shape& shape) {
  if (shape.size() > kMostDimensions) {
    throw Error(ErrorCode::unsupported, "a tensor has " + std::to_string(shape.size()) +
                                            " dimensions, more than " + std::to_string(kMostDimensions));
  }
  const auto elements = static_cast<uint64_t>(checked_element_count(shape));
  if (elements > graph.limits.elements) {
    throw Error(ErrorCode::unsupported, "a tensor of shape " + to_string(shape) + " has more than " +
                                            std::to_string(graph.limits.elements) + " elements, the limit");
  }
}

void check_limits(const Graph& graph) {
  const uint64_t nodes = count_nodes(graph, graph.limits, 0);
  if (nodes > graph.limits.nodes) {
    throw Error(ErrorCode::unsupported, "the model has " + std::to_string(nodes) + " nodes, more than " +
                                            std::to_string(graph.limits.nodes) + ", the limit");
  }
  // Callers name inputs one by one, and each name is searched in the list.
  constexpr size_t kMostInterface = 1 << 14;
  if (graph.inputs.size() + graph.outputs.size() > kMostInterface) {
    throw Error(ErrorCode::unsupported, "the model has " + std::to_string(graph.inputs.size()) +
                                            " inputs and " + std::to_string(graph.outputs.size()) +
                                            " outputs, together more than " + std::to_string(kMostInterface));
  }
  for (const Value& value : graph.values) {
    if (!value.constant) continue;
    try {
      check_size(graph, value.type.shape);
    } catch (const Error& error) {
      throw Error(error.code(), "constant '" + value.name + "': " + error.what());
    }
  }
}

void check(const Graph& graph) { GraphChecker(graph).run(); }

}  // namespace vellum
