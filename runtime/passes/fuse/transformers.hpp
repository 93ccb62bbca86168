// Passes for what transformers are made of; see passes.hpp for what all passes keep to.
#pragma once

#include "graph/graph.hpp"

namespace vellum {

void fuse_layer_norm(Graph& graph);  // LayerNormalization that is spelt out
void fuse_softmax(Graph& graph);     // Softmax that is spelt out
// softmax(scale * Q K^T + mask) V, with the rearranging of heads around it: one Attention
void fuse_attention(Graph& graph);
// rows of tokens that Slices, Concats, Transposes move about, as windows are shifted and parted: one Gather
void gather_rows(Graph& graph);
// MatMul with a constant matrix, the bias and activation after it: a Gemm of all rows
void matmul_to_gemm(Graph& graph);
// what is computed row by row from the rows that a Gemm gives: of matrices, without a Reshape before and
// behind
void tokens_to_matrices(Graph& graph);

}  // namespace vellum
