// The reductions, named after their ONNX operators, and Variance; REDUCTION names one of them.
//   term     maps an element to a term                  join    combines two terms
//   neutral  a term that changes no other in join       finish  maps the total of `count` terms to the result
// LogSumExp subtracts the maximum from the elements first (LOG_SUM_EXP), so that no exponential overflows.
//
// A long loop is reduced in two steps: TO_PARTS reduces the elements of each segment to a total, OF_PARTS reduces
// the totals to results. LogSumExp uses the same functions in both steps.

#ifdef OF_PARTS
#define TERM(v) (v)
#else
#define TERM CAT(term_, REDUCTION)
#endif
#ifdef TO_PARTS
#define FINISH(total, count) (total)
#else
#define FINISH CAT(finish_, REDUCTION)
#endif
#define JOIN CAT(join_, JOIN_NAME)
#define GATHER CAT(gather_, JOIN_NAME)
#define NEUTRAL CAT(neutral_, JOIN_NAME)

#define neutral_sum 0.0
#define neutral_prod 1.0
#define neutral_max (-INFINITY)
#define neutral_min INFINITY

// The mean of a quantised model (FixedMean in graph/operators/reduction/reduce.hpp): sums of integers are exact.
#ifdef FIXED_MEAN
#include "fixed_point.glsl"
vec4 term_FixedMean(vec4 x) { return roundEven(x / fixed_x_step); }
vec4 finish_FixedMean(vec4 total, float count) {
  return vec4(fixed_product(ivec4(total), ivec4(fixed_y), ivec4(fixed_shift))) * fixed_y_step;
}
#endif

vec4 term_ReduceSum(vec4 x) { return x; }
vec4 term_ReduceMean(vec4 x) { return x; }
vec4 term_ReduceMax(vec4 x) { return x; }
vec4 term_ReduceMin(vec4 x) { return x; }
vec4 term_ReduceProd(vec4 x) { return x; }
vec4 term_ReduceL1(vec4 x) { return abs(x); }
vec4 term_ReduceL2(vec4 x) { return x * x; }
vec4 term_ReduceSumSquare(vec4 x) { return x * x; }
vec4 term_Variance(vec4 x) { return x * x; }  // of centred elements
vec4 term_ReduceLogSum(vec4 x) { return x; }
vec4 term_ReduceLogSumExp(vec4 x) { return exp(x); }

vec4 finish_ReduceSum(vec4 total, float count) { return total; }
vec4 finish_ReduceMean(vec4 total, float count) { return mean_of(total, count); }
vec4 finish_ReduceMax(vec4 total, float count) { return total; }
vec4 finish_ReduceMin(vec4 total, float count) { return total; }
vec4 finish_ReduceProd(vec4 total, float count) { return total; }
vec4 finish_ReduceL1(vec4 total, float count) { return total; }
vec4 finish_ReduceL2(vec4 total, float count) { return sqrt(total); }
vec4 finish_ReduceSumSquare(vec4 total, float count) { return total; }
vec4 finish_Variance(vec4 total, float count) { return total / count; }
vec4 finish_ReduceLogSum(vec4 total, float count) { return logarithm(total); }
vec4 finish_ReduceLogSumExp(vec4 total, float count) { return log(total); }
