// The intermediate representation: values and nodes in execution order. A Graph is a plain value; copies
// share weights. Start reading here for the graph.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/operator.hpp"
#include "graph/tensor.hpp"
#include "vellum/limits.hpp"

namespace vellum {

using ValueId = uint32_t;
inline constexpr ValueId kNoValue = UINT32_MAX;  // an omitted optional input or output

struct Value {
  std::string name;
  TensorType type;          // dims may be kUnknownDim before shapes are inferred
  bool type_known = false;  // graph inputs, constants, and everything after shape inference
  std::optional<HostTensor> constant;
  // TensorInfo::signature_name and initial_value, for inputs and outputs of an imported graph.
  std::string signature_name;
  std::optional<HostTensor> initial_value;
};

struct Node {
  std::string name;
  std::shared_ptr<const Operator> op;
  std::vector<ValueId> inputs;  // kNoValue if omitted
  // The first output is always present. Others are kNoValue, or missing at the end, if nothing reads them.
  std::vector<ValueId> outputs;
};

struct HostTail;

// The work and memory that constant folding has used so far, in all passes; LoadLimits bounds both.
struct FoldingSpent {
  uint64_t work = 0;
  uint64_t bytes = 0;           // of folded constants that are still in the graph
  uint64_t unrolled_nodes = 0;  // nodes of Loop iterations and of chosen branches
  // Bytes of the file's own constants, counted when folding begins.
  std::optional<uint64_t> file_bytes;
};

struct Graph {
  std::vector<Value> values;
  std::vector<Node> nodes;  // topologically ordered
  // An input may be a constant: if its values are known before running because they decide shapes, or if it
  // has no elements.
  std::vector<ValueId> inputs, outputs;
  std::string name;
  std::vector<std::string> signatures;  // Model::signatures()
  LoadLimits limits;
  FoldingSpent folding;
  // The file has constants of integers that a dequantisation makes floats. Kernels then look for weights that
  // are integers times a scale also where their input has floats (kernels/conv/byte_weights.hpp).
  bool has_integer_weights = false;
  // The part that runs on the host after everything else, because its shapes are data-dependent. Null if
  // there is none. With a tail, `outputs` are the model's outputs that the tail does not compute, and the
  // values that the tail reads.
  std::shared_ptr<const HostTail> tail;

  ValueId add_value(std::string value_name, TensorType type = {}, bool type_known = false);
  ValueId add_constant(std::string value_name, HostTensor tensor);
  std::optional<ValueId> find_value(std::string_view value_name) const;
  const HostTensor* constant(ValueId id) const;
};

// The operators with data-dependent shapes (NonMaxSuppression, NonZero, ...) and everything that reads their
// results. infer_shapes_and_fold() cuts them off the graph. In types of the tail kUnknownDim is a
// data-dependent dimension; type_known is false if even the rank is unknown.
struct HostTail {
  struct Output {
    bool of_tail = false;  // true: an output of the tail's graph; false: an output of the graph before it
    size_t index = 0;      // among that graph's outputs
  };
  Graph graph;                  // its inputs are outputs of the graph before it
  std::vector<size_t> reads;    // for each input of `graph`, the index of the output that it reads
  std::vector<Output> outputs;  // the model's outputs, in its order
};

// Returns the outputs of the model, in its order, the tail included.
std::vector<const Value*> model_outputs(const Graph& graph);

// Names a node in errors and reports: "Conv 'block1/conv'".
std::string describe(const Node& node);
// Returns the inputs of a node in the form that its shape rule takes.
std::vector<OperatorInput> operator_inputs(const Graph& graph, const Node& node);
// Call the operator's shape rule or host reference for a node of the graph. Errors name the node; the number
// of outputs and their types are checked.
std::vector<TensorType> infer(const Graph& graph, const Node& node);
std::vector<TensorType> infer_open(const Graph& graph, const Node& node);
std::vector<HostTensor> evaluate(const Node& node, std::span<const HostTensor* const> inputs);
// Checks ids, topological order, single assignment and names; throws Error(internal or corrupt_model).
void check(const Graph& graph);
// Throws Error(unsupported), which names the limit, if the graph with its branches exceeds graph.limits.
void check_limits(const Graph& graph);
// Throws Error(unsupported) if a tensor of this shape exceeds graph.limits.
void check_size(const Graph& graph, const Shape& shape);
// Formats one line for each node, with types: the output of `vellum inspect`.
std::string to_text(const Graph& graph);
// Runs the whole graph, its tail included, on the host reference. Inputs are in the order of graph.inputs,
// outputs in the order of the model.
std::vector<HostTensor> evaluate(const Graph& graph, std::span<const HostTensor> inputs);
// Runs the graph without its tail, and computes each node with `evaluate_node`.
using EvaluateNode =
    std::function<std::vector<HostTensor>(const Node& node, std::span<const HostTensor* const> inputs)>;
std::vector<HostTensor> evaluate(const Graph& graph, std::span<const HostTensor> inputs,
                                 const EvaluateNode& evaluate_node);

}  // namespace vellum
