// Adds quantisation to a graph of floats.
#pragma once

#include <map>
#include <set>
#include <string>

#include "graph/graph.hpp"
#include "quantize/layers.hpp"
#include "quantize/range.hpp"

namespace vellum::quantization {

// The numbers that integers stand for, by value, and the layers without integers.
struct Assignment {
  std::map<ValueId, Parameters> parameters;  // of values of the float graph
  bool signed_activations = false;
  std::set<std::string> in_floats;                     // layers that stay in floats
  std::map<std::string, HostTensor> bias_corrections;  // by layer: added to its biases
};

// Returns the float graph with a QuantizeLinear and a DequantizeLinear after each rounded value, and weights
// and biases of layers as DequantizeLinear of integers. Values keep their numbers.
Graph quantized_graph(const Graph& floats, const Assignment& assignment);

// Returns the float graph with further outputs: for each layer that takes integers its result with integers,
// of inputs that no other layer has rounded. `outputs`: the layers' outputs in the float graph and these.
struct OwnErrors {
  Graph graph;
  std::vector<std::pair<ValueId, ValueId>> outputs;
};
OwnErrors own_errors_graph(const Graph& floats, const Assignment& assignment);

// Returns the graph with weights of `bits` bits alone. `four_bits`: constants that are to be written as int4.
Graph weights_only_graph(const Graph& floats, int bits, std::set<ValueId>& four_bits);

}  // namespace vellum::quantization
