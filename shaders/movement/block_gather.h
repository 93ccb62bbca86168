// Parameters of block_gather.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(BlockGatherParameters)
  int32 count;  // elements of y
  int32 rows;  // of the table
  int32 columns;
  int32 row_bytes;  // packed integers of a row
  int32 blocks;  // of a row
  int32 zero_bytes;  // packed zero points of a row
  int32 block;  // columns of a block
  int32 default_zero;  // without HAS_ZEROS: the zero point of all blocks
END_PARAMETERS
