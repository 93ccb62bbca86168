// Inserts QuantizeLinear and DequantizeLinear into a graph of floats.
#pragma once

#include <map>
#include <set>
#include <string>

#include "graph/graph.hpp"
#include "quantize/layers.hpp"
#include "quantize/range.hpp"

namespace vellum::quantization {

// Which values are quantised and with which parameters, and which layers are not.
struct Assignment {
  std::map<ValueId, Parameters> parameters;  // of values of the float graph
  bool signed_activations = false;
  std::set<std::string> in_floats;                     // layers that stay in floats
  std::map<std::string, HostTensor> bias_corrections;  // by layer: added to its biases
};

// Returns the float graph with a QuantizeLinear and a DequantizeLinear after each rounded value. Weights and
// biases of layers become DequantizeLinear of integers. Values of the float graph keep their ids.
Graph quantized_graph(const Graph& floats, const Assignment& assignment);

// The float graph with additional outputs, which show the error that each quantised layer causes by itself:
// the layer's result in integers, from inputs that were computed in floats and are rounded only for this
// layer.
struct LayerErrorGraph {
  Graph graph;
  std::vector<std::pair<ValueId, ValueId>> outputs;  // per layer: its output in floats, and quantised
};
LayerErrorGraph own_errors_graph(const Graph& floats, const Assignment& assignment);

// Returns the graph with weights of `bits` bits (8 or 4), and activations in floats. `four_bits` receives the
// constants that are to be written as int4.
Graph weights_only_graph(const Graph& floats, int bits, std::set<ValueId>& four_bits);

}  // namespace vellum::quantization
