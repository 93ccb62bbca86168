#include "face_detection/blazeface.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <ostream>
#include <string>

#include "frame_reference.hpp"
#include "io/image.hpp"
#include "io/photo.hpp"
#include "references.hpp"
#include "vellum/error.hpp"

namespace vellum::samples {
namespace {

// Outputs in which no anchor holds a face.
struct Outputs {
  std::vector<float> fine_scores = std::vector<float>(512, -100.0f);
  std::vector<float> coarse_scores = std::vector<float>(384, -100.0f);
  std::vector<float> fine_boxes = std::vector<float>(512 * 16);
  std::vector<float> coarse_boxes = std::vector<float>(384 * 16);

  BlazeFaceOutputs view() const { return {fine_scores, coarse_scores, fine_boxes, coarse_boxes}; }
};

Face face_at(float score, float left, float top, float right, float bottom) {
  Face face;
  face.score = score;
  face.top_left = {left, top};
  face.bottom_right = {right, bottom};
  face.keypoints.resize(6);
  return face;
}

TEST(DecodeBlazeFace, NothingAboveTheThresholdGivesNoFace) {
  EXPECT_TRUE(decode_blazeface(Outputs().view(), 128, 0.5f).empty());
}

TEST(DecodeBlazeFace, FineAnchorIsRelativeToItsCell) {
  Outputs outputs;
  const std::size_t anchor = 2 * (16 * 3 + 5) + 1;  // row 3, column 5, second anchor
  outputs.fine_scores[anchor] = 0.0f;
  float* box = &outputs.fine_boxes[16 * anchor];
  box[0] = 12.8f;
  box[1] = -6.4f;
  box[2] = 32.0f;
  box[3] = 64.0f;
  box[4 + 2 * static_cast<int>(Keypoint::nose_tip)] = 1.28f;
  const std::vector<Face> faces = decode_blazeface(outputs.view(), 128, 0.5f);
  ASSERT_EQ(faces.size(), 1u);
  EXPECT_FLOAT_EQ(faces[0].score, 0.5f);
  const float x = 5.5f / 16;
  const float y = 3.5f / 16;
  EXPECT_FLOAT_EQ(faces[0].top_left.x, x + 0.1f - 0.125f);
  EXPECT_FLOAT_EQ(faces[0].top_left.y, y - 0.05f - 0.25f);
  EXPECT_FLOAT_EQ(faces[0].bottom_right.x, x + 0.1f + 0.125f);
  EXPECT_FLOAT_EQ(faces[0].bottom_right.y, y - 0.05f + 0.25f);
  const Point nose = faces[0].keypoints[static_cast<std::size_t>(Keypoint::nose_tip)];
  EXPECT_FLOAT_EQ(nose.x, x + 0.01f);
  EXPECT_FLOAT_EQ(nose.y, y);
}

TEST(DecodeBlazeFace, CoarseGridHasSixAnchorsACell) {
  Outputs outputs;
  outputs.coarse_scores[6 * (8 * 7 + 2) + 5] = 100.0f;
  const std::vector<Face> faces = decode_blazeface(outputs.view(), 256, 0.5f);
  ASSERT_EQ(faces.size(), 1u);
  EXPECT_FLOAT_EQ(faces[0].score, 1.0f);
  EXPECT_FLOAT_EQ(faces[0].top_left.x, 2.5f / 8);
  EXPECT_FLOAT_EQ(faces[0].top_left.y, 7.5f / 8);
}

TEST(DecodeBlazeFace, ValuesThatAreNoNumbersAreLeftOut) {
  Outputs outputs;
  outputs.fine_scores[0] = std::numeric_limits<float>::quiet_NaN();
  outputs.fine_scores[1] = 5.0f;
  outputs.fine_boxes[16 + 3] = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(decode_blazeface(outputs.view(), 128, 0.0f).size() == 512 + 384 - 2);
  EXPECT_TRUE(decode_blazeface(outputs.view(), 128, 0.5f).empty());
}

TEST(DecodeBlazeFace, OutputsOfAnotherModelAreRefused) {
  Outputs outputs;
  outputs.coarse_boxes.pop_back();
  EXPECT_THROW(decode_blazeface(outputs.view(), 128, 0.5f), Error);
}

TEST(MergeOverlapping, OverlappingFacesBecomeTheirWeightedAverage) {
  Face best = face_at(0.75f, 0.1f, 0.1f, 0.5f, 0.5f);
  Face other = face_at(0.25f, 0.2f, 0.1f, 0.6f, 0.5f);
  best.keypoints[0] = {0.2f, 0.2f};
  other.keypoints[0] = {0.6f, 0.2f};
  const std::vector<Face> merged = merge_overlapping({other, best}, 0.3f);
  ASSERT_EQ(merged.size(), 1u);
  EXPECT_FLOAT_EQ(merged[0].score, 0.75f);
  EXPECT_FLOAT_EQ(merged[0].top_left.x, 0.125f);
  EXPECT_FLOAT_EQ(merged[0].bottom_right.x, 0.525f);
  EXPECT_FLOAT_EQ(merged[0].keypoints[0].x, 0.3f);
}

TEST(MergeOverlapping, FacesApartStayBestFirst) {
  const std::vector<Face> merged =
      merge_overlapping({face_at(0.6f, 0, 0, 0.2f, 0.2f), face_at(0.9f, 0.5f, 0.5f, 0.9f, 0.9f),
                         face_at(0.7f, 0.17f, 0, 0.37f, 0.2f)},
                        0.3f);
  ASSERT_EQ(merged.size(), 3u);
  EXPECT_FLOAT_EQ(merged[0].score, 0.9f);
  EXPECT_FLOAT_EQ(merged[1].score, 0.7f);
  EXPECT_FLOAT_EQ(merged[2].score, 0.6f);
}

TEST(MergeOverlapping, BoxesWithoutAreaStayApart) {
  EXPECT_EQ(
      merge_overlapping({face_at(0.9f, 0.5f, 0.5f, 0.5f, 0.5f), face_at(0.8f, 0.5f, 0.5f, 0.4f, 0.4f)}, 0.3f)
          .size(),
      2u);
  EXPECT_TRUE(merge_overlapping({}, 0.3f).empty());
}

// ONNX Runtime's result for the photo, decoded: the face of the astronaut.
struct Reference {
  std::string name;
  int side;
  float score;
};

void PrintTo(const Reference& reference, std::ostream* stream) { *stream << reference.name; }

class BlazeFaceReference : public testing::TestWithParam<Reference> {
 protected:
  static std::vector<float> load(const std::string& file) { return load_reference(GetParam().name, file); }
};

TEST_P(BlazeFaceReference, FaceOfTheAstronautIsFoundOnce) {
  const Outputs outputs{load("Identity_0.npy"), load("Identity_1_0.npy"), load("Identity_2_0.npy"),
                        load("Identity_3_0.npy")};
  const std::vector<Face> faces =
      merge_overlapping(decode_blazeface(outputs.view(), GetParam().side, 0.5f), 0.3f);
  ASSERT_EQ(faces.size(), 1u);
  EXPECT_NEAR(faces[0].score, GetParam().score, 0.001f);

  // Pixels of the photo, 512 x 512. Forehead to chin and cheek to cheek are about x 175..275, y 70..190.
  const auto pixels = [](Point point) { return Point{point.x * 512, point.y * 512}; };
  const Point top_left = pixels(faces[0].top_left);
  const Point bottom_right = pixels(faces[0].bottom_right);
  EXPECT_NEAR(top_left.x, 172, 15);
  EXPECT_NEAR(top_left.y, 80, 25);
  EXPECT_NEAR(bottom_right.x, 275, 15);
  EXPECT_NEAR(bottom_right.y, 185, 15);
  const Point expected[] = {{203, 100}, {247, 102}, {225, 122}, {224, 145}};  // eyes, nose tip, mouth
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    const Point found = pixels(faces[0].keypoints[i]);
    EXPECT_NEAR(found.x, expected[i].x, 10) << i;
    EXPECT_NEAR(found.y, expected[i].y, 10) << i;
  }
}

TEST_P(BlazeFaceReference, SampleReadsThePhotoAsTheReferenceDid) {
  const std::vector<float> expected = load("input.npy");
  const io::Image photo = io::load_image(test_data() / "photos/astronaut.png");
  const FrameInput frame = blazeface_frame(io::photo_frame(photo), GetParam().side);
  const std::vector<float> got = seen_by_network(frame, *frame.transform, photo, GetParam().side);
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(got[i], expected[i], 1e-6f) << i;
}

INSTANTIATE_TEST_SUITE_P(Models, BlazeFaceReference,
                         testing::Values(Reference{"blazeface_front", 128, 0.9224f},
                                         Reference{"blazeface_back", 256, 0.8775f}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace vellum::samples
