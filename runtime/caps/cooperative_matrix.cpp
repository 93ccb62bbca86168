#include "caps/cooperative_matrix.hpp"

#include "caps/device_caps.hpp"

namespace vellum {

namespace {

bool has_factors(const CooperativeMatrix& matrix, MatrixFactors factors) {
  CooperativeMatrix wanted;  // has the element types and the scope of products of halves
  if (factors == MatrixFactors::bytes) {
    wanted.a = wanted.b = MatrixElement::s8;
    wanted.c = wanted.result = MatrixElement::s32;
  }
  wanted.extension = matrix.extension;
  wanted.m = matrix.m, wanted.n = matrix.n, wanted.k = matrix.k;
  return matrix == wanted;
}

// "16x16x16, 16x8x16"
std::string sizes_of(const std::vector<CooperativeMatrix>& matrices) {
  std::string text;
  for (const CooperativeMatrix& matrix : matrices) {
    if (!text.empty()) text += ", ";
    text += std::to_string(matrix.m) + "x" + std::to_string(matrix.n) + "x" + std::to_string(matrix.k);
  }
  return text;
}

}  // namespace

std::vector<CooperativeMatrix> products_of(const DeviceCaps& caps, MatrixFactors factors) {
  std::vector<CooperativeMatrix> found;
  for (const CooperativeMatrix& matrix : caps.cooperative_matrices)
    if (has_factors(matrix, factors)) found.push_back(matrix);
  return found;
}

std::vector<CooperativeMatrix> half_products(const DeviceCaps& caps) {
  return products_of(caps, MatrixFactors::halves);
}

std::vector<CooperativeMatrix> byte_products(const DeviceCaps& caps) {
  return products_of(caps, MatrixFactors::bytes);
}

bool multiplies_bytes(const CooperativeMatrix& matrix) {
  const auto is_byte = [](MatrixElement element) {
    return element == MatrixElement::s8 || element == MatrixElement::u8;
  };
  return is_byte(matrix.a) || is_byte(matrix.b);
}

void remove_products(DeviceCaps& caps, MatrixFactors factors) {
  std::erase_if(caps.cooperative_matrices, [&](const auto& matrix) { return has_factors(matrix, factors); });
}

std::string cooperative_summary(const DeviceCaps& caps) {
  if (caps.cooperative_matrices.empty())
    return "no: " + (caps.cooperative_obstacle.empty() ? "none are known" : caps.cooperative_obstacle);
  const std::string halves = sizes_of(half_products(caps)), bytes = sizes_of(byte_products(caps));
  if (halves.empty() && bytes.empty())
    return "no: none of halves with sums in fp32, or of bytes with sums in integers";
  std::string text = caps.cooperative_matrices.front().extension == MatrixExtension::khr ? "KHR " : "NV ";
  text += halves;
  if (!bytes.empty()) text += (halves.empty() ? "of bytes " : "; of bytes ") + bytes;
  return text;
}

}  // namespace vellum
