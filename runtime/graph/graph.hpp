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
  // TensorInfo::signature_name and initial_value, of inputs and outputs of an imported graph.
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
  uint64_t bytes = 0;           // of folded constants that are still there
  uint64_t unrolled_nodes = 0;  // of the iterations of Loops, and of branches that were chosen
  // Bytes of the file's own constants, counted when folding begins.
  std::optional<uint64_t> file_bytes;
};

struct Graph {
  std::vector<Value> values;
  std::vector<Node> nodes;  // topologically ordered
  // An input that is a constant has values that are known before running: they decide shapes, or are none.
  std::vector<ValueId> inputs, outputs;
  std::string name;
  std::vector<std::string> signatures;  // Model::signatures()
  LoadLimits limits;
  FoldingSpent folding;
  // The part that runs on the host after the rest, because shapes in it are data-dependent; null if there is
  // none. With a tail, `outputs` are the model's outputs before the tail, and the values that the tail reads.
  std::shared_ptr<const HostTail> tail;

  ValueId add_value(std::string value_name, TensorType type = {}, bool type_known = false);
  ValueId add_constant(std::string value_name, HostTensor tensor);
  std::optional<ValueId> find_value(std::string_view value_name) const;
  const HostTensor* constant(ValueId id) const;
};

// The operators with data-dependent shapes (NonMaxSuppression, NonZero, ...) and their readers, cut off the
// graph by infer_shapes_and_fold(). In its types kUnknownDim is a data-dependent dimension; type_known is
// false if not even the number of dimensions is known.
struct HostTail {
  struct Output {
    bool of_tail = false;  // an output of the tail's graph; otherwise of the graph before it
    size_t index = 0;      // among that graph's outputs
  };
  Graph graph;                  // its inputs are outputs of the graph before it
  std::vector<size_t> reads;    // for each input of `graph` the index of that output
  std::vector<Output> outputs;  // those of the model, in its order
};

// Returns the outputs of the model, in its order, the tail included.
std::vector<const Value*> model_outputs(const Graph& graph);

// Names a node in errors and reports: "Conv 'block1/conv'".
std::string describe(const Node& node);
// Returns the inputs of a node as its shape rule needs them.
std::vector<OperatorInput> operator_inputs(const Graph& graph, const Node& node);
// Call the operator's shape rule or host reference for a node of the graph. Errors name the node; the number
// of outputs and their types are checked.
std::vector<TensorType> infer(const Graph& graph, const Node& node);
std::vector<TensorType> infer_open(const Graph& graph, const Node& node);
std::vector<HostTensor> evaluate(const Node& node, std::span<const HostTensor* const> inputs);
// Checks ids, topological order, single assignment and names; throws Error(internal or corrupt_model).
void check(const Graph& graph);
// Throws Error(unsupported) that names the limit where the graph, with its branches, exceeds graph.limits.
void check_limits(const Graph& graph);
// Does so for a tensor of this shape.
void check_size(const Graph& graph, const Shape& shape);
// Formats one line for each node, with types: the output of `vellum inspect`.
std::string to_text(const Graph& graph);
// Runs the whole graph, its tail included, on the host reference. Inputs in the order of graph.inputs;
// outputs in the model's.
std::vector<HostTensor> evaluate(const Graph& graph, std::span<const HostTensor> inputs);
// Does so with a function that computes each node, without those of the tail.
using EvaluateNode =
    std::function<std::vector<HostTensor>(const Node& node, std::span<const HostTensor* const> inputs)>;
std::vector<HostTensor> evaluate(const Graph& graph, std::span<const HostTensor> inputs,
                                 const EvaluateNode& evaluate_node);

}  // namespace vellum
