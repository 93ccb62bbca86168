// Rotary position embedding (Su et al., arXiv 2104.09864): rotates each pair of channels of a head by an
// angle that depends on the token.
#pragma once

#include "graph/operators/matmul/attention.hpp"

namespace vellum {

// Inputs X (any shape) and a table of floats of shape (2, heads or 1, tokens or 1, channels): cosines, then
// sines. `view` is X as (batch, head, token, channel). Element (b, h, t, c) of the output, whose shape is
// `output`, is x(b, h, t, c) * table(0, h, t, c) + x(b, h, t, partner[c]) * table(1, h, t, c). Not an ONNX
// operator: the pass fuse_rotation makes it.
struct RotateChannels : Operator {
  StridedView view;
  Ints partner;
  Shape output;

  std::string_view type() const override { return "RotateChannels"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum
