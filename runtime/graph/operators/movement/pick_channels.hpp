// Selects channels of one or two tensors in any order, such as the channel shuffle of ShuffleNet (Zhang et
// al., arXiv 1707.01083, section 3.1).
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// Inputs X (N, C, ...), Y (optional; N, D, ...), floats of two to four dimensions. Channel i of the output is
// channel channels[i] of X and Y concatenated. Not an ONNX operator: the pass fuse_channel_shuffle makes it.
struct PickChannels : Operator {
  Ints channels;

  std::string_view type() const override { return "PickChannels"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum
