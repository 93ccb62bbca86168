// Parameters of store_image.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(StoreImageParameters)
  ivec4 steps;  // between elements of x: to the next column, row and channel; number of channels, 1 to 4
  ivec2 size;   // of the image, in pixels
END_PARAMETERS
