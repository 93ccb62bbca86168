// The two products of squeeze-and-excitation, by one workgroup for each image:
//   gates = gate(W2 activate_hidden(W1 means + B1) + B2)
//
// Each product is a step, and each texel of its result is a row of the matrix. One or more invocations compute
// partial sums of a row. Shared memory holds the inputs of the next step. W1 and W2 are as in conv_tile.glsl, with
// one tap.
//
// Include it after TEXELS_IN(w1), TEXELS_IN(w2), the parameter gate_params, activation.glsl, `int lane` (the
// index of an invocation) and the function activate_hidden(). The workgroup must store the means in `values`
// before it computes gates. With GATE_TABLE the tensor `tables` has the function of rounded gates from
// element 256 on. GATE: the gates' activation function. MOST_SLICES: at least WORKGROUP_X and the
// number of slices of means, hidden channels and gates.

#ifdef GATE_TABLE
LOOK_UP_FN(look_up_gate, load_tables, 256)
#endif

shared vec4 values[MOST_SLICES];      // results of the previous step
shared vec4 partial_sums[MOST_SLICES];   // at row * split_k + split

vec4 gate(vec4 v) {
  activation_constants = gate_params;
  v = CAT(activation_, GATE)(v);
#ifdef GATE_SCALED
  v = gate_params.z * v + gate_params.w;
#endif
#ifdef GATE_TABLE
  v = look_up_gate(v);
#endif
  return v;
}

// Returns the number of invocations per row.
int split_k_of(int rows, int columns) { return clamp(divide(WORKGROUP_X, rows).x, 1, columns); }

vec4 total(int row, int split_k) {
  vec4 sum = vec4(0);
  for (int split = 0; split < split_k; ++split) sum += partial_sums[row * split_k + split];
  return sum;
}

// Returns the sum of a row's products with every `split_k`-th column from `first` on. With GATES_AHEAD the
// weights of GATES_AHEAD columns are loaded together, while that many are left.
#ifdef GATES_AHEAD
#define FOR_COLUMNS_(load, first)                                                                           \
  int k = first;                                                                                            \
  for (; k + (GATES_AHEAD - 1) * split_k < columns; k += GATES_AHEAD * split_k) {                           \
    vec4 w[GATES_AHEAD][4];                                                                                 \
    [[unroll]] for (int ahead = 0; ahead < GATES_AHEAD; ++ahead)                                            \
      [[unroll]] for (int c = 0; c < 4; ++c) w[ahead][c] = load(4 * (k + ahead * split_k) + c, row, width); \
    [[unroll]] for (int ahead = 0; ahead < GATES_AHEAD; ++ahead) {                                          \
      vec4 v = values[k + ahead * split_k];                                                                 \
      sum += v.x * w[ahead][0] + v.y * w[ahead][1] + v.z * w[ahead][2] + v.w * w[ahead][3];                 \
    }                                                                                                       \
  }                                                                                                         \
  for (; k < columns; k += split_k)
#else
#define FOR_COLUMNS_(load, first) for (int k = first; k < columns; k += split_k)
#endif

// Multiplies `columns` texels of `values` by a matrix of `rows` rows, into partial_sums.
#define PRODUCT_FN_(name, load)                                                       \
  int name(int rows, int columns) {                                                   \
    int split_k = split_k_of(rows, columns), width = 4 * columns;                     \
    for (int i = lane; i < rows * split_k; i += WORKGROUP_X) {                        \
      ivec2 by_split = divide(i, split_k);                                            \
      int row = by_split.x;                                                           \
      vec4 sum = vec4(0);                                                             \
      FOR_COLUMNS_(load, by_split.y) {                                                \
        vec4 v = values[k];                                                           \
        sum += v.x * load(4 * k, row, width) + v.y * load(4 * k + 1, row, width) +    \
               v.z * load(4 * k + 2, row, width) + v.w * load(4 * k + 3, row, width); \
      }                                                                               \
      partial_sums[i] = sum;                                                          \
    }                                                                                 \
    barrier();                                                                        \
    return split_k;                                                                   \
  }
PRODUCT_FN_(multiply_w1, load_w1)
PRODUCT_FN_(multiply_w2, load_w2)

// Return the finished sum of a row of products. After `rows` rows of weights there are biases. With BYTE_GATES weights are bytes:
// after them there are four words of bias, divided by the scale, for each row, and then four words of scale for each.
#ifdef BYTE_GATES
WORDS_OF_TEXELS(w1)
WORDS_OF_TEXELS(w2)
#define WITH_BIAS_FN_(name, load, load_word)                                                 \
  vec4 name(vec4 sum, int row, int rows, int width) {                                        \
    uvec4 bias, scale;                                                                       \
    [[unroll]] for (int c = 0; c < 4; ++c) {                                                 \
      ivec2 at = divide(4 * row + c, width), after = divide(4 * (row + rows) + c, width);    \
      bias[c] = load_word(at.y, rows + at.x, width);                                         \
      scale[c] = load_word(after.y, rows + after.x, width);                                  \
    }                                                                                        \
    return (sum + uintBitsToFloat(bias)) * uintBitsToFloat(scale);                           \
  }
#else
#define WITH_BIAS_FN_(name, load, load_word)                                                 \
  vec4 name(vec4 sum, int row, int rows, int width) {                                        \
    ivec2 bias = divide(row, width);                                                         \
    return sum + load(bias.y, rows + bias.x, width);                                         \
  }
#endif
WITH_BIAS_FN_(with_bias_of_w1, load_w1, load_word_w1)
WITH_BIAS_FN_(with_bias_of_w2, load_w2, load_word_w2)

// Replaces the means of `inputs` slices in `values` by the hidden channels.
void compute_hidden(int inputs) {
  int hidden = slices(hidden_channels), split_k = multiply_w1(hidden, inputs);
  for (int row = lane; row < hidden; row += WORKGROUP_X) {
    vec4 sum = with_bias_of_w1(total(row, split_k), row, hidden, 4 * inputs);
    values[row] = keep_channels(activate_hidden(sum), hidden_channels - 4 * row);
  }
  barrier();
}

// Computes the gates of `outputs` slices from the hidden channels, and calls store(position, gate).
#define STORE_GATES(store, outputs, n)                                                \
  {                                                                                   \
    int hidden = slices(hidden_channels), split_k = multiply_w2(outputs, hidden);     \
    for (int row = lane; row < outputs; row += WORKGROUP_X) {                         \
      vec4 sum = with_bias_of_w2(total(row, split_k), row, outputs, 4 * hidden);      \
      store(ivec4(0, 0, row, n), gate(sum));                                          \
    }                                                                                 \
  }
