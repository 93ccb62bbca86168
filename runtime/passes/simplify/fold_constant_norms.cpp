// LayerNormalization of single elements, such as the tokens of one channel in spatial attention: each is
// equal to its mean, so that the result is the bias whatever the elements are.
#include <memory>
#include <utility>
#include <vector>

#include "graph/operators/reduction/normalization.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// Returns whether the node normalises single elements, of which only the result is read.
bool normalizes_single_elements(const GraphEditor& editor, const Match<LayerNormalization>& norm) {
  const auto& outputs = norm.node->outputs;
  for (size_t i = 1; i < outputs.size(); ++i)
    if (outputs[i] != kNoValue && editor.is_read(outputs[i])) return false;
  const Shape& shape = editor.type(norm.input()).shape;
  int64_t elements = 1;
  for (size_t axis = normalize_axis(norm->axis, shape.size()); axis < shape.size(); ++axis)
    elements *= shape[axis];
  return norm->centred && elements == 1;
}

// Replaces the reads of the node's result by the bias, and returns whether it did.
bool replace_by_bias(GraphEditor& editor, size_t index) {
  const auto norm = match_node<LayerNormalization>(editor, index);
  if (!norm || !normalizes_single_elements(editor, norm)) return false;
  const ValueId result = norm.node->outputs[0];
  if (editor.is_graph_output(result) || !is_float(editor.type(result).dtype)) return false;
  float bias = 0.0f;
  if (norm.node->inputs.size() > 2 && norm.input(2) != kNoValue) {
    const HostTensor* constant = editor.constant(norm.input(2));
    if (constant == nullptr || constant->elements() != 1) return false;
    bias = constant->to_floats()[0];
  }
  const TensorType type = editor.type(result);
  const std::vector<float> elements(static_cast<size_t>(element_count(type.shape)), bias);
  editor.replace_reads(result,
                       editor.add_constant(norm.node->name + "/bias",
                                           HostTensor::from<float>(type.dtype, type.shape, elements)));
  return true;
}

}  // namespace

void fold_constant_norms(Graph& graph) {
  GraphEditor editor(graph);
  bool has_changed = false;
  for (const size_t index : editor.nodes()) has_changed |= replace_by_bias(editor, index);
  editor.commit();
  if (has_changed) infer_shapes_and_fold(graph, {});  // and what is computed from the biases
}

}  // namespace vellum
