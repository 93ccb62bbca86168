// Folds 2D images: their slices are then placed side by side, as many as the object's width allows
// (TensorDesc::fold), so that tensors of different aspect ratios can share objects.
//
//   W = H = 128, 4 slices: 128x512        W = H = 64, 16 slices: 64x1024
//   folded: or 256x256 or 512x128         folded: or 128x512 or 256x256 ...
#pragma once

#include <vector>

#include "program/program.hpp"

namespace vellum {

// Folds the planned tensors in 2D images that have several slices of more than one texel. Returns the changed
// tensors.
std::vector<TensorId> fold_textures(Program& program);
// Reverts fold_textures().
void unfold_textures(Program& program, const std::vector<TensorId>& folded);

}  // namespace vellum
