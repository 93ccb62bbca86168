// A layer of volumes as layers of pictures: a volume (N, C, D, H, W) in frames is (N * D, C, H, W).
#pragma once

#include <functional>
#include <optional>

#include "graph/operators/conv/window.hpp"
#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

inline constexpr size_t kVolumeRank = 5;

// Values of frames that a form is made of, all inserted before one node.
class FrameBuilder {
 public:
  // `frames_of`: the frames of a volume, which it inserts where they are not there yet.
  FrameBuilder(GraphEditor& editor, size_t index, std::function<ValueId(ValueId)> frames_of)
      : editor_(editor), index_(index), frames_of_(std::move(frames_of)) {}

  const Graph& graph() const { return editor_.graph(); }
  const Node& node() const { return editor_.node(index_); }
  const TensorType& type(ValueId value) const { return editor_.type(value); }
  const HostTensor* constant(ValueId value) const { return editor_.constant(value); }
  ValueId frames_of(ValueId volume) { return frames_of_(volume); }
  // The result of an operator, whose type its shape rule says.
  ValueId compute(std::shared_ptr<const Operator> op, std::vector<ValueId> inputs);
  ValueId add_constant(HostTensor tensor) {
    return editor_.add_constant(editor_.node(index_).name + "/frames", std::move(tensor));
  }

 private:
  GraphEditor& editor_;
  size_t index_;
  std::function<ValueId(ValueId)> frames_of_;
};

// The window without depth, with the pads that it was placed with.
Window pictures_of(const WindowPlacement& volumes);
// Whether the node has constant weights of a kind that convolve_frames() computes.
bool is_convolution_of_volumes(const Graph& graph, const Node& node);
// The frames of the output of such a Conv or ConvTranspose.
ValueId convolve_frames(FrameBuilder& builder);

}  // namespace vellum
