#include "common/region.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "common/box.hpp"

namespace vellum::samples {
namespace {

TEST(Region, PointsGoAlongBothSides) {
  const Region region{{10, 20}, {14, 22}, {8, 24}};
  const Point point = region.to_image({0.5f, 0.25f});
  EXPECT_FLOAT_EQ(point.x, 10 + 2 - 0.5f);
  EXPECT_FLOAT_EQ(point.y, 20 + 1 + 1);
}

TEST(Region, SquareTurnsClockwise) {
  const Region upright = square_region({50, 40}, 20, 0);
  EXPECT_FLOAT_EQ(upright.corner.x, 40);
  EXPECT_FLOAT_EQ(upright.corner.y, 30);
  const Region turned = square_region({50, 40}, 20, std::numbers::pi_v<float> / 2);
  EXPECT_FLOAT_EQ(turned.corner.x, 60);  // the upper left corner has gone to the upper right
  EXPECT_FLOAT_EQ(turned.corner.y, 30);
  EXPECT_FLOAT_EQ(turned.right.x, 60);
  EXPECT_FLOAT_EQ(turned.right.y, 50);
  EXPECT_FLOAT_EQ(turned.down.x, 40);
  EXPECT_FLOAT_EQ(turned.down.y, 30);
}

TEST(Region, CutOutInterpolatesAndRepeatsTheBorder) {
  io::Image image = io::make_image(2, 1);
  image.pixel(1, 0)[0] = 100;
  const std::vector<float> inside = cut_out(image, {{0.5f, 0}, {1.5f, 0}, {0.5f, 1}}, 2, 1);
  EXPECT_FLOAT_EQ(inside[0], 25);
  EXPECT_FLOAT_EQ(inside[3], 75);
  const std::vector<float> beyond = cut_out(image, {{-4, -3}, {6, -3}, {-4, -2}}, 2, 1);
  EXPECT_FLOAT_EQ(beyond[0], 0);
  EXPECT_FLOAT_EQ(beyond[3], 100);
}

TEST(Region, CenterPartKeepsTheProportions) {
  io::Image image = io::make_image(7, 4);
  image.pixel(1, 0)[1] = 9;
  const io::Image square = center_part(image, 5, 5);
  EXPECT_EQ(square.width, 4);
  EXPECT_EQ(square.height, 4);
  EXPECT_EQ(square.pixel(0, 0)[1], 9);
  const io::Image flat = center_part(image, 700, 1);
  EXPECT_EQ(flat.width, 7);
  EXPECT_EQ(flat.height, 1);
}

TEST(Box, OverlapIsIntersectionOverUnion) {
  const Box box{{0, 0}, {2, 2}};
  EXPECT_FLOAT_EQ(overlap(box, {{1, 1}, {3, 3}}), 1.0f / 7);
  EXPECT_FLOAT_EQ(overlap(box, box), 1);
  EXPECT_FLOAT_EQ(overlap(box, {{2, 0}, {4, 2}}), 0);
  EXPECT_FLOAT_EQ(overlap({{1, 1}, {1, 1}}, {{1, 1}, {1, 1}}), 0);
}

}  // namespace
}  // namespace vellum::samples
