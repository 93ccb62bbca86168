// Passes: graph to graph. Each pass is a function in the file of its name, in a folder of passes/. Passes
// keep the names of graph inputs and outputs, and results up to rounding. All passes except
// infer_shapes_and_fold() need known shapes.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace vellum {

// Shapes of graph inputs by name, for inputs whose dimensions the model leaves open. The first dimension, the
// batch, may differ from the one in the model; it is 1 where the model leaves it open and no shape is given.
using InputShapes = std::map<std::string, Shape>;
// Values of graph inputs by name, for inputs that decide shapes (find_shape_inputs()).
using InputTensors = std::map<std::string, HostTensor>;

// Runs all passes in order, except those in `disabled` (names of pass_names()). Throws
// Error(invalid_argument) for an unknown name.
Graph optimise(Graph graph, const InputShapes& shapes, std::span<const std::string> disabled = {},
               const InputTensors& values = {});
std::vector<std::string> pass_names();
void check_pass_names(std::span<const std::string> names);

// Applies the input shapes, infers every shape, and evaluates nodes whose inputs are all constant. Inputs
// with values, and inputs without elements, become constants but remain inputs. A constant graph output has
// no node. Throws Error, which names the node whose shape rule failed, or the input whose shape or values are
// missing or do not fit. `matrices`: whether those that a DequantizeLinear makes of constants become
// constants, too.
enum class DequantizedMatrices : uint8_t { fold, keep };
void infer_shapes_and_fold(Graph& graph, const InputShapes& shapes, const InputTensors& values = {},
                           DequantizedMatrices matrices = DequantizedMatrices::fold);
// Throws Error(invalid_argument) for a shape of an unknown input, and for a shape that contradicts the model.
void check_input_shapes(const Graph& graph, const InputShapes& shapes);

// decompose: replaces operators, or forms of them, that have no kernel by others.
void decompose(Graph& graph);

// simplify: removes nodes and constants.
void remove_identities(Graph& graph);    // operators that change nothing, such as Identity, x + 0, x * 1
void widen_halves(Graph& graph);         // values of halves become float32, without Casts between the two
void fold_constant_norms(Graph& graph);  // LayerNormalization of single elements, whose result is the bias
void merge_reshapes(Graph& graph);       // Reshape after Reshape, Transpose after Transpose become one
void concat_zeros_to_pad(Graph& graph);  // Concat with constant zeros becomes Pad, which stores no zeros
void scatter_to_concat(Graph& graph);    // Concat of the rows that a chain of ScatterND writes
void nest_concats(Graph& graph);         // Concat whose first inputs are another Concat's reads its result
void share_constants(Graph& graph);      // equal constants become one
void remove_dead_code(Graph& graph);     // removes nodes and values that reach no output

// patterns: replaces several operators that compute a known function by one.
void fuse_activation_patterns(Graph& graph);  // SiLU, HardSigmoid, HardSwish, Gelu
void gather_one_hot(Graph& graph);            // Gather: products of one-hot rows and a constant matrix
void fuse_slice_sums(Graph& graph);           // ReduceSum of all slices that are added
void fuse_adaptive_pool(Graph& graph);        // AdaptiveAveragePool: means of windows that differ in size
void fuse_layer_norm(Graph& graph);           // LayerNormalization
void fuse_group_norm(Graph& graph);           // GroupNormalization: InstanceNormalization of reshaped groups
void fuse_length_norm(Graph& graph);          // RMSNormalization: rows divided by their L2 norm
void fuse_softmax(Graph& graph);              // Softmax
void fuse_rotation(Graph& graph);             // RotateChannels: rotary positions in any form
void fuse_attention(Graph& graph);            // Attention, with the views of heads around it
void fuse_attention_norms(Graph& graph);      // normalisations of queries and keys become Attention's
void fuse_causal_masks(Graph& graph);         // masks of Attention that are an order of tokens become its own
void fuse_channel_shuffle(Graph& graph);      // PickChannels: channels that Reshapes and Transposes shuffle
void fuse_squeeze_excite(Graph& graph);       // SqueezeExcite: means of channels and two 1x1 Conv of them

// layout: changes operators that move elements.
void move_transposes(Graph& graph);       // operators on N, H, W, C between Transposes compute in N, C, H, W
void transpose_pictures(Graph& graph);    // Transpose between tokens and pictures becomes one of a picture
void normalize_pictures(Graph& graph);    // LayerNormalization of tokens becomes one of the picture before
void volumes_to_frames(Graph& graph);     // layers of volumes become layers of pictures, frame by frame
void columns_to_sequences(Graph& graph);  // layers of pictures of one column become layers of sequences
void gather_rows(Graph& graph);           // rows of tokens that several operators rearrange become one Gather
void merge_moves(Graph& graph);           // chains of Transpose, Slice and Split become one AsStrided
void split_products(Graph& graph);        // MatMul whose columns are split becomes a MatMul for each part
void multiply_from_left(Graph& graph);    // MatMul between two Transposes becomes Gemm without them
void matmul_to_gemm(Graph& graph);        // MatMul with a constant matrix, bias and activation become a Gemm
void tokens_to_matrices(Graph& graph);    // operators on the rows of a Gemm read and compute matrices
void rotate_in_matrices(Graph& graph);    // RotateChannels of Q and K compute matrices that attention reads

// fuse: an operator becomes part of the operator before or after it.
void fuse_packed_weights(Graph& graph);  // products and tables read constant integers of 4 or 8 bits
void fuse_quantization(Graph& graph);    // QuantizeLinear and DequantizeLinear become FakeQuantize of floats
void fuse_dynamic_quantization(Graph& graph);  // layers whose input is quantised at run time
void fuse_pad(Graph& graph);                   // Pad of zeros into the Conv after it
void fuse_transposes(Graph& graph);        // Transpose into the MatMul beside it or the Recurrence before it
void scale_products(Graph& graph);         // factors of MatMuls of computed matrices become a part of them
void fold_batch_norm(Graph& graph);        // BatchNormalization into weights and bias of a Conv or Gemm
void fold_scale(Graph& graph);             // Mul or Div by constants per channel into weights and bias
void merge_convolutions(Graph& graph);     // sums of convolutions of one tensor become one
void merge_depthwise_banks(Graph& graph);  // depthwise convolutions of all parts of a tensor become one
void fuse_bias(Graph& graph);              // Add or Sub of constants per channel into the bias
void fuse_residual(Graph& graph);          // Add of a tensor into the Conv or Gemm before it
void fuse_activations(Graph& graph);       // activations into their producer (Operator::with_activation)
void factor_residual_scale(Graph& graph);  // x + x * s of each channel before a 1x1 Conv becomes x * (s + 1)
void fuse_channel_scale(Graph& graph);     // Mul by computed factors per channel into the 1x1 Conv after it

}  // namespace vellum
