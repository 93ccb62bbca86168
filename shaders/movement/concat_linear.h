// Parameters of concat_linear.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(ConcatLinearParameters)
  int32 rows;  // of x and of y
  int32 x_length;  // elements of a row of x
  int32 y_length;  // elements of a row of y
  int32 begin;  // the column of y where rows of x begin
  int32 first4;  // without ALIGNED: the first group of four elements of y that is visited
  int32 count4;  // groups of four elements of y that are visited
END_PARAMETERS
