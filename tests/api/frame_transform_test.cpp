// FrameTransform and the sizes of frames: plain values, no device.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "support/errors.hpp"
#include "vellum/frame.hpp"

namespace vellum::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

void expect_point(FramePoint got, FramePoint want) {
  EXPECT_NEAR(got.x, want.x, 1e-9);
  EXPECT_NEAR(got.y, want.y, 1e-9);
}

TEST(FrameTransform, StretchCoversTheFrame) {
  const auto map = FrameTransform::stretch({640, 480}, {128, 96});
  expect_point(map.to_frame({0, 0}), {0, 0});
  expect_point(map.to_frame({128, 96}), {640, 480});
  expect_point(map.to_frame({0.5, 0.5}), {2.5, 2.5});
}

TEST(FrameTransform, LetterboxCoversWholePixelsInTheMiddle) {
  const auto map = FrameTransform::letterbox({1280, 720}, {128, 128});
  expect_point(map.to_network({0, 0}), {0, 28});
  expect_point(map.to_network({1280, 720}), {128, 100});
  const auto upright = FrameTransform::letterbox({451, 300}, {256, 256});
  expect_point(upright.to_network({0, 0}), {0, 43});  // 170 rows: 300 * 256 / 451 rounded
  expect_point(upright.to_network({451, 300}), {256, 213});
  expect_point(FrameTransform::letterbox({10000, 1}, {8, 8}).to_network({10000, 1}), {8, 4});
}

TEST(FrameTransform, CenterCropFillsTheNetwork) {
  const auto map = FrameTransform::center_crop({640, 480}, {224, 224});
  expect_point(map.to_frame({0, 0}), {80, 0});
  expect_point(map.to_frame({224, 224}), {560, 480});
}

TEST(FrameTransform, RotatesClockwiseAroundTheCenter) {
  const double quarter = std::numbers::pi / 2;
  const auto map = FrameTransform::rotated({100, 50}, {40, 20}, quarter, {80, 40});
  expect_point(map.to_frame({40, 20}), {100, 50});
  expect_point(map.to_frame({80, 20}), {100, 70});  // the network's right is down in the frame
  expect_point(map.to_frame({40, 40}), {90, 50});
  EXPECT_EQ(map.matrix()[0], 0.0) << "a quarter turn stays along the axes";
  EXPECT_EQ(map.matrix()[4], 0.0);
}

TEST(FrameTransform, FlipsTheNetworksSide) {
  const auto map = FrameTransform::rotated({31, 17}, {20, 12}, 0.4, {64, 48});
  expect_point(map.flipped_horizontally().to_frame({10, 7}), map.to_frame({54, 7}));
  expect_point(map.flipped_vertically().to_frame({10, 7}), map.to_frame({10, 41}));
  expect_point(map.flipped_vertically().flipped_vertically().to_frame({10, 7}), map.to_frame({10, 7}));
}

TEST(FrameTransform, MapsPointsBackAndForth) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> at(-500, 1500), size(1, 900), angle(-4, 4);
  for (int i = 0; i < 100; ++i) {
    const auto map = FrameTransform::rotated({at(random), at(random)}, {size(random), size(random)},
                                             angle(random), {size(random), size(random)});
    const FramePoint point{at(random), at(random)};
    const FramePoint back = map.to_network(map.to_frame(point));
    EXPECT_NEAR(back.x, point.x, 1e-6);
    EXPECT_NEAR(back.y, point.y, 1e-6);
    const std::array<float, 6> values = map.values();
    const Tensor tensor = map.tensor();
    EXPECT_EQ(tensor.shape(), (Shape{2, 3}));
    for (size_t k = 0; k < 6; ++k) {
      EXPECT_EQ(tensor.as<float>()[k], values[k]);
      EXPECT_EQ(values[k], static_cast<float>(map.matrix()[k]));
    }
  }
}

TEST(FrameTransform, RefusesWhatHasNoArea) {
  EXPECT_VELLUM_ERROR(FrameTransform::stretch({0, 480}, {8, 8}), ErrorCode::invalid_argument, "no area");
  EXPECT_VELLUM_ERROR(FrameTransform::stretch({640, 480}, {8, kNan}), ErrorCode::invalid_argument, "no area");
  EXPECT_VELLUM_ERROR(FrameTransform::letterbox({-1, 480}, {8, 8}), ErrorCode::invalid_argument, "no area");
  EXPECT_VELLUM_ERROR(FrameTransform::crop({kNan, 0}, {4, 4}, {8, 8}), ErrorCode::invalid_argument,
                      "nowhere");
  EXPECT_VELLUM_ERROR(FrameTransform::rotated({0, 0}, {4, 4}, kNan, {8, 8}), ErrorCode::invalid_argument,
                      "angle");
  EXPECT_VELLUM_ERROR(FrameTransform::region({0, 0}, {1, 1}, {2, 2}, {8, 8}), ErrorCode::invalid_argument,
                      "on one line");
}

TEST(FrameInput, BytesOfEveryFormat) {
  const auto bytes = [](FrameFormat format, uint32_t width, uint32_t height, uint32_t row = 0) {
    return FrameInput{.format = format, .width = width, .height = height, .row_bytes = row}.bytes();
  };
  EXPECT_EQ(bytes(FrameFormat::rgba8, 5, 3), 60u);
  EXPECT_EQ(bytes(FrameFormat::bgra8, 5, 3, 32), 96u);
  EXPECT_EQ(bytes(FrameFormat::rgb8, 5, 3), 45u);
  EXPECT_EQ(bytes(FrameFormat::grey8, 5, 3), 15u);
  EXPECT_EQ(bytes(FrameFormat::nv12, 1280, 720), 1280u * 720 * 3 / 2);
  EXPECT_EQ(bytes(FrameFormat::i420, 1280, 720), 1280u * 720 * 3 / 2);
  EXPECT_EQ(bytes(FrameFormat::nv21, 5, 3), 15u + 2 * 6);
  EXPECT_EQ(bytes(FrameFormat::i420, 5, 3), 15u + 2 * 2 * 3);
}

TEST(FrameInput, RefusesSizesOutOfRange) {
  EXPECT_VELLUM_ERROR((FrameInput{.width = 0, .height = 3}.bytes()), ErrorCode::invalid_argument, "1..16384");
  EXPECT_VELLUM_ERROR((FrameInput{.width = 3, .height = 16385}.bytes()), ErrorCode::invalid_argument,
                      "1..16384");
  EXPECT_VELLUM_ERROR((FrameInput{.width = 5, .height = 3, .row_bytes = 19}.bytes()),
                      ErrorCode::invalid_argument, "takes 20");
  EXPECT_VELLUM_ERROR((FrameInput{.width = 16384, .height = 16384, .row_bytes = 131072}.bytes()),
                      ErrorCode::invalid_argument, "2 GiB");
}

}  // namespace
}  // namespace vellum::test
