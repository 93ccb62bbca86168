#include "exec/host_values.hpp"

#include <cstring>

#include "kernels/packing.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

template <typename To, typename From>
void convert(const std::byte* from, HostTensor& to) {
  const auto* elements = reinterpret_cast<const From*>(from);
  auto out = to.mutable_as<To>();
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<To>(elements[i]);
}

void from_floats(const float* from, HostTensor& to) {
  const auto* bytes = reinterpret_cast<const std::byte*>(from);
  switch (to.dtype()) {
    case DType::f32: std::memcpy(to.mutable_data(), from, to.byte_size()); return;
    case DType::f64: return convert<double, float>(bytes, to);
    case DType::f16: {
      auto out = to.mutable_as<uint16_t>();
      for (size_t i = 0; i < out.size(); ++i) out[i] = float_to_half(from[i]);
      return;
    }
    default: throw Error(ErrorCode::internal, "a float tensor is read as " + std::string(name(to.dtype())));
  }
}

void from_ints(const std::byte* from, HostTensor& to) {
  switch (to.dtype()) {
    case DType::i64: return convert<int64_t, int32_t>(from, to);
    case DType::i32: return convert<int32_t, int32_t>(from, to);
    case DType::i16: return convert<int16_t, int32_t>(from, to);
    case DType::i8: return convert<int8_t, int32_t>(from, to);
    case DType::u64: return convert<uint64_t, uint32_t>(from, to);
    case DType::u32: return convert<uint32_t, uint32_t>(from, to);
    case DType::u16: return convert<uint16_t, int32_t>(from, to);
    case DType::u8:
    case DType::boolean: return convert<uint8_t, int32_t>(from, to);
    default: throw Error(ErrorCode::internal, "an integer tensor is read as " + std::string(name(to.dtype())));
  }
}

}  // namespace

void write_linear(const TensorDesc& desc, const HostTensor& tensor, std::span<std::byte> to) {
  if (desc.element == ElementType::f32 && tensor.dtype() == DType::f32) {
    std::memcpy(to.data(), tensor.data(), tensor.byte_size());
    return;
  }
  const std::vector<std::byte> bytes =
      desc.element == ElementType::i32 ? pack_ints(desc, tensor.to_ints()) : pack_elements(desc, tensor.to_floats());
  std::memcpy(to.data(), bytes.data(), bytes.size());
}

HostTensor read_linear(const TensorDesc& desc, const TensorType& type, std::span<const std::byte> from) {
  HostTensor tensor(type.dtype, type.shape);
  if (desc.element == ElementType::i32) {
    from_ints(from.data(), tensor);
  } else if (desc.element == ElementType::f32) {
    from_floats(reinterpret_cast<const float*>(from.data()), tensor);
  } else {
    const auto* halves = reinterpret_cast<const uint16_t*>(from.data());
    std::vector<float> floats(static_cast<size_t>(tensor.elements()));
    for (size_t i = 0; i < floats.size(); ++i) floats[i] = half_to_float(halves[i]);
    from_floats(floats.data(), tensor);
  }
  return tensor;
}

}  // namespace vellum
