#include "exec/host_values.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "graph/element.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

// A value that the device holds as i32 may have any integer type in the model, and one that it holds as f32
// or f16, any type of floats.
template <typename Visitor>
void visit_device_element(ElementType element, Visitor&& visitor) {
  switch (element) {
    case ElementType::f32:
      return visitor(ElementTag<float>{});
    case ElementType::f16:
      return visitor(ElementTag<Half>{});
    case ElementType::i32:
      return visitor(ElementTag<int32_t>{});
    case ElementType::u8:
      return visitor(ElementTag<uint8_t>{});
    case ElementType::q8:
      break;  // no tensor of the host has it
  }
  throw Error(ErrorCode::internal, "unknown element type");
}

// The device holds the bits of unsigned integers of 32 bits.
int32_t device_integer(uint32_t value) { return static_cast<int32_t>(value); }
template <typename Integer>
int32_t device_integer(Integer value) {
  if (!std::in_range<int32_t>(value))
    throw Error(ErrorCode::unsupported,
                "integer " + std::to_string(value) + " does not fit the 32 bits of device integers");
  return static_cast<int32_t>(value);
}

template <typename To, typename From>
To to_device(From value) {
  if constexpr (std::is_same_v<To, int32_t> && std::is_integral_v<Widened<From>>)
    return device_integer(widen(value));
  else
    return convert<To>(value);
}

template <typename To, typename From>
To from_device(From value) {
  if constexpr (std::is_same_v<From, int32_t> && std::is_same_v<To, Bool>)
    return Bool{static_cast<uint8_t>(value)};
  else if constexpr (std::is_same_v<From, int32_t> && std::is_unsigned_v<To>)
    return static_cast<To>(static_cast<uint32_t>(value));
  else
    return convert<To>(value);
}

// The caller's bytes need not be aligned.
template <typename To, typename From, typename Convert>
void convert_each(std::span<const std::byte> from, std::span<std::byte> to, Convert&& one) {
  const size_t count = std::min(from.size() / sizeof(From), to.size() / sizeof(To));
  for (size_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from.data() + i * sizeof(From), sizeof(From));
    const To converted = one(value);
    std::memcpy(to.data() + i * sizeof(To), &converted, sizeof(To));
  }
}

// Whether the device holds the very bytes of the host.
bool same_bytes(ElementType element, DType dtype) {
  return (element == ElementType::f32 && dtype == DType::f32) ||
         (element == ElementType::f16 && dtype == DType::f16) ||
         (element == ElementType::i32 && dtype == DType::i32) ||
         (element == ElementType::u8 && dtype == DType::u8);
}

void check_kinds(ElementType element, DType dtype) {
  const bool integers = element == ElementType::i32 || element == ElementType::u8;
  if (integers == is_float(dtype))
    throw Error(ErrorCode::internal, "a tensor of " + std::string(name(element)) + " on the device is " +
                                         std::string(name(dtype)) + " on the host");
}

}  // namespace

void write_linear(const TensorDesc& desc, DType dtype, std::span<const std::byte> elements,
                  std::span<std::byte> to) {
  const size_t count = elements.size() / size_of(dtype), written = count * size_of(desc.element);
  if (written > to.size()) throw Error(ErrorCode::internal, "more elements than the tensor holds");
  std::memset(to.data() + written, 0, to.size() - written);
  if (same_bytes(desc.element, dtype)) {
    if (written) std::memcpy(to.data(), elements.data(), written);
    return;
  }
  visit_element(dtype, [&](auto from_tag) {
    using From = typename decltype(from_tag)::type;
    visit_device_element(desc.element, [&](auto to_tag) {
      using To = typename decltype(to_tag)::type;
      convert_each<To, From>(elements, to, [](From value) { return to_device<To>(value); });
    });
  });
}

void write_linear(const TensorDesc& desc, const HostTensor& tensor, std::span<std::byte> to) {
  write_linear(desc, tensor.dtype(), {tensor.data(), tensor.byte_size()}, to);
}

void read_linear(const TensorDesc& desc, DType dtype, std::span<const std::byte> from,
                 std::span<std::byte> to) {
  check_kinds(desc.element, dtype);
  if (to.size() / size_of(dtype) * size_of(desc.element) > from.size())
    throw Error(ErrorCode::internal, "more elements are read than the tensor holds");
  if (same_bytes(desc.element, dtype)) {
    if (!to.empty()) std::memcpy(to.data(), from.data(), to.size());
    return;
  }
  visit_device_element(desc.element, [&](auto from_tag) {
    using From = typename decltype(from_tag)::type;
    visit_element(dtype, [&](auto to_tag) {
      using To = typename decltype(to_tag)::type;
      convert_each<To, From>(from, to, [](From value) { return from_device<To>(value); });
    });
  });
}

HostTensor read_linear(const TensorDesc& desc, const TensorType& type, std::span<const std::byte> from) {
  HostTensor tensor(type.dtype, type.shape);
  if (tensor.elements() > 0) read_linear(desc, type.dtype, from, {tensor.mutable_data(), tensor.byte_size()});
  return tensor;
}

bool have_same_bits(const HostTensor& a, const HostTensor& b) {
  return a.byte_size() == b.byte_size() && std::memcmp(a.data(), b.data(), a.byte_size()) == 0;
}

}  // namespace vellum
