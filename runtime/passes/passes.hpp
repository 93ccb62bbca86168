// Graph to graph. Each pass is one function in the file of its name. Names of graph inputs and outputs stay,
// and what the graph computes stays the same, up to rounding. All but the first expect that every shape is
// known.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace vellum {

// Shapes of graph inputs by name, for those whose dims the model leaves open. The first dimension, the batch,
// may also differ from the one that the model names; an open first dimension without a shape here is 1.
using InputShapes = std::map<std::string, Shape>;

// Binds the input shapes, infers every shape, and evaluates nodes whose inputs are all constant. A graph
// output that turns out constant has no node any more. Throws Error naming the node whose shape rule failed,
// or the input whose shape is missing or does not fit.
void infer_shapes_and_fold(Graph& graph, const InputShapes& shapes);

// Whether the shapes are for inputs of the model and agree with what it says of them; throws
// Error(invalid_argument) as the function above does.
void check_input_shapes(const Graph& graph, const InputShapes& shapes);

// Operators without a kernel of their own, and forms of others that theirs does not take, into those that
// have one (the rules are in passes/decompose_*.cpp).
void decompose(Graph& graph);

void fold_batch_norm(Graph& graph);  // BatchNormalization after Conv/ConvTranspose/Gemm into weights and bias
void fold_scale(Graph& graph);       // Mul or Div by a per-channel constant after one of these, likewise
void fuse_bias(Graph& graph);        // Add or Sub of a per-channel constant after one of these, likewise
void fuse_transposes(Graph& graph);  // Transpose of the last two dimensions into a MatMul beside it
void fuse_residual(Graph& graph);    // Add of a tensor to a Conv's or Gemm's result into it
void fuse_activations(
    Graph& graph);  // activation into its producer, where the producer can (with_activation)
void fuse_squeeze_excite(
    Graph& graph);  // the means of each channel and two 1x1 Conv of them, where they are to gate it
void fuse_channel_scale(
    Graph& graph);  // Mul of a tensor with a computed factor for each channel into the 1x1 Conv that reads it
void fuse_activation_patterns(
    Graph& graph);            // SiLU, HardSwish and Gelu that are spelt out: one operator each
void fuse_pad(Graph& graph);  // Pad with zeros before a Conv into the Conv's pads
void concat_zeros_to_pad(
    Graph& graph);  // Concat of a tensor with constant zeros: a Pad, which stores no zeros
void fuse_channel_shuffle(
    Graph& graph);  // channels that reshapes and a transposition shuffle: one operator, PickChannels
void nest_concats(
    Graph& graph);  // Concat that starts with all that another one joins: of that one's result and the rest
void move_transposes(
    Graph& graph);  // operators on N, H, W, C between transpositions into operators on N, C, H, W
void merge_reshapes(
    Graph& graph);  // Reshape after Reshape, Transpose after Transpose; Transpose that moves nothing
void remove_identities(
    Graph& graph);  // Identity, Dropout, no-op Cast/Transpose/Reshape/Pad/Slice/Resize, x + 0, x * 1
void share_constants(Graph& graph);   // constants that are equal become one
void remove_dead_code(Graph& graph);  // nodes and values that reach no output

// All of the above in the right order: what a session runs. Passes that `disabled` names are left out; all
// can be but infer_shapes_and_fold. Throws Error(invalid_argument) for a name that is none of pass_names().
Graph optimise(Graph graph, const InputShapes& shapes, std::span<const std::string> disabled = {});
std::vector<std::string> pass_names();
void check_pass_names(std::span<const std::string> names);

}  // namespace vellum
