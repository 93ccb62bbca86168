// Pictures larger than the device's memory: the bits of tiles of any size, within a budget that what is
// between Vellum and the Vulkan loader counts.
#include "vellum/large_pictures.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cstring>

#include "c_large_picture_program.h"
#include "glslang_tables.hpp"
#include "public_interface.hpp"
#include "support/environment.hpp"
#include "support/errors.hpp"
#include "support/tensors.hpp"
#include "tile/local_networks.hpp"
#include "vulkan/interposer.hpp"
#include "vulkan_app.hpp"

namespace vellum::test {
namespace {

constexpr int64_t kOpen = kUnknownDim;

// Pictures that nobody holds: a value and a digest of values by their place.
float value_at(size_t tensor, int64_t c, int64_t y, int64_t x) {
  uint64_t h = static_cast<uint64_t>(((static_cast<int64_t>(tensor) * 4 + c) * 100'003 + y) * 100'003 + x);
  h = (h ^ (h >> 31)) * 0x9e3779b97f4a7c15u;
  return static_cast<float>((h >> 40) & 0xff) / 255;
}

uint64_t mixed(uint64_t h) {
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
  return h ^ (h >> 31);
}

struct Digest {
  uint64_t sum = 0;    // of all elements with their places, in any order
  uint64_t count = 0;  // of elements
  bool operator==(const Digest&) const = default;
};

class LargePictures : public testing::Test {
 protected:
  void open() {
    app = std::make_unique<VulkanApp>(vulkan.get_instance_proc_addr());
    device.emplace(Device::adopt(app->device(), adopt_options()));
  }

  static LargePictureOptions options_for(int64_t height, int64_t width, int64_t tile_height = 0,
                                         int64_t tile_width = 0, uint64_t budget = 0) {
    LargePictureOptions options{.tile_height = tile_height, .tile_width = tile_width};
    options.session.input_shapes = {{"x", {1, 3, height, width}}};
    options.session.memory_budget = budget;
    return options;
  }

  static void fill(const PictureRegion& region, std::span<std::byte> values) {
    auto* next = reinterpret_cast<float*>(values.data());
    ASSERT_EQ(values.size(), static_cast<size_t>(3 * region.height * region.width) * sizeof(float));
    for (int64_t c = 0; c < 3; ++c)
      for (int64_t y = 0; y < region.height; ++y)
        for (int64_t x = 0; x < region.width; ++x)
          *next++ = value_at(region.tensor, c, region.top + y, region.left + x);
  }

  // The only output, put together.
  static Tensor run_whole(LargePicture& picture) {
    const Shape shape = picture.outputs().at(0).shape;
    Tensor whole(DType::f32, shape);
    auto* to = whole.mutable_as<float>().data();
    std::vector<int> written(static_cast<size_t>(shape[2] * shape[3]), 0);
    picture.run(fill, [&](const PictureRegion& region, std::span<const std::byte> values) {
      const auto* from = reinterpret_cast<const float*>(values.data());
      for (int64_t c = 0; c < shape[1]; ++c)
        for (int64_t y = region.top; y < region.top + region.height; ++y)
          for (int64_t x = region.left; x < region.left + region.width; ++x) {
            to[(c * shape[2] + y) * shape[3] + x] = *from++;
            if (c == 0) ++written[static_cast<size_t>(y * shape[3] + x)];
          }
    });
    EXPECT_TRUE(std::ranges::all_of(written, [](int times) { return times == 1; }));
    return whole;
  }

  static Digest run_digest(LargePicture& picture) {
    Digest digest;
    const Shape shape = picture.outputs().at(0).shape;
    picture.run(fill, [&](const PictureRegion& region, std::span<const std::byte> values) {
      const auto* from = reinterpret_cast<const float*>(values.data());
      for (int64_t c = 0; c < shape[1]; ++c)
        for (int64_t y = region.top; y < region.top + region.height; ++y)
          for (int64_t x = region.left; x < region.left + region.width; ++x)
            digest.sum += mixed(static_cast<uint64_t>((c * shape[2] + y) * shape[3] + x) << 32 ^
                                std::bit_cast<uint32_t>(*from++));
      digest.count += values.size() / sizeof(float);
    });
    return digest;
  }

  void expect_same_bits_in_all_tiles(const OnnxModel& network, int64_t height, int64_t width,
                                     std::initializer_list<std::pair<int64_t, int64_t>> tiles) {
    const Model model = load(network);
    LargePicture one(*device, model, options_for(height, width));
    EXPECT_EQ(one.tiles().count(), 1u);
    const Tensor wanted = run_whole(one);
    Tensor input(DType::f32, {1, 3, height, width});
    fill({0, 0, 0, height, width},
         {reinterpret_cast<std::byte*>(input.mutable_as<float>().data()), input.byte_size()});
    Session session(*device, model, {.input_shapes = {{"x", input.shape()}}});
    EXPECT_TRUE(close(wanted, session.run({{"x", input}}).begin()->second));
    for (const auto& [tile_height, tile_width] : tiles) {
      SCOPED_TRACE(std::to_string(tile_height) + "x" + std::to_string(tile_width));
      LargePicture picture(*device, model, options_for(height, width, tile_height, tile_width));
      EXPECT_GT(picture.tiles().count(), 1u);
      EXPECT_LE(picture.tiles().height, tile_height);
      EXPECT_TRUE(same_bits(run_whole(picture), wanted));
    }
  }

  Interposer vulkan;
  std::unique_ptr<VulkanApp> app;
  std::optional<Device> device;
};

TEST_F(LargePictures, TilesOfAnySizeGiveTheSameBits) {
  open();
  expect_same_bits_in_all_tiles(super_resolution({1, 3, kOpen, kOpen}, 8), 83, 70,
                                {{40, 70}, {83, 33}, {31, 29}, {20, 64}});
  expect_same_bits_in_all_tiles(unet({1, 3, kOpen, kOpen}), 176, 136, {{120, 136}, {112, 104}});
}

TEST_F(LargePictures, KeepTheMemoryBudget) {
  open();
  const Model model = load(super_resolution({1, 3, kOpen, kOpen}, 8));
  LargePicture unbounded(*device, model, options_for(160, 210, 160, 210));
  const Digest wanted = run_digest(unbounded);
  EXPECT_EQ(wanted.count, 3u * 9 * 160 * 210);
  uint64_t smallest = 0;
  for (const uint64_t budget : {uint64_t{2} << 20, uint64_t{1} << 20, uint64_t{600} << 10}) {
    SCOPED_TRACE(budget);
    const uint64_t before = vulkan.allocated_bytes();
    vulkan.reset_peak();
    LargePicture picture(*device, model, options_for(160, 210, 0, 0, budget));
    EXPECT_EQ(run_digest(picture), wanted);
    EXPECT_LE(vulkan.peak_bytes() - before, budget);
    EXPECT_EQ(vulkan.peak_bytes() - before, picture.peak_bytes());
    EXPECT_GT(picture.tiles().count(), smallest);
    smallest = picture.tiles().count();
  }
  EXPECT_VELLUM_ERROR(LargePicture(*device, model, options_for(160, 210, 0, 0, 20'000)),
                      ErrorCode::out_of_memory, "20000 bytes is too small", "tiles of");
}

TEST_F(LargePictures, CanBeWatchedAndCancelled) {
  open();
  LargePicture picture(*device, load(super_resolution({1, 3, kOpen, kOpen}, 4)), options_for(60, 60, 30, 30));
  const size_t total = picture.tiles().count();
  ASSERT_GT(total, 3u);
  size_t calls = 0, written = 0;
  const auto write = [&](const PictureRegion&, std::span<const std::byte>) { ++written; };
  const auto cancel_after_two = [&](size_t done, size_t of) {
    EXPECT_EQ(done, calls++);
    EXPECT_EQ(of, total);
    return done < 2;
  };
  EXPECT_VELLUM_ERROR(picture.run(fill, write, cancel_after_two), ErrorCode::cancelled, "cancelled");
  EXPECT_EQ(written, 2u);
  picture.run(fill, write);
  EXPECT_EQ(written, 2 + total) << "a run that was cancelled leaves nothing behind";
}

TEST_F(LargePictures, RefuseWhatHasNoTiles) {
  open();
  OnnxModel pooled;
  pooled.input("x", {1, 3, kOpen, kOpen}).node("Relu", {"x"}, {"r"}, {}, "relu");
  pooled.node("GlobalAveragePool", {"r"}, {"m"}, {}, "mean_of_all")
      .node("Mul", {"r", "m"}, {"y"}, {}, "scale");
  pooled.output("y");
  EXPECT_VELLUM_ERROR(LargePicture(*device, load(pooled), options_for(60, 60)), ErrorCode::unsupported,
                      "mean_of_all", "rows");
  const Model model = load(super_resolution({1, 3, kOpen, kOpen}, 4));
  EXPECT_VELLUM_ERROR(LargePicture(*device, model, options_for(60, 60, 12, 60)), ErrorCode::invalid_argument,
                      "halo");
  EXPECT_VELLUM_ERROR(LargePicture(*device, model, {}), ErrorCode::invalid_argument, "input_shapes");
  LargePictureOptions streamed = options_for(60, 60);
  streamed.session.weights_budget = 1 << 20;
  EXPECT_VELLUM_ERROR(LargePicture(*device, model, streamed), ErrorCode::invalid_argument, "weights_budget");
  LargePictureOptions checked = options_for(60, 60);
  checked.session.check_finite = true;
  EXPECT_VELLUM_ERROR(LargePicture(*device, model, checked), ErrorCode::invalid_argument, "check_finite");
}

TEST_F(LargePictures, RegionsNameTheDimensionOfTheirRows) {
  open();
  OnnxModel last;  // N, H, W, C in, N, C, H, W out
  last.input("x", {1, kOpen, kOpen, 3})
      .node("Transpose", {"x"}, {"t"}, attributes({{"perm", Attributes::Ints{0, 3, 1, 2}}}))
      .node("AveragePool", {"t"}, {"y"}, attributes({{"kernel_shape", Attributes::Ints{3, 3}}}))
      .output("y");
  LargePictureOptions options{.tile_height = 20, .tile_width = 16};
  options.session.input_shapes = {{"x", {1, 40, 50, 3}}};
  LargePicture picture(*device, load(last), options);
  size_t regions = 0;
  picture.run(
      [&](const PictureRegion& region, std::span<std::byte> values) {
        EXPECT_EQ(region.rows_axis, 1u);
        std::ranges::fill(values, std::byte{0});
        ++regions;
      },
      [&](const PictureRegion& region, std::span<const std::byte>) { EXPECT_EQ(region.rows_axis, 2u); });
  EXPECT_GT(regions, 4u);
}

TEST_F(LargePictures, ProgramInCHasTheSameBits) {
  open();
  const OnnxModel network = super_resolution({1, 3, kOpen, kOpen}, 4);
  LargePicture picture(*device, load(network), options_for(57, 50));
  const Tensor wanted = run_whole(picture);
  std::vector<float> input(3 * 57 * 50);
  fill({0, 0, 0, 57, 50}, std::as_writable_bytes(std::span(input)));
  Tensor output(DType::f32, wanted.shape());
  const std::string bytes = network.bytes();
  char what[512] = "";
  EXPECT_EQ(large_picture_in_c(bytes.data(), bytes.size(), input.data(), 57, 50, 30, 3,
                               output.mutable_as<float>().data(), what),
            0)
      << what;
  EXPECT_TRUE(same_bits(output, wanted));
}

// 7680 x 4320 pixels become 23040 x 12960, minutes on a CPU: VELLUM_TEST_FULL.
TEST_F(LargePictures, ScreensOf8KWithin256MiB) {
  if (!in_full()) GTEST_SKIP() << "VELLUM_TEST_FULL is not set";
  open();
  const Model model = load(super_resolution({1, 3, kOpen, kOpen}));
  constexpr uint64_t kBudget = uint64_t{256} << 20;
  const uint64_t before = vulkan.allocated_bytes();
  Digest wanted;
  for (const int64_t tile : {0, 300}) {
    vulkan.reset_peak();
    LargePicture picture(*device, model, options_for(4320, 7680, tile, tile, kBudget));
    const Digest found = run_digest(picture);
    EXPECT_LE(vulkan.peak_bytes() - before, kBudget);
    EXPECT_EQ(found.count, 3u * 9 * 4320 * 7680);
    if (tile == 0) wanted = found;
    EXPECT_EQ(found, wanted);
  }
}

}  // namespace
}  // namespace vellum::test
