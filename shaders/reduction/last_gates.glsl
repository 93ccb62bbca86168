// Squeeze-and-excitation in the kernel that computes its input. Each workgroup stores the sums of its
// results; the last workgroup of an image to do so computes the gates from these sums (last_workgroup.glsl).
//
// Include it after the parameters hidden_params, gate_params, hidden_channels and counter, activation.glsl, and `int lane`.
// GATES: the gates' activation functions are HIDDEN and GATE.

#define gates_shape ivec4(1, 1, y_shape.zw)
TENSOR_OUT(gates)
TEXELS_IN(w1)
TEXELS_IN(w2)
// Sums that other workgroups write and the last one reads: [image][slice][workgroup].
layout(set = 0, binding = BINDING_means, std430) coherent buffer means_block { vec4 means_data[]; };

vec4 activate_hidden(vec4 v) {
  activation_constants = hidden_params;
  v = CAT(activation_, HIDDEN)(v);
#ifdef HIDDEN_SCALED
  v = hidden_params.z * v + hidden_params.w;
#endif
  return v;
}
#include "gates.glsl"
#include "last_workgroup.glsl"

void store_workgroup_mean(int workgroup, int slice_workgroups, int slice, int n, vec4 v) {
  means_data[(n * slices(y_shape.z) + slice) * slice_workgroups + workgroup] = v;
}

// Computes the gates of image n if this is the last of the image's `workgroups` workgroups, `slice_workgroups` of each slice.
// Call it after store_workgroup_mean(), in all invocations.
void store_gates_if_last(int slice_workgroups, int workgroups, int n) {
  if (!is_last_workgroup(counter + n, workgroups)) return;
  int rows = slices(y_shape.z);
  for (int row = lane; row < rows; row += WORKGROUP_X) {
    vec4 sum = vec4(0);
    for (int i = 0; i < slice_workgroups; ++i) sum += means_data[(n * rows + row) * slice_workgroups + i];
    values[row] = sum / float(slice_workgroups);
  }
  barrier();
  compute_hidden(rows);
  STORE_GATES(store_gates, rows, n)
}
