#include "face_mesh/mesh.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "references.hpp"
#include "vellum/error.hpp"

namespace vellum::samples {
namespace {

Face face_with_eyes(Point right_eye, Point left_eye) {
  Face face;
  face.top_left = {100, 50};
  face.bottom_right = {180, 150};
  face.keypoints[static_cast<std::size_t>(Keypoint::right_eye)] = right_eye;
  face.keypoints[static_cast<std::size_t>(Keypoint::left_eye)] = left_eye;
  return face;
}

TEST(Mesh, RegionOfALevelFaceIsUprightAndHalfAsLargeAgain) {
  const Region region = mesh_region(face_with_eyes({120, 80}, {160, 80}));
  EXPECT_FLOAT_EQ(region.corner.x, 140 - 75);
  EXPECT_FLOAT_EQ(region.corner.y, 100 - 75);
  EXPECT_FLOAT_EQ(region.right.x, 140 + 75);
  EXPECT_FLOAT_EQ(region.down.y, 100 + 75);
}

TEST(Mesh, RegionIsTurnedUntilTheEyesAreLevel) {
  const Region region = mesh_region(face_with_eyes({120, 80}, {160, 100}));
  EXPECT_NEAR(std::atan2(region.right.y - region.corner.y, region.right.x - region.corner.x),
              std::atan2(20.0f, 40.0f), 1e-5f);
}

TEST(Mesh, PointsLieInTheTurnedRegionAndDepthIsLeftOut) {
  const Region region{{10, 10}, {10, 50}, {-30, 10}};
  const float values[] = {48, 96, -7, 0, 0, 3};
  const std::vector<Point> points = mesh_points(values, 3, region, 192);
  ASSERT_EQ(points.size(), 2u);
  EXPECT_FLOAT_EQ(points[0].x, 10 - 20);
  EXPECT_FLOAT_EQ(points[0].y, 10 + 10);
  EXPECT_FLOAT_EQ(points[1].x, 10);
}

TEST(Mesh, ValuesThatAreNoPointsAreRefused) {
  const float values[] = {1, 2, 3, std::numeric_limits<float>::quiet_NaN()};
  EXPECT_THROW(mesh_points(values, 2, {}, 192), Error);
  EXPECT_THROW(mesh_points(std::span(values).first(3), 2, {}, 192), Error);
  EXPECT_THROW(mesh_points({}, 3, {}, 192), Error);
}

// LiteRT's points for a region that is given in tests/models.json, upright.
TEST(Mesh, LiteRtFindsTheFaceOfTheAstronaut) {
  const Region region{{130, 0}, {320, 0}, {130, 190}};
  const std::vector<Point> points = mesh_points(load_reference("face_mesh", "conv2d_21.npy"), 3, region, 192);
  ASSERT_EQ(points.size(), 468u);
  EXPECT_NEAR(points[1].x, 224, 3);  // the tip of the nose
  EXPECT_NEAR(points[1].y, 127, 4);
  EXPECT_GT(face_presence(load_reference("face_mesh", "conv2d_31.npy").at(0)), 0.99f);
}

TEST(Mesh, SampleReadsTheRegionAlmostAsTheReferenceDid) {
  const std::vector<float> expected = load_reference("face_mesh", "input.npy");
  const std::vector<float> got =
      mesh_input(load_image(test_data() / "photos/astronaut.png"), {{130, 0}, {320, 0}, {130, 190}}, 192);
  ASSERT_EQ(got.size(), expected.size());
  double sum = 0;  // linear here, averages of areas there
  for (std::size_t i = 0; i < got.size(); ++i) sum += std::abs(got[i] - expected[i]);
  EXPECT_LT(sum / static_cast<double>(got.size()), 0.01);
}

}  // namespace
}  // namespace vellum::samples
