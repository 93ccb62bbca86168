// The sequential part of an RNN, GRU or LSTM; x holds the products of its inputs and weights, which are computed before
// (runtime/graph/operators/matmul/recurrence.hpp). https://onnx.ai/onnx/operators/onnx__LSTM.html,
// onnx__GRU.html, onnx__RNN.html
//
// A workgroup processes SEQUENCES sequences together, those of consecutive batches in one direction. It keeps
// the state of each in shared memory of UNITS floats: the hidden units, padded with zeros to a multiple of four.
// An invocation computes every WORKGROUP_X-th unit, UNITS_AT_ONCE of them together, which multiply the same
// elements of the states. All sequences multiply the weights that are loaded once. A dispatch computes the steps
// from first_step to end_step, and begins with the last state of the previous dispatch. CELL_RNN, CELL_GRU or
// CELL_LSTM; F, G and H are the names of the activations. With LENGTHS, SEQUENCES is 1.
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
#ifndef SEQUENCES
#define SEQUENCES 1
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

// Element s * UNITS + j belongs to unit j of sequence s.
shared float state[SEQUENCES * UNITS];
shared float next_state[SEQUENCES * UNITS];
#ifdef CELL_LSTM
shared float cell[SEQUENCES * UNITS];
#endif
#ifdef CELL_GRU
shared float update_gate[SEQUENCES * UNITS];
shared float gated[SEQUENCES * UNITS];  // state times gate r
#endif

int lane = int(gl_LocalInvocationID.x);
int direction, first_batch;
int current_step;  // of x and y
int first_row;  // the first row of texels of this direction

// Sequences beyond the last batch compute and store what the last one does.
int batch_of(int s) { return min(first_batch + s, batches - 1); }
int sequence_of(int s) { return direction * batches + batch_of(s); }
// The first element of y of a step.
int row_of_y(int s, int of_step) {
  return (of_step * y_step + direction * y_direction + batch_of(s) * y_batch) * hidden;
}

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

vec4 four_of_state(int s, int k) {
  int first = s * UNITS + 4 * k;
  return vec4(state[first], state[first + 1], state[first + 2], state[first + 3]);
}

vec4 weights(int gate, int unit, int k) { return load_r(gate * hidden + unit, first_row + k, GATES * hidden); }

// The products of the gates' weights and the state, for up to four gates of each unit of each sequence.
vec4 sums[SEQUENCES * UNITS_AT_ONCE];
vec4 chosen[UNITS_AT_ONCE];  // the sums of one sequence
int place_of(int s, int u) { return s * UNITS_AT_ONCE + u; }

#if SEQUENCES > 1
#define FOR_SEQUENCES(s) for (int s = 0; s < SEQUENCES; ++s)
#else
#define FOR_SEQUENCES(s) const int s = 0;
#endif

// Unit u of those that begin with `first`. Those beyond the last unit compute what the last one does.
int unit_of(int first, int u) { return min(first + u * WORKGROUP_X, hidden - 1); }

// Chooses the sums of sequence s, the counter of a loop that is not unrolled.
void choose_sums(int s) {
  [[unroll]] for (int u = 0; u < UNITS_AT_ONCE; ++u) {
    chosen[u] = sums[u];
    [[unroll]] for (int t = 1; t < SEQUENCES; ++t) chosen[u] = s == t ? sums[place_of(t, u)] : chosen[u];
  }
}

// Returns chosen[u], where u is the counter of a loop that is not unrolled.
vec4 bare_sums_of(int u) {
  vec4 found = chosen[0];
  [[unroll]] for (int t = 1; t < UNITS_AT_ONCE; ++t) found = u == t ? chosen[t] : found;
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

void clear_sums() {
  [[unroll]] for (int t = 0; t < SEQUENCES * UNITS_AT_ONCE; ++t) sums[t] = vec4(0);
}

// Adds to one component of the sums the products of the weights of a gate and fours[s].
#define ADD_PRODUCTS(component, gate) \
  { \
    vec4 four_weights = weights(gate, unit, k); \
    [[unroll]] for (int s = 0; s < SEQUENCES; ++s) sums[place_of(s, u)].component += dot(four_weights, fours[s]); \
  }

void multiply_state(int first) {
  clear_sums();
  for (int k = 0; k < UNITS / 4; ++k) {
    vec4 fours[SEQUENCES];
    [[unroll]] for (int s = 0; s < SEQUENCES; ++s) fours[s] = four_of_state(s, k);
    [[unroll]] for (int u = 0; u < UNITS_AT_ONCE; ++u) {
      int unit = unit_of(first, u);
      ADD_PRODUCTS(x, 0)
#ifndef CELL_RNN
      ADD_PRODUCTS(y, 1)
#endif
#if defined(CELL_LSTM) || defined(LINEAR_BEFORE_RESET)
      ADD_PRODUCTS(z, 2)
#endif
#ifdef CELL_LSTM
      ADD_PRODUCTS(w, 3)
#endif
    }
  }
}

// Loops over the first of units that an invocation computes together, and over these: unit j is the u-th.
#define FOR_UNITS_TOGETHER(first) for (int first = lane; first < hidden; first += UNITS_AT_ONCE * WORKGROUP_X)
#define FOR_UNITS_FROM(first, u, j) \
  for (int u = 0, j = first; u < UNITS_AT_ONCE && j < hidden; ++u, j += WORKGROUP_X)

float of_x(int s, int gate, int unit) {
  int row = (current_step * batches + batch_of(s)) * directions + direction;
  return load_x((row * GATES + gate) * hidden + unit);
}

#if defined(CELL_RNN)

void take_step() {
  FOR_UNITS_TOGETHER(first) {
    multiply_state(first);
    FOR_SEQUENCES(s) {
      choose_sums(s);
      FOR_UNITS_FROM(first, u, j)
        next_state[s * UNITS + j] = call_f(vec4(of_x(s, 0, j) + sums_of(u, j).x)).x;
    }
  }
}

#elif defined(CELL_GRU)

float bias_of_candidate(int unit) {
#ifdef CANDIDATE_BIAS
  return load_candidate_bias(direction * hidden + unit);
#else
  return 0.0;
#endif
}

#ifndef LINEAR_BEFORE_RESET
// The products of the candidate's weights and the gated state become the x of sums.
void multiply_gated(int first) {
  clear_sums();
  for (int k = 0; k < UNITS / 4; ++k) {
    vec4 fours[SEQUENCES];
    [[unroll]] for (int s = 0; s < SEQUENCES; ++s) {
      int at = s * UNITS + 4 * k;
      fours[s] = vec4(gated[at], gated[at + 1], gated[at + 2], gated[at + 3]);
    }
    [[unroll]] for (int u = 0; u < UNITS_AT_ONCE; ++u) {
      int unit = unit_of(first, u);
      ADD_PRODUCTS(x, 2)
    }
  }
}
#endif

// Computes the gates of unit j and, where the reset gate follows the product, its next state.
void open_gates(int s, int j, vec4 sums) {
  int at = s * UNITS + j;
  vec2 gates = call_f(vec4(of_x(s, 0, j) + sums.x, of_x(s, 1, j) + sums.y, 0, 0)).xy;
#ifdef LINEAR_BEFORE_RESET
  float candidate = call_g(of_x(s, 2, j) + gates.y * (sums.z + bias_of_candidate(j)));
  next_state[at] = (1.0 - gates.x) * candidate + gates.x * state[at];
#else
  update_gate[at] = gates.x;
  gated[at] = gates.y * state[at];
#endif
}

void take_step() {
  FOR_UNITS_TOGETHER(first) {
    multiply_state(first);
    FOR_SEQUENCES(s) {
      choose_sums(s);
      FOR_UNITS_FROM(first, u, j) open_gates(s, j, sums_of(u, j));
    }
  }
#ifndef LINEAR_BEFORE_RESET
  barrier();
  FOR_UNITS_TOGETHER(first) {
    multiply_gated(first);
    FOR_SEQUENCES(s) {
      choose_sums(s);
      FOR_UNITS_FROM(first, u, j) {
        int at = s * UNITS + j;
        float z = update_gate[at], sum = bias_of_candidate(j) + sum_of(u, 2, j);
        next_state[at] = (1.0 - z) * call_g(of_x(s, 2, j) + sum) + z * state[at];
      }
    }
  }
#endif
}

#else

float peephole(int gate, int unit) {
#ifdef PEEPHOLES
  return load_peepholes((3 * direction + gate) * hidden + unit);
#else
  return 0.0;
#endif
}

void finish_unit(int s, int j, vec4 sums) {
  int at = s * UNITS + j;
  vec4 gates = sums + vec4(of_x(s, 0, j), of_x(s, 1, j), of_x(s, 2, j), of_x(s, 3, j));  // i, o, f, c
  float before = cell[at];
  vec2 keep = call_f(vec4(gates.x + peephole(0, j) * before, gates.z + peephole(2, j) * before, 0, 0)).xy;
#ifdef INPUT_FORGET
  keep.y = 1.0 - keep.x;
#endif
  float now = keep.y * before + keep.x * call_g(gates.w);
#ifdef CELL_CLIP
  now = clamp(now, -cell_clip, cell_clip);
#endif
  cell[at] = now;
  float shown = CAT(activation_, H)(vec4(now)).x;
  next_state[at] = call_f(vec4(gates.y + peephole(1, j) * now)).x * shown;
}

void take_step() {
  FOR_UNITS_TOGETHER(first) {
    multiply_state(first);
    FOR_SEQUENCES(s) {
      choose_sums(s);
      FOR_UNITS_FROM(first, u, j) finish_unit(s, j, sums_of(u, j));
    }
  }
}

#endif

// Fills the states before the first step.
void begin() {
  FOR_SEQUENCES(s) {
    int first = sequence_of(s) * hidden;  // of the initial values
    for (int j = lane; j < UNITS; j += WORKGROUP_X) {
      bool is_unit = j < hidden;
      int at = s * UNITS + j;
      state[at] = 0.0;
#ifdef INITIAL_H
      if (is_unit) state[at] = load_initial_h(first + j);
#endif
#ifdef CELL_GRU
      gated[at] = 0.0;
#endif
#ifdef CELL_LSTM
      cell[at] = 0.0;
#ifdef INITIAL_C
      if (is_unit) cell[at] = load_initial_c(first + j);
#endif
#endif
    }
  }
  barrier();
}

// The states after a step become those before the next one, and results of the step.
void complete_step() {
  FOR_SEQUENCES(s) {
    int first = row_of_y(s, current_step);
    for (int j = lane; j < hidden; j += WORKGROUP_X) {
      state[s * UNITS + j] = next_state[s * UNITS + j];
      set_y(first + j, next_state[s * UNITS + j]);
    }
  }
}

// Zeros follow the last step of a sequence that is shorter than the others; then the last states are stored.
void finish(int length) {
  FOR_SEQUENCES(s) {
    int sequence = sequence_of(s);
    for (int j = lane; j < hidden; j += WORKGROUP_X) {
      for (int n = max(length, first_step); n < end_step; ++n)
        set_y(row_of_y(s, n) + j, 0.0);
#ifdef STATE
      set_y_h(sequence * hidden + j, state[s * UNITS + j]);
#endif
#ifdef CELL
      set_y_c(sequence * hidden + j, cell[s * UNITS + j]);
#endif
    }
  }
}

void main() {
  int group = int(gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x);
  int groups_of_direction = (batches + SEQUENCES - 1) / SEQUENCES;
  if (group >= directions * groups_of_direction) return;
  direction = group / groups_of_direction;
  first_batch = (group - direction * groups_of_direction) * SEQUENCES;
  bool backwards = direction == 1 || first_reversed != 0;
  int length = steps;
#ifdef LENGTHS
  length = clamp(load_lengths(first_batch), 0, steps);
#endif
  first_row = direction * ROWS_OF_DIRECTION;
  begin();
  for (int n = first_step; n < min(length, end_step); ++n) {
    current_step = backwards ? length - 1 - n : n;
    take_step();
    barrier();
    complete_step();
    barrier();
  }
  finish(length);
}
