// Parameters of concat_linear.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(ConcatLinearParameters)
  // Columns of y: where each of x0 to x3 and of x4 to x7 ends, and where x0 begins.
  ivec4 ends;
  ivec4 further_ends;
  int32 begin;
  int32 rows;
  int32 y_length;  // elements of a row of y
  int32 first4;  // without ALIGNED: the first group of four elements of y that is visited
  int32 count4;  // groups of four elements of y that are visited
END_PARAMETERS
