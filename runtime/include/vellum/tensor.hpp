// Element types, shapes and tensors in host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "vellum/export.h"

namespace vellum {

enum class DType : uint8_t { f32, f16, f64, i64, i32, i16, i8, u64, u32, u16, u8, boolean };

constexpr bool is_float(DType type) { return type == DType::f32 || type == DType::f16 || type == DType::f64; }
VELLUM_API size_t size_of(DType type);
VELLUM_API std::string_view name(DType type);  // numpy's names: "float32", "int64", "bool", ...

// Dimensions, outermost first. A dimension of kUnknownDim is not known yet.
using Shape = std::vector<int64_t>;
inline constexpr int64_t kUnknownDim = -1;

// Returns the product of the dimensions, 1 for a scalar. Throws Error if a dimension is unknown or the
// product overflows.
VELLUM_API int64_t element_count(const Shape& shape);
// The maximum number of elements of a tensor, so that a hostile file cannot make Vellum allocate without
// limit.
inline constexpr int64_t kMaxElements = int64_t{1} << 31;
// Returns element_count(). Throws Error(unsupported) for more than kMaxElements.
VELLUM_API int64_t checked_element_count(const Shape& shape);
VELLUM_API bool is_known(const Shape& shape);
VELLUM_API std::string to_string(const Shape& shape);  // "1x3x224x224"; "scalar" for rank 0; "?" for unknown

// Broadcasts two shapes as numpy does. Throws Error(invalid_argument) if they are incompatible.
VELLUM_API Shape broadcast(const Shape& a, const Shape& b);
// Returns the row-major strides, in elements.
VELLUM_API std::vector<int64_t> row_major_strides(const Shape& shape);

struct TensorType {
  DType dtype = DType::f32;
  Shape shape;
  bool operator==(const TensorType&) const = default;
};

// A dense row-major tensor in host memory. Copies share the bytes; mutable_as() unshares them first.
class VELLUM_API HostTensor {
 public:
  HostTensor() = default;
  HostTensor(DType dtype, Shape shape);  // zero-filled
  // Shares `data`, e.g. a range of a mapped file, which must have at least the tensor's bytes. Copies it if
  // it is not aligned for the element type. Never writes to it.
  HostTensor(DType dtype, Shape shape, std::shared_ptr<const std::byte> data);

  // Makes a tensor from elements, converted to `dtype` by value. T: float, double or a fixed-width integer.
  template <typename T>
  static HostTensor from(DType dtype, Shape shape, std::span<const T> elements);
  static HostTensor f32(Shape shape, std::span<const float> elements);
  static HostTensor i64(Shape shape, std::span<const int64_t> elements);

  DType dtype() const { return type_.dtype; }
  const Shape& shape() const { return type_.shape; }
  const TensorType& type() const { return type_; }
  int64_t elements() const;
  size_t byte_size() const;
  const std::byte* data() const { return data_.get(); }
  std::byte* mutable_data();

  // Return a view of the elements. Throw Error(invalid_argument) if T and the dtype differ in size, or if T
  // is a floating-point or signed integer type and the dtype is not. An unsigned T views the bits of any
  // dtype, such as the bits of fp16 elements.
  template <typename T>
  std::span<const T> as() const {
    check_element(sizeof(T), element_kind<T>());
    return {reinterpret_cast<const T*>(data_.get()), static_cast<size_t>(elements())};
  }
  template <typename T>
  std::span<T> mutable_as() {
    check_element(sizeof(T), element_kind<T>());
    return {reinterpret_cast<T*>(mutable_data()), static_cast<size_t>(elements())};
  }

  // Returns the same bytes with another shape of equal element count.
  HostTensor reshaped(Shape shape) const;
  // Return the elements of any numeric dtype, converted.
  std::vector<float> to_floats() const;
  std::vector<int64_t> to_ints() const;

 private:
  // opaque: a struct that wraps the bits.
  enum class ElementKind : uint8_t { opaque, floating, signed_integer, unsigned_integer };
  template <typename T>
  static constexpr ElementKind element_kind() {
    if (std::is_floating_point_v<T>) return ElementKind::floating;
    if (!std::is_integral_v<T>) return ElementKind::opaque;
    return std::is_signed_v<T> ? ElementKind::signed_integer : ElementKind::unsigned_integer;
  }
  static ElementKind element_kind(DType dtype);
  void check_element(size_t element_size, ElementKind kind) const;
  TensorType type_;
  std::shared_ptr<const std::byte> data_;
  bool writable_ = false;  // the bytes were allocated by this class, not lent by a caller
};

// Converts every element to another type; shares the bytes if the type is the same.
VELLUM_API HostTensor cast(const HostTensor& tensor, DType dtype);

// Conversion to and from IEEE 754 binary16; rounds to nearest even.
VELLUM_API uint16_t float_to_half(float value);
VELLUM_API float half_to_float(uint16_t half);

}  // namespace vellum
