#include "passes/fuse/channel_affine.hpp"
#include "passes/passes.hpp"

namespace vellum {

void fold_batch_norm(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) {
    if (editor.node(index).outputs.size() != 1) continue;
    if (const auto affine = affine_of_norm(editor, index)) fold_affine(editor, index, 0, *affine);
  }
  editor.commit();
}

}  // namespace vellum
