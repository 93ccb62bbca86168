// Which layers of a graph of floats get integers, and which values are rounded to them.
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
// Returns whether integers suit the node: layers with weights, and sums, products, concatenations and means
// of computed tensors.
bool takes_integers(const Graph& graph, const Node& node);
// Returns whether every element of the output is one of input 0, so that both have the same parameters.
bool keeps_values(const Graph& graph, const Node& node);

// The values that are rounded to integers: what nodes that take integers read. `in_floats`: names of layers
// that stay in floats.
struct RoundedValues {
  std::set<ValueId> values;
  // The value whose parameters a rounded value has: itself, or the one that it is made of.
  std::vector<ValueId> parameters_of;
};
RoundedValues rounded_values(const Graph& graph, const std::set<std::string>& in_floats);

}  // namespace vellum::quantization
