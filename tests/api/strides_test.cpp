// Buffers of the application's with strides, as inputs and outputs of recorded inferences.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "public_interface.hpp"
#include "small_model.hpp"
#include "support/errors.hpp"
#include "support/tensors.hpp"
#include "vellum/frame.hpp"
#include "vellum/picture.hpp"
#include "vulkan/interposer.hpp"
#include "vulkan_app.hpp"

namespace vellum::test {
namespace {

using Strides = std::vector<VkDeviceSize>;

constexpr uint8_t kUntouched = 0xab;

Strides dense_strides(const Shape& shape, uint64_t element_bytes = 4) {
  Strides strides(shape.size());
  uint64_t next = element_bytes;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = next;
    next *= static_cast<uint64_t>(shape[d]);
  }
  return strides;
}

// A random order of the dimensions in memory, with padding after each.
Strides random_strides(const Shape& shape, std::mt19937& random) {
  std::vector<size_t> order(shape.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::shuffle(order, random);
  Strides strides(shape.size());
  uint64_t next = 4;
  for (const size_t d : order) {
    strides[d] = next;
    next = next * static_cast<uint64_t>(shape[d]) + 4 * (random() % 3);
  }
  return strides;
}

uint64_t reach(const Shape& shape, const Strides& strides, uint64_t element_bytes = 4) {
  uint64_t bytes = element_bytes;
  for (size_t d = 0; d < shape.size(); ++d) bytes += static_cast<uint64_t>(shape[d] - 1) * strides[d];
  return (bytes + 3) / 4 * 4;
}

// Calls `visit` with the byte position of each element in row-major order.
template <typename Visit>
void for_each_position(const Shape& shape, const Strides& strides, Visit&& visit) {
  std::vector<int64_t> at(shape.size(), 0);
  for (;;) {
    uint64_t position = 0;
    for (size_t d = 0; d < shape.size(); ++d) position += static_cast<uint64_t>(at[d]) * strides[d];
    visit(position);
    size_t d = shape.size();
    while (d > 0 && ++at[d - 1] == shape[d - 1]) at[--d] = 0;
    if (d == 0) return;
  }
}

class StridedBindings : public testing::Test {
 protected:
  StridedBindings() : app(vulkan.get_instance_proc_addr()), device(adopt()) {}

  Device adopt() { return Device::adopt(app.device(), adopt_options()); }
  AppBuffer make(uint64_t bytes) {
    AppBuffer buffer = app.make_buffer(
        bytes, vk::BufferUsageFlagBits::eStorageBuffer | vk::BufferUsageFlagBits::eStorageTexelBuffer);
    std::memset(buffer.data, kUntouched, buffer.bytes);
    return buffer;
  }

  // Runs the session's input x and output y through strided buffers. Checks that nothing is written beside
  // the output's elements.
  Tensor run_strided(Session& session, const Tensor& x, const Strides& of_x, const Strides& of_y) {
    const Shape shape = session.outputs()[0].shape;
    Tensor y(session.outputs()[0].dtype, shape);
    const uint64_t size = y.byte_size() / static_cast<uint64_t>(element_count(shape));
    const AppBuffer in = make(reach(x.shape(), of_x)), out = make(reach(shape, of_y, size));
    const auto* next = static_cast<const std::byte*>(x.data());
    for_each_position(x.shape(), of_x, [&](uint64_t position) {
      std::memcpy(in.data + position, next, 4);
      next += 4;
    });
    const BufferBinding bound_x{"x", *in.buffer, 0, in.bytes, of_x},
        bound_y{"y", *out.buffer, 0, out.bytes, of_y};
    session.bind({&bound_x, 1}, {&bound_y, 1}).run();
    auto* to = static_cast<std::byte*>(y.mutable_data());
    for_each_position(shape, of_y, [&](uint64_t position) {
      std::memcpy(to, out.data + position, size);
      std::memset(out.data + position, kUntouched, size);
      to += size;
    });
    EXPECT_TRUE(std::all_of(out.data, out.data + out.bytes, [](std::byte byte) {
      return byte == std::byte{kUntouched};
    })) << "padding was written";
    return y;
  }

  Interposer vulkan;
  VulkanApp app;
  Device device;
};

TEST_F(StridedBindings, RowsHavePaddingAndChannelsAreInterleaved) {
  Session session(device, load(small_model()));
  const Tensor x = random_tensor({1, 3, 9, 11}, 1);
  const Tensor want = session.run({{"x", x}}).at("y");
  const Strides rows{0, 9 * 64, 64, 4}, interleaved{0, 4, 12 * 11, 12}, of_y{1000, 400, 52, 8};
  for (const Strides& of_x : {dense_strides(x.shape()), rows, interleaved}) {
    EXPECT_TRUE(same_bits(run_strided(session, x, of_x, of_y), want));
    EXPECT_TRUE(same_bits(run_strided(session, x, of_x, dense_strides(want.shape())), want));
  }
}

// Between strided and dense bindings, again and again with one recording.
TEST_F(StridedBindings, RandomOrdersOfDimensionsHaveTheBitsOfRun) {
  constexpr uint32_t seed = 20;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int i = 0; i < 12; ++i) {
    Shape shape(1 + random() % 5);
    for (int64_t& dim : shape) dim = 1 + static_cast<int64_t>(random() % 5);
    OnnxModel model;
    model.input("x", shape).node("Neg", {"x"}, {"y"}, {}, "neg").output("y");
    Session session(device, load(model));
    const Tensor x = random_tensor(shape, static_cast<uint32_t>(i));
    const Tensor want = session.run({{"x", x}}).at("y");
    const Strides of_x = random_strides(shape, random), of_y = random_strides(shape, random);
    EXPECT_TRUE(same_bits(run_strided(session, x, of_x, of_y), want)) << i;
  }
}

TEST_F(StridedBindings, PicturesHaveRowsWithPadding) {
  OnnxModel model;
  model.input("x", {1, 1, 6, 10}).node("Abs", {"x"}, {"y"}, {}, "abs").output("y");
  const PictureOutput picture{.palette = {{0, 0, 0, 255}, {255, 128, 0, 255}}};
  Session session(device, with_picture(load(model), "y", picture));
  const Tensor x = random_tensor({1, 1, 6, 10}, 3);
  const Tensor want = session.run({{"x", x}}).at("y");
  ASSERT_EQ(want.dtype(), DType::u8);
  Strides rows = dense_strides(want.shape(), 1);
  const size_t row = rows.size() - 3;
  rows[row] = 64;
  for (size_t d = 0; d < row; ++d) rows[d] = 64 * 6;
  EXPECT_TRUE(same_bits(run_strided(session, x, dense_strides(x.shape()), rows), want));
  rows[row] = 62;
  EXPECT_VELLUM_ERROR(run_strided(session, x, dense_strides(x.shape()), rows), ErrorCode::unsupported,
                      "output 'y'", "groups of four");
}

TEST_F(StridedBindings, WhatTheLayoutDoesNotAllowIsRefused) {
  Session session(device, load(small_model()));
  const AppBuffer buffer = make(8192), other = make(8192);
  const BufferBinding dense_y{"y", *other.buffer, 0, other.bytes};
  const auto bind_x = [&](const Strides& strides, uint64_t bytes = 8192) {
    const BufferBinding x{"x", *buffer.buffer, 0, bytes, strides};
    return session.bind({&x, 1}, {&dense_y, 1});
  };
  const auto bind_y = [&](const Strides& strides) {
    const BufferBinding x{"x", *buffer.buffer, 0, buffer.bytes},
        y{"y", *other.buffer, 0, other.bytes, strides};
    return session.bind({&x, 1}, {&y, 1});
  };
  constexpr ErrorCode invalid = ErrorCode::invalid_argument, unsupported = ErrorCode::unsupported;
  EXPECT_VELLUM_ERROR(bind_x({4, 4}), invalid, "input 'x'", "there are 2 for the shape");
  EXPECT_VELLUM_ERROR(bind_x({0, 600, 62, 4}), invalid, "62 is not a multiple of the 4 bytes");
  EXPECT_VELLUM_ERROR(bind_x({0, 600, 64, 4}, 1000), invalid, "it takes 1756 bytes");
  EXPECT_VELLUM_ERROR(bind_x({0, VkDeviceSize{1} << 31, 64, 4}), unsupported, "beyond 2 GiB");
  EXPECT_VELLUM_ERROR(bind_x({0, UINT64_MAX - 3, 64, 4}), unsupported, "beyond 2 GiB");
  EXPECT_VELLUM_ERROR(bind_y({0, 80, 16, 4}), invalid, "output 'y'", "elements overlap");
  const FrameInput frame{.format = FrameFormat::rgba8, .width = 16, .height = 8};
  Session frames(device, with_frames(load(small_model()), "x", frame));
  const Strides any{1};
  const BufferBinding x{"x", *buffer.buffer, 0, buffer.bytes, any};
  EXPECT_VELLUM_ERROR(frames.bind({&x, 1}, {&dense_y, 1}), unsupported, "FrameInput::row_bytes");
  // An output that overlaps an input, by the bytes that the strides reach.
  const Strides wide{0, 1200, 128, 4};
  const BufferBinding strided_x{"x", *buffer.buffer, 0, 4096, wide},
      inside_y{"y", *buffer.buffer, 2048, 1024};
  EXPECT_VELLUM_ERROR(session.bind({&strided_x, 1}, {&inside_y, 1}), invalid, "overlaps");
}

}  // namespace
}  // namespace vellum::test
