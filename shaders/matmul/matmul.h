// Parameters of matmul.comp, matmul_any.comp and matmul_cooperative.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(MatmulParameters)
  vec4 activation_params;
  ivec4 batch;  // the batch dimensions, innermost last
  ivec4 a_batch_strides;  // in elements, or in texels if rows are whole texels; 0: broadcast
  ivec4 b_batch_strides;
  int32 y_rows;
  int32 y_columns;
  int32 depth;  // columns of A, rows of B
  int32 matrices;  // of the batch
  int32 a_row_stride;  // matmul_any: in elements; transposing a matrix exchanges its two strides
  int32 a_column_stride;
  int32 b_row_stride;
  int32 b_column_stride;
  int32 c_row_stride;  // in elements; 0: broadcast
  int32 c_column_stride;
  float32 alpha;
  float32 beta;
END_PARAMETERS
