// Parameters of recurrence.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(RecurrenceParameters)
  vec4 activation_params;  // (0, 0, 0, 0): the activations have no parameters
  int32 steps;       // of the whole sequence
  int32 first_step;  // first step of this dispatch, in the order of computation
  int32 end_step;
  int32 batches;
  int32 directions;
  int32 hidden;
  int32 y_step;       // distances in y in rows of `hidden` elements
  int32 y_direction;
  int32 y_batch;
  int32 first_reversed;  // 1: direction 0 begins at the end of the sequence
  float32 clip;  // with CLIP, the bound of the arguments of activations
  float32 cell_clip;  // with CELL_CLIP, the bound of the cells of an LSTM
END_PARAMETERS
