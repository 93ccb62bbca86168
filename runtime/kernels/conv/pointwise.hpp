// Convolutions with windows of one pixel, and matrix products whose rows are pixels:
// shaders/conv/conv_pointwise.comp.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "kernels/conv/dispatch.hpp"
#include "kernels/conv/matrix.hpp"
#include "kernels/conv/problem.hpp"

namespace vellum {

// Returns the candidates for a convolution whose window is one pixel.
std::vector<KernelCandidate> pointwise_candidates(const ConvProblem& problem, const DeviceCaps& caps);

// A tile of conv_pointwise.comp, or of the kernels that multiply matrices in blocks.
using PointwiseTile = std::variant<InvocationTile, MatrixTile>;
// Returns the output slices of a block of weights.
int64_t slices_of(const PointwiseTile& tile);
// Returns whether the kernel reads weights in bytes.
bool reads_bytes(const PointwiseTile& tile);
// Returns whether the kernel multiplies bytes of its input by cooperative matrices.
bool multiplies_bytes(const PointwiseTile& tile);
// Returns whether a tile can read narrow_weights().
bool reads_narrow_weights(const PointwiseTile& tile);
// Returns the tiles that can read the weights: all if `narrow` is null.
using PointwiseCandidates = std::vector<ParameterCandidate<PointwiseTile>>;
PointwiseCandidates tiles_for(const ByteWeightsPointer& narrow, PointwiseCandidates tiles);
// Returns whether the kernel can accumulate a few products in fp16 (product_run.hpp).
bool accumulates_in_fp16(const PointwiseTile& tile);

// Returns the tiles for a product of pixels x inputs by inputs x outputs. `has_scale`: inputs are multiplied
// by the scale of their channel.
std::vector<ParameterCandidate<PointwiseTile>> pointwise_tiles(const std::string& algorithm,
                                                               const DeviceCaps& caps,
                                                               const MatrixProblem& problem,
                                                               bool has_scale = false);

// Returns whether one workgroup can compute all `pixels` of an image: at most 256 tiles, each with split_k
// invocations.
bool holds_all_pixels(const DeviceCaps& caps, const InvocationTile& tile, int64_t pixels);

// y = activation(x * weights + bias + residual), all in channels4, for each pixel of x. `values` gives the
// texels of `weights`.
void dispatch_pointwise(Lowering& lowering, TensorId x, TensorId y, const ConvWeights& weights,
                        const PointwiseTile& tile, const Activation& activation, WeightValues values,
                        const ConvExtras& extras = {});
// Calls dispatch_pointwise() with the best tile. The node's input `weights` has the weights, and the next
// input the bias.
void emit_best_pointwise(Lowering& lowering, const MatrixProblem& problem, TensorId x, TensorId y,
                         const Activation& activation, size_t weights, const ConvExtras& extras = {});

}  // namespace vellum
