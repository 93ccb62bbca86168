#include "pose/pose.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "references.hpp"
#include "vellum/error.hpp"

namespace vellum::samples {
namespace {

using NamedOutputs = std::map<std::string, Tensor>;

Tensor values(Shape shape, const std::vector<float>& data) {
  return Tensor::from<float>(DType::f32, std::move(shape), data);
}

Detection person_with(Point hips, Point edge) {
  Detection person;
  person.keypoints = {hips, edge, {}, {}};
  return person;
}

TEST(Pose, RegionOfAnUprightBodyIsUpright) {
  const Region region = pose_region(person_with({100, 200}, {100, 120}));
  EXPECT_NEAR(region.corner.x, 0, 1e-3f);
  EXPECT_NEAR(region.corner.y, 100, 1e-3f);
  EXPECT_NEAR(region.right.x, 200, 1e-3f);
  EXPECT_NEAR(region.right.y, 100, 1e-3f);
  EXPECT_NEAR(region.down.y, 300, 1e-3f);
}

TEST(Pose, RegionOfALyingBodyIsRotatedWithIt) {
  // The head is at the right: the region's top edge is there.
  const Region region = pose_region(person_with({100, 200}, {180, 200}));
  EXPECT_NEAR(region.corner.x, 200, 1e-3f);
  EXPECT_NEAR(region.corner.y, 100, 1e-3f);
  EXPECT_NEAR(region.right.x, 200, 1e-3f);
  EXPECT_NEAR(region.right.y, 300, 1e-3f);
  EXPECT_NEAR(region.down.x, 0, 1e-3f);
}

TEST(Pose, OutputsOfAnotherModelAreRefused) {
  const NamedOutputs boxes{{"boxes", values({1, 896, 16}, std::vector<float>(896 * 16))}};
  EXPECT_THROW(decode_pose_detector(boxes, 224, 0.5f), Error);
  EXPECT_THROW(read_pose(boxes, {}, 256), Error);
}

TEST(Pose, LandmarksThatAreNotFiniteAreRefused) {
  std::vector<float> landmarks(195);
  landmarks[194] = std::numeric_limits<float>::quiet_NaN();
  const NamedOutputs outputs{{"landmarks", values({1, 195}, landmarks)}, {"presence", values({1, 1}, {1.0f})}};
  EXPECT_THROW(read_pose(outputs, {}, 256), Error);
}

TEST(Pose, LandmarksAreInTheRotatedRegion) {
  std::vector<float> landmarks(195);
  landmarks[5 * 11] = 64, landmarks[5 * 11 + 1] = 128, landmarks[5 * 11 + 3] = 100;
  const Region region{{10, 10}, {10, 50}, {-30, 10}};
  const Pose pose = read_pose(
      {{"landmarks", values({1, 195}, landmarks)}, {"presence", values({1, 1}, {0.75f})}}, region, 256);
  EXPECT_FLOAT_EQ(pose.presence, 0.75f);
  EXPECT_FLOAT_EQ(pose.landmarks[11].point.x, 10 - 20);
  EXPECT_FLOAT_EQ(pose.landmarks[11].point.y, 10 + 10);
  EXPECT_FLOAT_EQ(pose.landmarks[11].visibility, 1);
  EXPECT_FLOAT_EQ(pose.landmarks[0].visibility, 0.5f);
}

TEST(Pose, ConnectionsJoinLandmarks) {
  for (const auto& [from, to] : pose_connections()) {
    EXPECT_TRUE(from >= 0 && from < 33 && to >= 0 && to < 33 && from != to) << from << ", " << to;
  }
}

// LiteRT's result for the photo of 512 x 512 pixels: the astronaut, whose hips are below its border.
TEST(Pose, LiteRtFindsTheAstronaut) {
  const NamedOutputs outputs{{"boxes", values({1, 2254, 12}, load_reference("pose_detection", "Identity.npy"))},
                        {"scores", values({1, 2254, 1}, load_reference("pose_detection", "Identity_1.npy"))}};
  const std::vector<Detection> people = decode_pose_detector(outputs, 224, 0.5f);
  ASSERT_EQ(people.size(), 1u);
  const Detection person = in_frame(people[0], 224, FrameTransform::stretch({512, 512}, {224, 224}));
  const Point shoulders = person.keypoints[2];
  EXPECT_NEAR(shoulders.x, 210, 40);
  EXPECT_NEAR(shoulders.y, 235, 60);
  EXPECT_GT(person.keypoints[0].y, 400);
}

TEST(Pose, LiteRtFindsTheShouldersInTheWholePhoto) {
  const NamedOutputs outputs{{"landmarks", values({1, 195}, load_reference("pose_heavy", "Identity.npy"))},
                        {"presence", values({1, 1}, load_reference("pose_heavy", "Identity_1.npy"))}};
  const Pose pose = read_pose(outputs, {{0, 0}, {512, 0}, {0, 512}}, 256);
  EXPECT_GT(pose.presence, 0.9f);
  EXPECT_NEAR(pose.landmarks[0].point.x, 224, 15);  // the nose
  EXPECT_NEAR(pose.landmarks[0].point.y, 122, 15);
  EXPECT_NEAR(pose.landmarks[11].point.x, 305,
              40);  // the left shoulder, less exactly outside of pose_region()
  EXPECT_NEAR(pose.landmarks[12].point.x, 115, 40);
  EXPECT_GT(pose.landmarks[11].visibility, 0.9f);
}

}  // namespace
}  // namespace vellum::samples
