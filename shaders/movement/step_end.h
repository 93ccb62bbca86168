// Parameters of step_end.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(StepEndParameters)
  int32 count;  // elements of `value`
  int32 first_flag;  // words of `control`: one flag for each element
  int32 first_workgroup_count;  // the counts of all dispatches, up to the end
  int32 words;  // in `control`
  int32 end_count;
  INTS(8) end_values;
END_PARAMETERS
