// Average pools whose parameter is the size of the output; the windows follow from it.
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// Input X (N, C, H, W). Row i of the output is the mean of rows floor(i * H / height) to
// ceil((i + 1) * H / height) - 1 of X, and likewise along W: windows differ in size where H is no multiple of
// `height`. This is torch's AdaptiveAvgPool2d. Not an ONNX operator: the pass fuse_adaptive_pool makes it.
struct AdaptiveAveragePool : Operator {
  int64_t height = 1, width = 1;

  std::string_view type() const override { return "AdaptiveAveragePool"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t work(Inputs inputs, Outputs outputs) const override;
  Attributes attributes() const override;
};

// A range of elements along an axis.
struct AdaptiveWindow {
  int64_t begin = 0, end = 0;
};

// Returns window `index` of `outputs` over `inputs` elements.
AdaptiveWindow adaptive_window(int64_t index, int64_t inputs, int64_t outputs);

// Returns the size of the largest window.
int64_t largest_adaptive_window(int64_t inputs, int64_t outputs);

}  // namespace vellum
