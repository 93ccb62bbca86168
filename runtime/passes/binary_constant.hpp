// Binary operators of a tensor and a constant.
#pragma once

#include <cstddef>
#include <optional>

#include "graph/binary.hpp"
#include "passes/editor.hpp"

namespace vellum {

struct BinaryConstant {
  const Binary* op = nullptr;
  size_t data_slot = 0;  // the other input is the constant
  const HostTensor* constant = nullptr;
};

// Node `index` as a float operator without activation on one constant and one other input of the output's
// type.
std::optional<BinaryConstant> as_binary_constant(const GraphEditor& editor, size_t index);

}  // namespace vellum
