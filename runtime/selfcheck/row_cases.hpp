// Small operators between products, whose matrices are in images.
#pragma once

#include <optional>
#include <vector>

#include "caps/device_caps.hpp"
#include "graph/graph.hpp"
#include "graph/tensor.hpp"
#include "program/program.hpp"

namespace vellum {

// Puts a product with the identity matrix after each output of real numbers, and also before each such input
// if `inputs_too`. Values stay as they are:
//
//   input -> Reshape -> MatMul -> Reshape -> operator -> Reshape -> MatMul -> Reshape -> output
//
// Returns nothing if none of them has a multiple of four elements, or if an element of an input is not finite,
// which the products would carry to others. `graph`: an optimised one with known types.
std::optional<Graph> between_products(const Graph& graph, const std::vector<HostTensor>& inputs,
                                      bool inputs_too);

// Lets the kernels of linear tensors access rows of texels wherever they can (plan/row_texels.hpp).
void access_all_rows(Program& program, const DeviceCaps& caps);

}  // namespace vellum
