// Folds images of two dimensions: their slices may then lie side by side, as many as an object's width allows
// (TensorDesc::fold), so that tensors of different aspect share objects.
//
//   W = H = 128, 4 slices: 128x512        W = H = 64, 16 slices: 64x1024
//   folded: or 256x256 or 512x128         folded: or 128x512 or 256x256 ...
#pragma once

#include <vector>

#include "program/program.hpp"

namespace vellum {

// Folds the tensors of several slices of more than one texel whose memory is planned. Returns those that it
// changed.
std::vector<TensorId> fold_textures(Program& program);
// Undoes it.
void unfold_textures(Program& program, const std::vector<TensorId>& folded);

}  // namespace vellum
