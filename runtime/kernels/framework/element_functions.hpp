// The code by which a dispatch of an elementwise kernel computes an element of its result, for
// fuse_elementwise().
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/framework/strided.hpp"
#include "program/program.hpp"

namespace vellum {

// A tensor that a function reads: the element of the result at loop indices i is that at `base` + the sum of
// i[d] * nest.strides[0][d]. The nest is collapsed.
struct ElementOperand {
  TensorId tensor = kNoTensor;
  int64_t base = 0;
  LoopNest nest;

  // Returns whether element i of the result reads element base + i.
  bool is_contiguous() const {
    return nest.dims.size() == 1 && (nest.strides[0][0] == 1 || nest.dims[0] == 1);
  }
};

struct ElementFunction {
  std::vector<ElementOperand> operands;
  TensorId y = kNoTensor;
  int64_t count = 0;  // elements of y
  // GLSL statements that compute four elements, `$y`, of those of the operands, `$0`, `$1` and so on.
  // `$n` is the function's number in its kernel.
  std::string code;
};

// Returns whether the elements of the tensor are in row-major order, without gaps: it is linear, or in a
// buffer in channels4, with one pixel and whole texels.
bool has_linear_elements(const TensorDesc& desc);

// Returns the function of the dispatch if it is one of floats in that order and has a kernel in
// elementwise.comp, too: a function of one or two tensors with an activation and an epilogue, or a selection.
std::optional<ElementFunction> element_function(const Program& program, const Dispatch& dispatch);

}  // namespace vellum
