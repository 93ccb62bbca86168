// Graphs of a TFLite file: the model's graph, and the graphs that its IF and WHILE operators call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "import/tflite/schema.hpp"

namespace vellum::tflite {

// Limits on nesting and operators. A graph is read once for each operator that calls it, so that a small file
// could otherwise expand to a very large graph.
inline constexpr uint32_t kDeepest = 16;
inline constexpr uint64_t kMostOperators = uint64_t{1} << 17;

struct Variable {
  std::optional<HostTensor> initial;  // as stored in the file; none: zeros
  bool is_assigned = false;           // whether the model assigns it
};
using Variables = std::map<std::string, Variable>;

// The data of buffers that are not in the file, by the index of the buffer.
using OutsideBuffers = std::vector<std::span<const std::byte>>;

// A file that is being read.
struct File {
  File(const schema::Model& read, std::span<const std::byte> content, OutsideBuffers outside_buffers = {});

  const schema::Model& model;
  std::span<const std::byte> bytes;     // the whole file: large models store their data after the flatbuffer
  const OutsideBuffers outside;         // of a graph that another runtime describes; none for a file
  Variables variables;                  // of the model's graph
  uint32_t depth = 0;                   // nesting of the graph that is being read; 1: the model's graph
  uint64_t operators = kMostOperators;  // number that may still be read
  bool has_integer_weights = false;     // Graph::has_integer_weights

  // Counts memory that is allocated for the file. A small file can expand to a large graph, because its
  // objects may be shared and a graph is read once for each operator that calls it. Throws Error(unsupported)
  // if the total is too large.
  void count(uint64_t elements, uint64_t bytes_each = 1);

 private:
  uint64_t room_;  // bytes that may still be counted
};

// The largest number of dimensions of a tensor.
inline constexpr size_t kMostDims = 8;

// Returns graph `index` of the model. Throws Error(corrupt_model) if there is none.
const schema::SubGraph& subgraph_at(const schema::Model& model, uint32_t index);
// Returns the number of a builtin operator; -1 if the file does not list it.
int32_t operator_number(const schema::Model& model, const schema::Operator& op);

// Make a node that computes a graph with these inputs: an If whose condition is the constant always(), which
// is true.
HostTensor always();
Node call_node(const std::string& name, const Graph& graph, ValueId condition,
               const std::vector<ValueId>& inputs, const std::vector<ValueId>& outputs);

// Reads a graph. signature: the signature of the model's graph; null without one, and for graphs that
// operators call.
Graph read_subgraph(File& file, uint32_t index, const schema::SignatureDef* signature = nullptr);

}  // namespace vellum::tflite
