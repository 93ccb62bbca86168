// TFLite's SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND, in the file's order of dimensions (batch, spatial, rest).
#pragma once

#include <memory>

#include "graph/operator.hpp"

namespace vellum {

// Inputs x, block sizes (S), one for each spatial dimension, and paddings (S, 2): the elements added before
// and after the dimension. Space is divided into blocks; the elements at one position of all blocks become a
// batch. Output: (batch * product of the blocks, padded size / block, ..., rest).
std::shared_ptr<const Operator> space_to_batch();
// The inverse. Input 2 holds crops: the elements removed before and after each spatial dimension.
std::shared_ptr<const Operator> batch_to_space();

}  // namespace vellum
