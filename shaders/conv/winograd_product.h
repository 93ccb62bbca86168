// Parameters of winograd_product.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(WinogradProductParameters)
  ivec4 v_shape;
  ivec4 m_shape;
END_PARAMETERS
