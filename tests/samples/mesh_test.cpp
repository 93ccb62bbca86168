#include "face_mesh/mesh.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "frame_reference.hpp"
#include "io/photo.hpp"
#include "references.hpp"
#include "vellum/error.hpp"

namespace vellum::samples {
namespace {

Face face_with_eyes(Point right_eye, Point left_eye) {
  Face face;
  face.top_left = {100, 50};
  face.bottom_right = {180, 150};
  face.keypoints.resize(6);
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

// The face that LiteRT detects in the photo of 512 x 512 pixels.
Face detected_face() {
  const std::vector<float> scores = load_reference("face_detection_short", "classificators.npy");
  const std::vector<float> boxes = load_reference("face_detection_short", "regressors.npy");
  const auto score = std::span(scores), box = std::span(boxes);
  Face face =
      merge_overlapping(
          decode_blazeface({score.first(512), score.subspan(512), box.first(512 * 16), box.subspan(512 * 16)},
                           128, 0.5f),
          0.3f)
          .at(0);
  const auto to_pixels = [](Point& point) { point = {512 * point.x, 512 * point.y}; };
  to_pixels(face.top_left);
  to_pixels(face.bottom_right);
  for (Point& point : face.keypoints) to_pixels(point);
  return face;
}

// The region that tests/models.json gives to LiteRT's face mesh.
constexpr Region kRegion{{167.518f, 46.232f}, {306.734f, 70.392f}, {143.358f, 185.448f}};

TEST(Mesh, RegionOfTheDetectedFaceIsTheReferences) {
  const Region region = mesh_region(detected_face());
  for (const Point Region::*corner : {&Region::corner, &Region::right, &Region::down}) {
    EXPECT_NEAR((region.*corner).x, (kRegion.*corner).x, 0.01f);
    EXPECT_NEAR((region.*corner).y, (kRegion.*corner).y, 0.01f);
  }
}

TEST(Mesh, SampleReadsTheRegionAsTheReferenceDid) {
  const std::vector<float> expected = load_reference("face_mesh_turned", "input.npy");
  const io::Image photo = io::load_image(test_data() / "photos/astronaut.png");
  const std::vector<float> got =
      seen_by_network(mesh_frame(io::photo_frame(photo)), region_transform(kRegion, {192, 192}), photo, 192);
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(got[i], expected[i], 1e-4f) << i;
}

// The point that the sample prints: the tip of the nose.
TEST(Mesh, LiteRtFindsTheNose) {
  const std::vector<Point> plain =
      mesh_points(load_reference("face_mesh_turned", "conv2d_21.npy"), 3, kRegion, 192);
  ASSERT_EQ(plain.size(), 468u);
  EXPECT_NEAR(plain[1].x, 224.0f, 0.1f);
  EXPECT_NEAR(plain[1].y, 131.0f, 0.1f);
  EXPECT_GT(face_presence(load_reference("face_mesh_turned", "conv2d_31.npy").at(0)), 0.999f);
  const std::vector<Point> attentive =
      mesh_points(load_reference("face_mesh_attention", "output_mesh_identity.npy"), 3, kRegion, 192);
  ASSERT_EQ(attentive.size(), 468u);
  EXPECT_NEAR(attentive[1].x, 223.3f, 0.1f);
  EXPECT_NEAR(attentive[1].y, 129.7f, 0.1f);
}

}  // namespace
}  // namespace vellum::samples
