// Rewrites a layer on volumes as layers on pictures. The frames of a volume (N, C, D, H, W) are a tensor
// (N * D, C, H, W).
#pragma once

#include <functional>
#include <optional>

#include "graph/operators/conv/window.hpp"
#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

inline constexpr size_t kVolumeRank = 5;

// Builds the nodes that compute a layer on frames, before the node that they replace.
class FrameBuilder {
 public:
  // `frames_of`: returns the frames of a volume, and inserts them if they do not exist yet.
  FrameBuilder(GraphEditor& editor, size_t index, std::function<ValueId(ValueId)> frames_of)
      : editor_(editor), index_(index), frames_of_(std::move(frames_of)) {}

  const Graph& graph() const { return editor_.graph(); }
  const Node& node() const { return editor_.node(index_); }
  const TensorType& type(ValueId value) const { return editor_.type(value); }
  const HostTensor* constant(ValueId value) const { return editor_.constant(value); }
  ValueId frames_of(ValueId volume) { return frames_of_(volume); }
  // Adds an operator and returns its result, whose type follows from the shape rule.
  ValueId compute(std::shared_ptr<const Operator> op, std::vector<ValueId> inputs);
  ValueId add_constant(HostTensor tensor) {
    return editor_.add_constant(editor_.node(index_).name + "/frames", std::move(tensor));
  }

 private:
  GraphEditor& editor_;
  size_t index_;
  std::function<ValueId(ValueId)> frames_of_;
};

// Returns the window of a layer on pictures: the window of a layer on volumes without its depth, with
// explicit pads.
Window pictures_of(const WindowPlacement& volumes);
// Returns whether convolve_frames() supports the node: a convolution of volumes with constant weights.
bool is_convolution_of_volumes(const Graph& graph, const Node& node);
// Builds the layer for such a Conv or ConvTranspose, and returns the frames of its output.
ValueId convolve_frames(FrameBuilder& builder);

}  // namespace vellum
