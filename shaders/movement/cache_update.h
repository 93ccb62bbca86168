// Parameters of cache_update.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(CacheUpdateParameters)
  int32 batches;
  int32 outer;      // groups of rows of an image, such as its heads; each group has `capacity` tokens
  int32 capacity;   // tokens
  int32 tokens;     // of the update
  int32 token_rows; // rows of a token in a group
  int32 slices4;    // of a row: groups of four channels
END_PARAMETERS
