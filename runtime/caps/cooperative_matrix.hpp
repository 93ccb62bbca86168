// Products of small matrices that the invocations of a subgroup compute together
// (VK_KHR_cooperative_matrix, VK_NV_cooperative_matrix).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vellum {

enum class MatrixExtension : uint8_t { khr, nv };
enum class MatrixElement : uint8_t { f16, f32, f64, s8, s16, s32, s64, u8, u16, u32, u64, other };
enum class MatrixScope : uint8_t { device, workgroup, subgroup, queue_family };

// A product that a device supports: result (m x n) = a (m x k) * b (k x n) + c (m x n).
struct CooperativeMatrix {
  MatrixExtension extension = MatrixExtension::khr;
  MatrixScope scope = MatrixScope::subgroup;
  uint32_t m = 0, n = 0, k = 0;
  MatrixElement a = MatrixElement::f16, b = MatrixElement::f16;
  MatrixElement c = MatrixElement::f32, result = MatrixElement::f32;

  bool operator==(const CooperativeMatrix&) const = default;
};

struct DeviceCaps;

// The products that kernels use, computed by a subgroup: of halves with sums in fp32, or of signed bytes with
// sums in 32-bit integers.
enum class MatrixFactors : uint8_t { halves, bytes };

// Return the products of these factors that the device has.
std::vector<CooperativeMatrix> products_of(const DeviceCaps& caps, MatrixFactors factors);
std::vector<CooperativeMatrix> half_products(const DeviceCaps& caps);
std::vector<CooperativeMatrix> byte_products(const DeviceCaps& caps);

// Returns whether the product multiplies 8-bit integers, signed or not.
bool multiplies_bytes(const CooperativeMatrix& matrix);

// Removes the products of these factors from the caps.
void remove_products(DeviceCaps& caps, MatrixFactors factors);

// Formats half_products() and byte_products(): "KHR 16x16x16, 16x8x16; of bytes 16x16x32", or "no: " and the
// reason.
std::string cooperative_summary(const DeviceCaps& caps);

}  // namespace vellum
