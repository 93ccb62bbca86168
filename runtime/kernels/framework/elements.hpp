// Helpers of kernels that move or map elements: layouts, grids, dispatches, constant operands.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "kernels/framework/grid.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

// Returns the position (0 to 3 in N, C, H, W) of an axis in channels4 layout; see nchw(). rank <= 4.
size_t channels4_slot(size_t rank, size_t axis);

// Returns the node's inputs in the form that Operator::infer() takes.
std::vector<OperatorInput> operator_inputs(const Lowering& lowering);
// Returns whether all inputs and outputs are floating point.
bool all_float(const Lowering& lowering);
// Returns whether input i is in channels4 layout, which elementwise kernels then keep.
bool is_in_channels4(const Lowering& lowering, size_t i);

// Returns ceil(elements / 4): the number of invocations of a kernel that computes four elements of a linear
// tensor each.
int64_t groups_of_four(const Shape& shape);
// Returns a grid with an invocation for each texel of a channels4 tensor, for shaders that include
// common/texel.glsl.
Grid grid_of_texels(const DeviceCaps& caps, const Shape& shape);

// Returns (W, H, C, N) of a shape: the value of <name>_shape for a channels4 tensor in shaders.
ivec4 texel_shape(const Shape& shape);

// Makes a dispatch of the shader shaders/*/<shader>.comp.
Dispatch make_dispatch(std::string shader, const Grid& grid, std::vector<Binding> bindings,
                       Parameters parameters);
// Make bindings. `name`: the tensor's name in the shader.
inline Binding reads(std::string name, TensorId tensor) {
  return {.tensor = tensor, .access = Access::read, .name = std::move(name)};
}
// Makes a binding of a tensor of I32 whose words are four bytes each, for BYTES_IN.
inline Binding reads_bytes(std::string name, TensorId tensor) {
  return {.tensor = tensor, .access = Access::read, .of_bytes = true, .name = std::move(name)};
}
// Makes a binding of a tensor of U8, for LINEAR_WORDS4_IN, or of Q8 that is read sixteen bytes at a time.
inline Binding reads_words4(std::string name, TensorId tensor) {
  return {.tensor = tensor, .access = Access::read, .of_words4 = true, .name = std::move(name)};
}
// Returns whether tiles of many values load sixteen bytes at a time, too. On lavapipe the load of a texel
// takes no branch for each lane, as loads of words of a storage buffer do, and a load of four words takes as
// long as one of a word. On SwiftShader, whose texels are sampled, products with 128 rows take 1.4 times as
// long so, and on GPUs the words would take registers from the tile.
bool loads_words4(const DeviceCaps& caps);
inline Binding writes(std::string name, TensorId tensor) {
  return {.tensor = tensor, .access = Access::write, .name = std::move(name)};
}
inline Binding reads_and_writes(std::string name, TensorId tensor) {
  return {.tensor = tensor, .access = Access::read_write, .name = std::move(name)};
}
// Makes a binding of a tensor that the kernel reads only at the positions that it writes, so that the output
// may alias the tensor.
inline Binding reads_in_place(std::string name, TensorId tensor) {
  return {.tensor = tensor, .same_position = true, .name = std::move(name)};
}
// Adds a macro of the shader.
void define(Dispatch& dispatch, std::string macro, std::string value = "1");
// Defines the macro INTEGER of shaders/common/element.glsl.
void define_element(Dispatch& dispatch, const VirtualTensor& tensor);

// Returns constant input i as a weight of `shape` (of equal element count), in fp32 in every precision. It is
// for small constants such as a bias, a scale or an epsilon, which fp16 would round or flush to zero.
TensorId exact_constant(Lowering& lowering, size_t i, Layout layout, Shape shape);
// Returns two rows of per-channel values as a texel grid of ceil(C / 4) x 2. Shaders read position (slice,
// row).
TensorId channel_pairs(Lowering& lowering, const std::string& name, std::vector<float> first,
                       std::vector<float> second);

// Return a linear workspace of 32-bit floats, or of integers.
TensorId float_workspace(Lowering& lowering, const std::string& name, Shape shape);
TensorId integer_workspace(Lowering& lowering, const std::string& name, Shape shape);
// Returns a linear weight of 32-bit floats.
TensorId float_weight(Lowering& lowering, const std::string& name, Shape shape, std::vector<float> values);

}  // namespace vellum
