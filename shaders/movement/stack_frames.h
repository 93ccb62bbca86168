// Parameters of stack_frames.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(StackFramesParameters)
  ivec4 x_shape;
  ivec4 y_shape;
  int32 frames;  // pictures of x for each image
  int32 output_frames;
  int32 stride;
  int32 dilation;
  int32 padding;
END_PARAMETERS
