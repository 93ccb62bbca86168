// Parameters of rotate_channels.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(RotateChannelsParameters)
  ivec4 strides;  // of x: (batch, head, token, channel)
  int32 count4;  // groups of four channels of y
  int32 heads;
  int32 tokens;
  int32 channels4;  // groups of four channels of a head
  int32 base;  // position in x of the first element
  int32 head_step;  // from one head to the next in the table, in groups of four
  int32 token_step;
  int32 sines;  // where the sines begin in the table, in groups of four; the cosines begin at 0
END_PARAMETERS
