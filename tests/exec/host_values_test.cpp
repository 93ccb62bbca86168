// Between the model's element types and those of the device.
#include "exec/host_values.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "graph/element.hpp"
#include "support/errors.hpp"

namespace vellum::test {
namespace {

TensorDesc desc(ElementType element, int64_t elements) { return {{elements}, element}; }

HostTensor through_device(ElementType element, const HostTensor& tensor) {
  const TensorDesc on_device = desc(element, tensor.elements());
  std::vector<std::byte> bytes(on_device.byte_size(), std::byte{0xff});
  write_linear(on_device, tensor, bytes);
  return read_linear(on_device, tensor.type(), bytes);
}

TEST(HostValues, EveryTypeComesBackAsItWas) {
  const std::vector<int64_t> numbers{0, 1, 5, 100, 1, 0, 127};
  for (const DType dtype :
       {DType::i64, DType::i32, DType::i16, DType::i8, DType::u64, DType::u32, DType::u16, DType::u8}) {
    const HostTensor tensor = HostTensor::from<int64_t>(dtype, {7}, numbers);
    EXPECT_EQ(through_device(ElementType::i32, tensor).to_ints(), numbers) << name(dtype);
  }
  const HostTensor flags = HostTensor::from<int64_t>(DType::boolean, {3}, std::vector<int64_t>{1, 0, 1});
  EXPECT_EQ(through_device(ElementType::i32, flags).to_ints(), (std::vector<int64_t>{1, 0, 1}));
  for (const ElementType element : {ElementType::f32, ElementType::f16})
    for (const DType dtype : {DType::f32, DType::f16, DType::f64}) {
      const std::vector<float> values{0.0f, -1.5f, 0.25f, 1024.0f, 3.0f};
      const HostTensor tensor = HostTensor::from<float>(dtype, {5}, values);
      EXPECT_EQ(through_device(element, tensor).to_floats(), values) << name(dtype);
    }
}

// A frame: as it is on the host, padded to whole words.
TEST(HostValues, BytesStayBytes) {
  const TensorDesc frame = desc(ElementType::u8, 7);
  EXPECT_EQ(frame.byte_size(), 8u);
  const std::vector<int64_t> numbers{0, 1, 5, 255, 128, 0, 127};
  const HostTensor tensor = HostTensor::from<int64_t>(DType::u8, {7}, numbers);
  std::vector<std::byte> bytes(frame.byte_size(), std::byte{0xff});
  write_linear(frame, tensor, bytes);
  EXPECT_EQ(std::memcmp(bytes.data(), tensor.data(), 7), 0);
  EXPECT_EQ(bytes[7], std::byte{0});
  EXPECT_EQ(read_linear(frame, tensor.type(), bytes).to_ints(), numbers);
}

TEST(HostValues, NegativeIntegersAndLargeUnsignedOnes) {
  const std::vector<int64_t> negative{-1, -128, 127};
  EXPECT_EQ(through_device(ElementType::i32, HostTensor::from<int64_t>(DType::i8, {3}, negative)).to_ints(),
            negative);
  // The device's 32 bits, read as unsigned.
  const int32_t minus_one = -1;
  std::array<std::byte, 16> bytes{};
  std::memcpy(bytes.data(), &minus_one, sizeof minus_one);
  EXPECT_EQ(read_linear(desc(ElementType::i32, 1), {DType::u64, {1}}, bytes).to_ints(),
            (std::vector<int64_t>{4294967295}));
}

TEST(HostValues, RefuseIntegersBeyond32Bits) {
  std::vector<std::byte> bytes(16);
  for (const int64_t value : {int64_t{1} << 31, -(int64_t{1} << 31) - 1}) {
    const HostTensor tensor = HostTensor::i64({1}, std::vector<int64_t>{value});
    EXPECT_VELLUM_ERROR(write_linear(desc(ElementType::i32, 1), tensor, bytes), ErrorCode::unsupported,
                        std::to_string(value), "32 bits");
  }
}

TEST(HostValues, WhatLiesBehindTheElementsIsZero) {
  std::vector<std::byte> bytes(16, std::byte{0xff});
  write_linear(desc(ElementType::f32, 3), HostTensor::f32({3}, std::vector<float>{1, 2, 3}), bytes);
  EXPECT_TRUE(
      std::all_of(bytes.begin() + 12, bytes.end(), [](std::byte byte) { return byte == std::byte{0}; }));
}

}  // namespace
}  // namespace vellum::test
