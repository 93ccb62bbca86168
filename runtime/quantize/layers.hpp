// Decides which layers of a graph of floats are quantised, and which values are rounded to integers.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "passes/passes.hpp"

namespace vellum::quantization {

// Prepares an imported graph: known shapes, constants folded into layers, operators that ONNX has.
Graph float_graph(const Graph& imported, const InputShapes& shapes);

// A layer with weights: Conv, ConvTranspose, Gemm or a MatMul with a constant.
bool has_weights(const Graph& graph, const Node& node);
// The axis of the weights along which each output channel has its own scale.
size_t channel_axis(const Node& node);
// The dimension of the output that counts its channels.
size_t output_channel_axis(const Graph& graph, const Node& node);

// Returns the name of a layer in reports: that of its output.
std::string layer_name(const Graph& graph, const Node& node);
// Returns whether the node can be quantised: layers with weights, and sums, products, concatenations and
// means of computed tensors.
bool takes_integers(const Graph& graph, const Node& node);
// Returns whether every element of the output is an element of input 0, so that both have the same
// parameters.
bool keeps_values(const Graph& graph, const Node& node);

// The values that are rounded to integers: the inputs of nodes that takes_integers() accepts. `in_floats`:
// names of layers that stay in floats.
struct RoundedValues {
  std::set<ValueId> values;
  // Per value: the value whose parameters it has. That is the value itself, or the one whose elements it
  // copies.
  std::vector<ValueId> parameters_of;
};
RoundedValues rounded_values(const Graph& graph, const std::set<std::string>& in_floats);

}  // namespace vellum::quantization
