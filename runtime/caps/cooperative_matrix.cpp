#include "caps/cooperative_matrix.hpp"

#include "caps/device_caps.hpp"

namespace vellum {

std::vector<CooperativeMatrix> half_products(const DeviceCaps& caps) {
  std::vector<CooperativeMatrix> found;
  for (const CooperativeMatrix& matrix : caps.cooperative_matrices) {
    CooperativeMatrix wanted;  // has the element types and the scope that kernels need by default
    wanted.extension = matrix.extension;
    wanted.m = matrix.m, wanted.n = matrix.n, wanted.k = matrix.k;
    if (matrix == wanted) found.push_back(matrix);
  }
  return found;
}

std::string cooperative_summary(const DeviceCaps& caps) {
  if (caps.cooperative_matrices.empty())
    return "no: " + (caps.cooperative_obstacle.empty() ? "none are known" : caps.cooperative_obstacle);
  std::string text;
  for (const CooperativeMatrix& matrix : half_products(caps)) {
    text += text.empty() ? (matrix.extension == MatrixExtension::khr ? "KHR " : "NV ") : ", ";
    text += std::to_string(matrix.m) + "x" + std::to_string(matrix.n) + "x" + std::to_string(matrix.k);
  }
  return text.empty() ? "no: none of halves with sums in fp32" : text;
}

}  // namespace vellum
