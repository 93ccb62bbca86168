// Graph to graph. Each pass is one function in the file of its name.
#pragma once

#include <map>
#include <string>

#include "graph/graph.hpp"

namespace vellum {

// Shapes of graph inputs by name, for those whose dims the model leaves open (or to override, e.g. the
// batch).
using InputShapes = std::map<std::string, Shape>;

// Binds the input shapes, infers every shape, and evaluates nodes whose inputs are all constant.
// Throws Error naming the node whose shape rule failed, or the input whose shape is missing.
void infer_shapes_and_fold(Graph& graph, const InputShapes& shapes);
void fold_batch_norm(Graph& graph);  // BatchNormalization after Conv/ConvTranspose/Gemm into weights and bias
void fuse_bias(Graph& graph);        // Add of a per-channel constant after a Conv without other users
void fuse_activations(
    Graph& graph);  // activation into its producer, where the producer can (with_activation)
void remove_identities(Graph& graph);  // Identity, Dropout, no-op Cast/Transpose/Reshape/Pad/Slice/Resize
void remove_dead_code(Graph& graph);   // nodes and values that reach no output

// All of the above in the right order: what a session runs.
Graph optimise(Graph graph, const InputShapes& shapes);

}  // namespace vellum
