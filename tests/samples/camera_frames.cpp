// A face in an NV12 frame of 1280 x 720 pixels: from the camera's bytes to points of the frame.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "api/device_options.hpp"
#include "face_detection/blazeface.hpp"
#include "nv12_frame.hpp"
#include "references.hpp"
#include "vellum/frame.hpp"

namespace vellum::samples {
namespace {

constexpr int kWidth = 1280, kHeight = 720, kLeft = 410, kTop = 102;  // where the photo is in the frame
constexpr int kSide = 128;

std::vector<Face> faces_of(const std::map<std::string, Tensor>& outputs) {
  return merge_overlapping(decode_blazeface(find_blazeface_outputs(outputs), kSide, 0.5f), 0.3f);
}

TEST(Camera, FaceIsFoundWhereItIsInTheFrame) {
  const io::Image photo = io::load_image(test_data() / "photos/astronaut.png");
  const Model model = Model::load(test_data() / "models/face_detection_front_128x128_barracuda.onnx");
  const std::string input = model.inputs()[0].name;
  FrameInput camera{
      .format = FrameFormat::nv12, .width = kWidth, .height = kHeight, .filter = FrameFilter::area};
  camera.mean.fill(127.5f);
  camera.scale.fill(1 / 127.5f);
  Session session(Device::open(test::device_options()), with_frames(model, input, camera));
  const std::vector<std::uint8_t> frame = nv12_frame(photo, kWidth, kHeight, kLeft, kTop);
  session.set_input(input, std::as_bytes(std::span(frame)));

  // The square that the photo is in, and then squares of a tracker that follows the face: moved, closer and
  // rotated.
  const FrameSize network{kSide, kSide};
  const FrameTransform parts[] = {
      FrameTransform::crop({kLeft, kTop}, {512, 512}, network),
      FrameTransform::crop({kLeft + 60, kTop - 40}, {400, 400}, network),
      FrameTransform::rotated({kLeft + 240, kTop + 150}, {420, 420}, 0.2, network)};
  for (const FrameTransform& part : parts) {
    const std::vector<Face> faces = faces_of(session.run({{input + ".transform", part.tensor()}}));
    ASSERT_EQ(faces.size(), 1u);
    if (&part == parts) {
      EXPECT_NEAR(faces[0].score, 0.9224, 0.01) << "that of the photo in red, green and blue";
    }
    // As in blazeface_test.cpp, in pixels of the photo.
    const Point expected[] = {{203, 100}, {247, 102}, {225, 122}, {224, 145}};  // eyes, nose tip, mouth
    for (std::size_t i = 0; i < std::size(expected); ++i) {
      const Point point = faces[0].keypoints[i];
      const FramePoint at = part.to_frame({kSide * point.x, kSide * point.y});
      EXPECT_NEAR(at.x - kLeft, expected[i].x, 12) << i;
      EXPECT_NEAR(at.y - kTop, expected[i].y, 12) << i;
    }
  }
}

}  // namespace
}  // namespace vellum::samples
