// Networks with seeded weights: of operators that are local along rows, for tiles and large pictures, and of
// others that compute each image of a batch by itself.
#pragma once

#include "support/onnx_builder.hpp"

namespace vellum::test {

// A picture three times as wide and high, in the manner of anchor-based networks for phones (Du et al., arXiv
// 2105.09750): six 3x3 convolutions, to which the pixels of the input are added before DepthToSpace. Input
// "x" [1, 3, H, W], output "y" [1, 3, 3 H, 3 W]. `shape` may have open dimensions.
OnnxModel super_resolution(const Shape& shape, int64_t channels = 28);

// A U-Net (Ronneberger et al., arXiv 1505.04597) of four levels, 16 to 128 channels, with transposed
// convolutions; height and width are multiples of 8. Input "x" [1, 3, H, W], output "y" [1, 2, H, W].
OnnxModel unet(const Shape& shape);

// Convolutions with squeeze-and-excitation, then tokens: normalisation, products and softmax, and their mean.
// Input "x" [N, 4, H, W], outputs "y" [N, 10], and "z", its softmax over the batch by the node "over_batch",
// the only one that does not compute each image by itself.
OnnxModel classifier_of_batch(const Shape& shape);

}  // namespace vellum::test
