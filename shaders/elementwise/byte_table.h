// Parameters of byte_table.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(ByteTableParameters)
  ivec4 y_shape;
  int32 count4;  // LINEAR_LAYOUT: groups of four elements
  int32 last;  // entry of the table
  int32 first;  // entry 0 is the value of an element first * x_step
  float32 x_step;
END_PARAMETERS
