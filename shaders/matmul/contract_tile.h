// Parameters of contract_tile.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(ContractTileParameters)
  int32 count;  // tiles
  // Four bytes: kept, rank, the index of the loop of the tile's columns (which advances only in b), and that of its rows (only
  // in a).
  int32 loops;
  int32 a_first;  // offset in a at which the summed loops begin
  int32 b_first;
  INTS(9) dims;            // the first `kept` are those of y, the others are summed
  INTS(9) a_strides;
  INTS(9) b_strides;
END_PARAMETERS
