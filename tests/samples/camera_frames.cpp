// A face in an NV12 frame of 1280 x 720 pixels: from the camera's bytes to points of the frame.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "api/device_options.hpp"
#include "face_detection/blazeface.hpp"
#include "references.hpp"
#include "vellum/frame.hpp"

namespace vellum::samples {
namespace {

constexpr int kWidth = 1280, kHeight = 720, kLeft = 410, kTop = 102;  // where the photo is in the frame
constexpr int kSide = 128;

// BT.601 in limited range, chroma averaged over two by two pixels, black around the photo.
Tensor nv12_frame(const Image& photo) {
  struct Yuv {
    double y = 16, u = 128, v = 128;
  };
  const auto at = [&](int x, int y) {
    if (x < kLeft || y < kTop || x >= kLeft + photo.width || y >= kTop + photo.height) return Yuv{};
    const std::uint8_t* rgb = photo.pixel(x - kLeft, y - kTop);
    const double luma = 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2];
    return Yuv{16 + luma * 219 / 255, 128 + (rgb[2] - luma) / 1.772 * 224 / 255,
               128 + (rgb[0] - luma) / 1.402 * 224 / 255};
  };
  const auto byte = [](double value) { return static_cast<std::uint8_t>(std::lround(value)); };
  std::vector<std::uint8_t> bytes;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) bytes.push_back(byte(at(x, y).y));
  for (int y = 0; y < kHeight; y += 2) {
    for (int x = 0; x < kWidth; x += 2) {
      double u = 0, v = 0;
      for (const Yuv& pixel : {at(x, y), at(x + 1, y), at(x, y + 1), at(x + 1, y + 1)}) {
        u += pixel.u / 4;
        v += pixel.v / 4;
      }
      bytes.push_back(byte(u));
      bytes.push_back(byte(v));
    }
  }
  return Tensor::from<std::uint8_t>(DType::u8, {static_cast<int64_t>(bytes.size())}, bytes);
}

std::vector<Face> faces_of(const std::map<std::string, Tensor>& outputs) {
  const auto find = [&](const Shape& shape) {
    const auto found =
        std::ranges::find_if(outputs, [&](const auto& output) { return output.second.shape() == shape; });
    return found == outputs.end() ? std::span<const float>() : found->second.as<float>();
  };
  return merge_overlapping(
      decode_blazeface({find({1, 512, 1}), find({1, 384, 1}), find({1, 512, 16}), find({1, 384, 16})}, kSide,
                       0.5f),
      0.3f);
}

TEST(Camera, FaceIsFoundWhereItIsInTheFrame) {
  const Image photo = load_image(test_data() / "photos/astronaut.png");
  const Model model = Model::load(test_data() / "models/face_detection_front_128x128_barracuda.onnx");
  const std::string input = model.inputs()[0].name;
  FrameInput camera{
      .format = FrameFormat::nv12, .width = kWidth, .height = kHeight, .filter = FrameFilter::area};
  camera.mean.fill(127.5f);
  camera.scale.fill(1 / 127.5f);
  Session session(Device::open(test::device_options()), with_frames(model, input, camera));
  session.set_input(input, nv12_frame(photo));

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
