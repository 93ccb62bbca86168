// Loops whose iterations a single invocation runs, with COOPERATIVE a workgroup, or with BY_SUBGROUPS a
// subgroup. Each invocation starts at FIRST_LANE and advances by LANES. gather_*() reduces the partial
// results of these invocations and returns the result to each. All invocations of a workgroup must call it.
//
// With SUBGROUP partial results are reduced by subgroup arithmetic within a subgroup (include subgroup_arithmetic.glsl
// first), and through shared memory across subgroups.

#include "inf_nan.glsl"

#define INFINITY uintBitsToFloat(0x7f800000u)

// If either operand is NaN, the result is NaN.
vec4 join_max(vec4 a, vec4 b) { return mix(mix(b, a, greaterThan(a, b)), a, is_nan(a)); }
vec4 join_min(vec4 a, vec4 b) { return mix(mix(b, a, lessThan(a, b)), a, is_nan(a)); }
vec4 join_sum(vec4 a, vec4 b) { return a + b; }
vec4 join_prod(vec4 a, vec4 b) { return a * b; }

#ifdef SUBGROUP
// SPIR-V leaves subgroupMax() and subgroupMin() of a NaN undefined (OpGroupNonUniformFMax).
vec4 with_nans_of(vec4 v, vec4 all) {
  return mix(all, vec4(QUIET_NAN), notEqual(subgroupOr(uvec4(is_nan(v))), uvec4(0)));
}
vec4 subgroup_max(vec4 v) { return with_nans_of(v, subgroupMax(mix(v, vec4(-INFINITY), is_nan(v)))); }
vec4 subgroup_min(vec4 v) { return with_nans_of(v, subgroupMin(mix(v, vec4(INFINITY), is_nan(v)))); }
vec4 subgroup_sum(vec4 v) { return subgroupAdd(v); }
vec4 subgroup_prod(vec4 v) { return subgroupMul(v); }
#endif

#if defined(BY_SUBGROUPS)

#define FIRST_LANE int(gl_SubgroupInvocationID)
#define LANES SUBGROUP

// Returns the index of the result that this invocation, subgroup or workgroup computes. It may exceed the
// last result.
int result_index() {
  return int((gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * (WORKGROUP_X / SUBGROUP) + gl_SubgroupID);
}
#define GATHER_FN_(name) \
  vec4 gather_##name(vec4 v) { return subgroup_##name(v); }

#elif defined(COOPERATIVE)

#define FIRST_LANE int(gl_LocalInvocationID.x)
#define LANES WORKGROUP_X

int result_index() { return int(gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x); }

#ifdef SUBGROUP
shared vec4 partial_results[WORKGROUP_X / SUBGROUP];

#define GATHER_FN_(name)                                                                                     \
  vec4 gather_##name(vec4 v) {                                                                               \
    v = subgroup_##name(v);                                                                                  \
    if (gl_SubgroupInvocationID == 0) partial_results[gl_SubgroupID] = v;                                    \
    barrier();                                                                                               \
    v = partial_results[0];                                                                                  \
    for (int n = 1; n < WORKGROUP_X / SUBGROUP; ++n) v = join_##name(v, partial_results[n]);                 \
    barrier();                                                                                               \
    return v;                                                                                                \
  }
#else
shared vec4 partial_results[WORKGROUP_X];

#define GATHER_FN_(name)                                                                                      \
  vec4 gather_##name(vec4 v) {                                                                                \
    int lane = FIRST_LANE;                                                                                    \
    partial_results[lane] = v;                                                                                \
    barrier();                                                                                                \
    for (int n = WORKGROUP_X / 2; n > 0; n /= 2) {                                                            \
      if (lane < n) partial_results[lane] = join_##name(partial_results[lane], partial_results[lane + n]);    \
      barrier();                                                                                              \
    }                                                                                                         \
    v = partial_results[0];                                                                                   \
    barrier();                                                                                                \
    return v;                                                                                                 \
  }
#endif

#else

#define FIRST_LANE 0
#define LANES 1

int result_index() { return flat_index(); }
#define GATHER_FN_(name) \
  vec4 gather_##name(vec4 v) { return v; }

#endif

GATHER_FN_(max)
GATHER_FN_(min)
GATHER_FN_(sum)
GATHER_FN_(prod)
