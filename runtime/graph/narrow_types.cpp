#include "graph/narrow_types.hpp"

#include <cmath>
#include <limits>

namespace vellum {
namespace {

// https://onnx.ai/onnx/technical/float8.html, float4.html, int4.html
constexpr NarrowType kTypes[] = {
    {16, "bfloat16", 16, DType::f32, NarrowFloat{7, -126, 0x1.fep127f, Specials::ieee}},
    {17, "float8e4m3fn", 8, DType::f32, NarrowFloat{3, -6, 448.0f, Specials::fn}},
    {18, "float8e4m3fnuz", 8, DType::f32, NarrowFloat{3, -7, 240.0f, Specials::fnuz}},
    {19, "float8e5m2", 8, DType::f32, NarrowFloat{2, -14, 57344.0f, Specials::ieee}},
    {20, "float8e5m2fnuz", 8, DType::f32, NarrowFloat{2, -15, 57344.0f, Specials::fnuz}},
    {21, "uint4", 4, DType::u8, std::nullopt},
    {22, "int4", 4, DType::i8, std::nullopt},
    {23, "float4e2m1", 4, DType::f32, NarrowFloat{1, 0, 6.0f, Specials::finite}},
    {25, "uint2", 2, DType::u8, std::nullopt},
    {26, "int2", 2, DType::i8, std::nullopt},
};

float decode(const NarrowFloat& format, uint32_t code, int bits) {
  const uint32_t sign = code >> (bits - 1), magnitude = code & ((1u << (bits - 1)) - 1);
  const uint32_t mantissa = magnitude & ((1u << format.mantissa_bits) - 1),
                 exponent = magnitude >> format.mantissa_bits;
  const uint32_t ones = (1u << (bits - 1 - format.mantissa_bits)) - 1;
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  if (format.specials == Specials::fnuz && sign == 1 && magnitude == 0) return kNan;
  if (format.specials == Specials::fn && magnitude == (1u << (bits - 1)) - 1) return kNan;
  if (format.specials == Specials::ieee && exponent == ones)
    return mantissa != 0 ? kNan : sign ? -INFINITY : INFINITY;
  const double whole = exponent == 0 ? mantissa : mantissa + (1u << format.mantissa_bits);
  const int power =
      format.lowest_exponent + static_cast<int>(exponent == 0 ? 0 : exponent - 1) - format.mantissa_bits;
  const double value = std::ldexp(whole, power);
  return static_cast<float>(sign ? -value : value);
}

int64_t decode_integer(uint32_t code, int bits, bool is_signed) {
  const auto value = static_cast<int64_t>(code);
  return is_signed && (code >> (bits - 1)) != 0 ? value - (int64_t{1} << bits) : value;
}

}  // namespace

const NarrowType* find_narrow_type(int64_t number) {
  for (const NarrowType& type : kTypes)
    if (type.number == number) return &type;
  return nullptr;
}

IntegerRange integer_range(DType stored, int bits) {
  const bool is_signed = stored == DType::i8 || stored == DType::i16 || stored == DType::i32;
  return is_signed ? IntegerRange{-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1}
                   : IntegerRange{0, (int64_t{1} << bits) - 1};
}

double round_to(const NarrowFloat& format, double value, bool saturate) {
  if (std::isnan(value)) return format.specials == Specials::finite ? 0.0 : value;
  double magnitude = std::fabs(value);
  if (magnitude != 0.0 && !std::isinf(magnitude)) {
    int exponent = 0;
    std::frexp(magnitude, &exponent);  // in [0.5, 1)
    const int quantum = std::max(exponent - 1, format.lowest_exponent) - format.mantissa_bits;
    // nearbyint: half to even, the default rounding mode.
    magnitude = std::ldexp(std::nearbyint(std::ldexp(magnitude, -quantum)), quantum);
  }
  if (magnitude > static_cast<double>(format.largest)) {
    const double beyond =
        format.specials == Specials::ieee ? INFINITY : std::numeric_limits<double>::quiet_NaN();
    magnitude =
        saturate || format.specials == Specials::finite ? static_cast<double>(format.largest) : beyond;
  }
  return std::copysign(magnitude, value);
}

uint64_t packed_bytes(const NarrowType& type, uint64_t elements) {
  const auto per_byte = static_cast<uint64_t>(type.bits < 8 ? 8 / type.bits : 1);
  return type.bits > 8 ? elements * static_cast<uint64_t>(type.bits / 8)
                       : elements / per_byte + (elements % per_byte != 0);
}

HostTensor unpack(const NarrowType& type, const Shape& shape, std::span<const std::byte> packed) {
  HostTensor tensor(type.stored, shape);
  const auto count = static_cast<size_t>(tensor.elements());
  const auto code = [&](size_t i) -> uint32_t {
    if (type.bits == 16)
      return std::to_integer<uint32_t>(packed[2 * i]) | std::to_integer<uint32_t>(packed[2 * i + 1]) << 8;
    const size_t per_byte = 8 / static_cast<size_t>(type.bits);
    const uint32_t byte = std::to_integer<uint32_t>(packed[i / per_byte]);
    return byte >> (i % per_byte * static_cast<size_t>(type.bits)) & ((1u << type.bits) - 1);
  };
  if (type.format) {
    const auto values = tensor.mutable_as<float>();
    for (size_t i = 0; i < count; ++i) values[i] = decode(*type.format, code(i), type.bits);
    return tensor;
  }
  const auto bytes = tensor.mutable_as<uint8_t>();
  for (size_t i = 0; i < count; ++i)
    bytes[i] = static_cast<uint8_t>(decode_integer(code(i), type.bits, type.stored == DType::i8));
  return tensor;
}

}  // namespace vellum
