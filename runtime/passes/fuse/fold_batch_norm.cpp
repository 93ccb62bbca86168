#include <cmath>
#include <optional>
#include <vector>

#include "graph/operators/reduction/normalization.hpp"
#include "passes/fuse/channel_affine.hpp"
#include "passes/passes.hpp"

namespace vellum {
namespace {

// https://onnx.ai/onnx/operators/onnx__BatchNormalization.html:
// Y = scale * (X - mean) / sqrt(variance + epsilon) + B
std::optional<ChannelAffine> affine_of_norm(const GraphEditor& editor, size_t index) {
  const auto norm = match_node<BatchNormalization>(editor, index);
  if (!norm || norm->activation) return std::nullopt;
  std::vector<std::vector<float>> parameters;
  for (size_t slot = 1; slot <= 4; ++slot) {
    const HostTensor* constant = editor.constant_input(index, slot);
    if (constant == nullptr) return std::nullopt;
    parameters.push_back(constant->to_floats());
  }
  const auto& [scale, shift, mean, variance] =
      std::tie(parameters[0], parameters[1], parameters[2], parameters[3]);
  ChannelAffine affine;
  for (size_t c = 0; c < scale.size(); ++c) {
    affine.scale.push_back(double{scale[c]} / std::sqrt(double{variance[c]} + double{norm->epsilon}));
    affine.shift.push_back(double{shift[c]} - double{mean[c]} * affine.scale.back());
  }
  return affine;
}

}  // namespace

void fold_batch_norm(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) {
    if (editor.node(index).outputs.size() != 1) continue;
    if (const auto affine = affine_of_norm(editor, index)) fold_affine(editor, index, 0, *affine);
  }
  editor.commit();
}

}  // namespace vellum
