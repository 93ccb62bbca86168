// Parameters of pad_linear.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(PadLinearParameters)
  int32 count;  // elements of y
  int32 rank;
  int32 mode;  // a PAD_ constant of pad.glsl
  float32 fill;
  int32 integer_fill;  // with INTEGER, instead of fill
  INTS(6) y_dims;  // the outermost first
  INTS(6) x_dims;
  INTS(6) begin;  // position of x in y
END_PARAMETERS
