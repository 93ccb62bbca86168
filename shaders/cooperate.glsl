// Loops that one invocation runs alone, or, with COOPERATIVE, a workgroup runs together: each invocation starts at
// FIRST_LANE and goes on by LANES, and gather_*() puts the partial results together for all of them.
// Every invocation of a workgroup must reach each gather.

#ifdef COOPERATIVE

#define FIRST_LANE int(gl_LocalInvocationID.x)
#define LANES WORKGROUP_X

// Which of the results this invocation or workgroup makes; there may be more of them than results.
int result_index() { return int(gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x); }

shared vec4 partial_results[WORKGROUP_X];

#define GATHER_FN_(name, join)                                                        \
  vec4 name(vec4 v) {                                                                 \
    int lane = FIRST_LANE;                                                            \
    partial_results[lane] = v;                                                        \
    barrier();                                                                        \
    for (int n = WORKGROUP_X / 2; n > 0; n /= 2) {                                    \
      if (lane < n) partial_results[lane] = join(partial_results[lane], partial_results[lane + n]); \
      barrier();                                                                      \
    }                                                                                 \
    v = partial_results[0];                                                           \
    barrier();                                                                        \
    return v;                                                                         \
  }

#else

#define FIRST_LANE 0
#define LANES 1

int result_index() { return flat_index(); }
#define GATHER_FN_(name, join) \
  vec4 name(vec4 v) { return v; }

#endif

#define INFINITY uintBitsToFloat(0x7f800000u)

// A NaN on either side is the result.
vec4 join_max(vec4 a, vec4 b) { return mix(mix(b, a, greaterThan(a, b)), a, isnan(a)); }
vec4 join_min(vec4 a, vec4 b) { return mix(mix(b, a, lessThan(a, b)), a, isnan(a)); }
vec4 join_sum(vec4 a, vec4 b) { return a + b; }
vec4 join_prod(vec4 a, vec4 b) { return a * b; }

GATHER_FN_(gather_max, join_max)
GATHER_FN_(gather_min, join_min)
GATHER_FN_(gather_sum, join_sum)
GATHER_FN_(gather_prod, join_prod)
