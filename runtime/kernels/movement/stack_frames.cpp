#include "graph/operators/movement/stack_frames.hpp"

#include "kernels/framework/elements.hpp"
#include "shaders/movement/stack_frames.h"

namespace vellum {

void lower_stack_frames(Lowering& lowering) {
  const StackFrames& op = lowering.op<StackFrames>();
  const Shape& shape = lowering.output_type().shape;
  const TensorId x = lowering.read(0, Layout::channels4), y = lowering.write(0, Layout::channels4);
  lowering.dispatch(make_dispatch("stack_frames", grid_of_texels(lowering.caps(), shape),
                                  {reads("x", x), writes("y", y)},
                                  StackFramesParameters{.x_shape = texel_shape(lowering.input_type(0).shape),
                                                        .y_shape = texel_shape(shape),
                                                        .frames = op.frames,
                                                        .output_frames = op.output_frames,
                                                        .stride = op.stride,
                                                        .dilation = op.dilation,
                                                        .padding = op.padding}));
}

}  // namespace vellum
