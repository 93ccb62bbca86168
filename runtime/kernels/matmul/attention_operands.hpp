// How the kernel of attention gets Q, K and V: in place, where they are matrices of tokens or caches, or
// gathered into one grid.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/operators/matmul/attention.hpp"
#include "kernels/framework/lowering.hpp"
#include "kernels/matmul/key_split.hpp"

namespace vellum {

// Parameters that all variants of the shader have: sizes, and strides along images, heads, queries and keys.
struct AttentionSizes {
  int64_t images, heads, queries, keys, heads_per_kv, depth_slices;
  std::vector<int64_t> mask_strides, y_strides;
};

AttentionSizes attention_sizes(const Lowering& lowering, const Attention::Operands& o);

// Q, K or V: the rows of the matrix are tokens, and a head is a range of columns. Or the pixels of pictures
// are tokens, and a head is a range of channels.
struct MatrixOperand {
  int64_t first = 0, head = 0;   // slices: of the first head, from one to the next
  int64_t image = 0, token = 0;  // rows from one to the next
};

struct MatrixOperands {
  MatrixOperand q, k, v;
  bool separate = false;  // in three tensors
  bool pictures = false;
};

// Returns whether a dispatch adds the key bias to the mask, because the device has too few bindings for both.
bool adds_key_bias_to_mask(const Lowering& lowering);
// Returns the shape of the mask that the kernel reads, that of the sum if the key bias is added to it.
Shape mask_shape(const Lowering& lowering);

// Returns whether the kernel reads K and V in place because they are caches. A cache is long, and the kernel
// reads only a part of it.
bool reads_caches(const Lowering& lowering, const Attention::Operands& o);
// Returns Q, K and V in place. Returns nothing if they must be gathered, because of their layout, because
// they are rounded or normalised, or because the device has too few bindings.
std::optional<MatrixOperands> operands_in_place(const Lowering& lowering, const Attention::Operands& o);

// Bind Q, K and V, and set the parameters of attention.comp or attention_rounded.comp. bind_gathered() first
// adds the dispatches that gather them.
void bind_gathered(Lowering& lowering, Dispatch& dispatch, const Attention::Operands& o,
                   const KeySplit& split);
void bind_caches(Lowering& lowering, Dispatch& dispatch, const Attention::Operands& o, const KeySplit& split);
void bind_matrices(Lowering& lowering, Dispatch& dispatch, const Attention::Operands& o,
                   const MatrixOperands& m, const KeySplit& split);

}  // namespace vellum
