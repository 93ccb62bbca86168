// Parameters of block_product.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(BlockProductParameters)
  vec4 activation_params;
  int32 y_rows;
  int32 y_columns;
  int32 depth;  // columns of A, rows of the weights
  int32 column_words;  // 32-bit words of a column of the weights
  int32 blocks;  // of a column
  int32 units;  // units of a column that A multiplies
  int32 block_shift;  // log2 of the units in a block
  int32 zero_bytes;  // packed zero points of a column
END_PARAMETERS
