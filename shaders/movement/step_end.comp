// After a step of a loop (StepOptions::end_output): notes which elements of `value` have been end values, counts the step,
// and once all elements have been, sets the workgroup counts of all later dispatches to 0. One workgroup. The words of
// `control` are those of StepControl (runtime/kernels/movement/step_end.hpp).
#version 450
#extension GL_GOOGLE_include_directive : require

#include "step_end.h"
#include "tensor.glsl"

LINEAR_IN(value)
LINEAR_ATOMIC(control)

shared uint ended;

bool is_end(int v) {
  for (int i = 0; i < end_count; ++i)
    if (v == end_values[i]) return true;
  return false;
}

uint note_ends() {
  uint all = 1u;
  for (int i = 0; i < count; ++i) {
    if (is_end(load_value(i))) control_data[first_flag + i] = 1u;
    all &= control_data[first_flag + i];
  }
  return all;
}

void main() {
  if (gl_LocalInvocationIndex == 0) {
    if (control_data[1] == 0u) ++control_data[0];
    ended = note_ends();
    control_data[1] = ended;
  }
  barrier();
  if (ended == 0u) return;
  for (int i = first_workgroup_count + int(gl_LocalInvocationIndex); i < words; i += WORKGROUP_X) control_data[i] = 0u;
}
