#include <utility>

#include "passes/passes.hpp"

namespace vellum {
namespace {

// Normalisations, scales and shifts may follow each other in any order, each round folding one more of a
// chain.
void fold_linear_chains(Graph& graph) {
  for (size_t before = SIZE_MAX; graph.nodes.size() < before;) {
    before = graph.nodes.size();
    fold_batch_norm(graph);
    fold_scale(graph);
    fuse_bias(graph);
  }
}

}  // namespace

Graph optimise(Graph graph, const InputShapes& shapes) {
  infer_shapes_and_fold(graph, shapes);
  decompose(graph);
  remove_identities(graph);
  merge_reshapes(graph);
  remove_identities(graph);  // two transpositions may have cancelled out
  fuse_activation_patterns(graph);
  concat_zeros_to_pad(graph);
  fuse_pad(graph);
  fold_linear_chains(graph);
  fuse_residual(graph);
  fuse_activations(graph);
  share_constants(graph);
  remove_dead_code(graph);
  check(graph);
  return graph;
}

}  // namespace vellum
