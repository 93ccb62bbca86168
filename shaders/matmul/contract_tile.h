// Parameters of contract_tile.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(ContractTileParameters)
  int32 count;  // tiles
  // Four bytes: kept, rank, and the loops of the tile's columns (of b alone) and rows (of a alone).
  int32 loops;
  int32 a_first;  // of the summed loops
  int32 b_first;
  INTS(9) dims;            // the first `kept` are those of y, the others are summed
  INTS(9) a_strides;
  INTS(9) b_strides;
END_PARAMETERS
