// The sequential part of an RNN, GRU or LSTM; x holds the products of its inputs and weights, which are computed before
// (runtime/graph/operators/matmul/recurrence.hpp). https://onnx.ai/onnx/operators/onnx__LSTM.html,
// onnx__GRU.html, onnx__RNN.html
//
// A workgroup processes the sequence of one batch in one direction. It keeps the state in shared memory of
// UNITS floats: the hidden units, padded with zeros to a multiple of four. An invocation computes every
// WORKGROUP_X-th unit, UNITS_AT_ONCE of them together, which multiply the same elements of the state. A dispatch computes the steps from first_step to end_step, and begins with the last
// state of the previous dispatch. CELL_RNN, CELL_GRU or CELL_LSTM; F, G and H are the names of the
// activations.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "recurrence.h"
#include "tensor.glsl"
#define ACTIVATION none
#include "activation.glsl"

#ifndef UNITS_AT_ONCE
#define UNITS_AT_ONCE 1
#endif
#if defined(CELL_LSTM)
#define GATES 4
#elif defined(CELL_GRU)
#define GATES 3
#else
#define GATES 1
#endif

LINEAR_IN(x)
TEXELS_IN(r)  // at (row of R, direction, four columns): four elements of the row
#ifdef BYTE_WEIGHTS
WORDS_OF_TEXELS(r)  // after the columns of a direction: the scale of the row
#define ROWS_OF_DIRECTION (UNITS / 4 + 1)
#else
#define ROWS_OF_DIRECTION (UNITS / 4)
#endif
#ifdef CANDIDATE_BIAS
LINEAR_IN(candidate_bias)
#endif
#ifdef LENGTHS
LINEAR_IN(lengths)
#endif
#ifdef INITIAL_H
LINEAR_IN(initial_h)
#endif
#ifdef INITIAL_C
LINEAR_IN(initial_c)
#endif
#ifdef PEEPHOLES
LINEAR_IN(peepholes)
#endif
SCALARS_OUT(y)
#ifdef STATE
SCALARS_OUT(y_h)
#endif
#ifdef CELL
SCALARS_OUT(y_c)
#endif

shared float state[UNITS];
shared float next_state[UNITS];
#ifdef CELL_LSTM
shared float cell[UNITS];
#endif
#ifdef CELL_GRU
shared float update_gate[UNITS];
shared float gated[UNITS];  // state times gate r
#endif

int lane = int(gl_LocalInvocationID.x);
int row_of_x;  // the first element of x at this step
int first_row;  // the first row of texels of this direction

vec4 bounded(vec4 v) {
#ifdef CLIP
  return clamp(v, vec4(-clip), vec4(clip));
#else
  return v;
#endif
}
vec4 call_f(vec4 v) { return CAT(activation_, F)(bounded(v)); }
#ifndef CELL_RNN
float call_g(float v) { return CAT(activation_, G)(bounded(vec4(v))).x; }
#endif

vec4 four_of_state(int k) { return vec4(state[4 * k], state[4 * k + 1], state[4 * k + 2], state[4 * k + 3]); }

float weights(int gate, int unit, int k, vec4 four) {
  return dot(load_r(gate * hidden + unit, first_row + k, GATES * hidden), four);
}

// The products of the gates' weights and the state, for up to four gates of each unit.
vec4 sums[UNITS_AT_ONCE];

// Unit u of those that begin with `first`. Those beyond the last unit compute what the last one does.
int unit_of(int first, int u) { return min(first + u * WORKGROUP_X, hidden - 1); }

// Returns sums[u], where u is the counter of a loop that is not unrolled.
vec4 bare_sums_of(int u) {
  vec4 found = sums[0];
  [[unroll]] for (int t = 1; t < UNITS_AT_ONCE; ++t) found = u == t ? sums[t] : found;
  return found;
}

#ifdef BYTE_WEIGHTS
float scale_of(int gate, int unit) {
  return uintBitsToFloat(load_word_r(gate * hidden + unit, first_row + UNITS / 4, GATES * hidden));
}
// The sums of gate 0 to GATES - 1 in x to w.
vec4 sums_of(int u, int unit) {
  vec4 scales = vec4(0);
  [[unroll]] for (int gate = 0; gate < GATES; ++gate) scales[gate] = scale_of(gate, unit);
  return bare_sums_of(u) * scales;
}
// The sum of one gate, in x.
float sum_of(int u, int gate, int unit) { return bare_sums_of(u).x * scale_of(gate, unit); }
#else
vec4 sums_of(int u, int unit) { return bare_sums_of(u); }
float sum_of(int u, int gate, int unit) { return bare_sums_of(u).x; }
#endif

void multiply_state(int first) {
  [[unroll]] for (int u = 0; u < UNITS_AT_ONCE; ++u) sums[u] = vec4(0);
  for (int k = 0; k < UNITS / 4; ++k) {
    vec4 four = four_of_state(k);
    [[unroll]] for (int u = 0; u < UNITS_AT_ONCE; ++u) {
      int unit = unit_of(first, u);
      sums[u].x += weights(0, unit, k, four);
#ifndef CELL_RNN
      sums[u].y += weights(1, unit, k, four);
#endif
#if defined(CELL_LSTM) || defined(LINEAR_BEFORE_RESET)
      sums[u].z += weights(2, unit, k, four);
#endif
#ifdef CELL_LSTM
      sums[u].w += weights(3, unit, k, four);
#endif
    }
  }
}

// Loops over the first of units that an invocation computes together, and over the units of one step of it.
#define FOR_UNITS_TOGETHER(first) for (int first = lane; first < hidden; first += UNITS_AT_ONCE * WORKGROUP_X)
#define FOR_UNITS_FROM(first, u, j) \
  for (int u = 0, j = first; u < UNITS_AT_ONCE && j < hidden; ++u, j += WORKGROUP_X)

float of_x(int gate, int unit) { return load_x(row_of_x + gate * hidden + unit); }

#if defined(CELL_RNN)

void take_step(int direction) {
  FOR_UNITS_TOGETHER(first) {
    multiply_state(first);
    FOR_UNITS_FROM(first, u, j) next_state[j] = call_f(vec4(of_x(0, j) + sums_of(u, j).x)).x;
  }
}

#elif defined(CELL_GRU)

float bias_of_candidate(int direction, int unit) {
#ifdef CANDIDATE_BIAS
  return load_candidate_bias(direction * hidden + unit);
#else
  return 0.0;
#endif
}

#ifndef LINEAR_BEFORE_RESET
// The products of the candidate's weights and the gated state become the x of sums.
void multiply_gated(int first) {
  [[unroll]] for (int u = 0; u < UNITS_AT_ONCE; ++u) sums[u] = vec4(0);
  for (int k = 0; k < UNITS / 4; ++k) {
    vec4 four = vec4(gated[4 * k], gated[4 * k + 1], gated[4 * k + 2], gated[4 * k + 3]);
    [[unroll]] for (int u = 0; u < UNITS_AT_ONCE; ++u) sums[u].x += weights(2, unit_of(first, u), k, four);
  }
}
#endif

void take_step(int direction) {
  FOR_UNITS_TOGETHER(first) {
    multiply_state(first);
    FOR_UNITS_FROM(first, u, j) {
      vec4 sums = sums_of(u, j);
      vec2 gates = call_f(vec4(of_x(0, j) + sums.x, of_x(1, j) + sums.y, 0, 0)).xy;
#ifdef LINEAR_BEFORE_RESET
      float candidate = call_g(of_x(2, j) + gates.y * (sums.z + bias_of_candidate(direction, j)));
      next_state[j] = (1.0 - gates.x) * candidate + gates.x * state[j];
#else
      update_gate[j] = gates.x;
      gated[j] = gates.y * state[j];
#endif
    }
  }
#ifndef LINEAR_BEFORE_RESET
  barrier();
  FOR_UNITS_TOGETHER(first) {
    multiply_gated(first);
    FOR_UNITS_FROM(first, u, j) {
      float z = update_gate[j], sum = bias_of_candidate(direction, j) + sum_of(u, 2, j);
      next_state[j] = (1.0 - z) * call_g(of_x(2, j) + sum) + z * state[j];
    }
  }
#endif
}

#else

float peephole(int direction, int gate, int unit) {
#ifdef PEEPHOLES
  return load_peepholes((3 * direction + gate) * hidden + unit);
#else
  return 0.0;
#endif
}

void finish_unit(int direction, int j, vec4 sums) {
  vec4 gates = sums + vec4(of_x(0, j), of_x(1, j), of_x(2, j), of_x(3, j));  // i, o, f, c
  float before = cell[j];
  vec2 keep = call_f(vec4(gates.x + peephole(direction, 0, j) * before, gates.z + peephole(direction, 2, j) * before, 0, 0)).xy;
#ifdef INPUT_FORGET
  keep.y = 1.0 - keep.x;
#endif
  float now = keep.y * before + keep.x * call_g(gates.w);
#ifdef CELL_CLIP
  now = clamp(now, -cell_clip, cell_clip);
#endif
  cell[j] = now;
  float shown = CAT(activation_, H)(vec4(now)).x;
  next_state[j] = call_f(vec4(gates.y + peephole(direction, 1, j) * now)).x * shown;
}

void take_step(int direction) {
  FOR_UNITS_TOGETHER(first) {
    multiply_state(first);
    FOR_UNITS_FROM(first, u, j) finish_unit(direction, j, sums_of(u, j));
  }
}

#endif

// Returns the state before the first step, from element `first` of the initial values.
void begin(int first) {
  for (int j = lane; j < UNITS; j += WORKGROUP_X) {
    bool is_unit = j < hidden;
    state[j] = 0.0;
#ifdef INITIAL_H
    if (is_unit) state[j] = load_initial_h(first + j);
#endif
#ifdef CELL_GRU
    gated[j] = 0.0;
#endif
#ifdef CELL_LSTM
    cell[j] = 0.0;
#ifdef INITIAL_C
    if (is_unit) cell[j] = load_initial_c(first + j);
#endif
#endif
  }
  barrier();
}

void main() {
  int sequence = int(gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x);
  if (sequence >= directions * batches) return;
  int direction = sequence / batches, batch = sequence - direction * batches;
  bool backwards = direction == 1 || first_reversed != 0;
  int length = steps;
#ifdef LENGTHS
  length = clamp(load_lengths(batch), 0, steps);
#endif
  first_row = direction * ROWS_OF_DIRECTION;
  begin(sequence * hidden);
  for (int n = first_step; n < min(length, end_step); ++n) {
    int step = backwards ? length - 1 - n : n;
    row_of_x = ((step * batches + batch) * directions + direction) * GATES * hidden;
    take_step(direction);
    barrier();
    for (int j = lane; j < hidden; j += WORKGROUP_X) {
      state[j] = next_state[j];
      set_y((step * directions * batches + sequence) * hidden + j, next_state[j]);
    }
    barrier();
  }
  for (int j = lane; j < hidden; j += WORKGROUP_X) {
    for (int step = max(length, first_step); step < end_step; ++step)
      set_y((step * directions * batches + sequence) * hidden + j, 0.0);
#ifdef STATE
    set_y_h(sequence * hidden + j, state[j]);
#endif
#ifdef CELL
    set_y_c(sequence * hidden + j, cell[j]);
#endif
  }
}
