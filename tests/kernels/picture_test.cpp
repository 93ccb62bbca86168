// Pictures of values against the host reference: every way to colour, every format of the frame below.
#include "graph/operators/movement/picture.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace picture_test {

constexpr std::array<float, 6> kSeen{1.5f, -0.5f, 4, 0.5f, 1.25f, 1};

HostTensor random_palette(int64_t colors) { return random_tensor({colors, 4}, 3, 0, 255); }

// Values of 0..1 in 5 x 6 elements as a picture of 11 x 7 pixels.
Picture picture_of(PictureColors colors, PictureFilter filter = PictureFilter::bilinear) {
  Picture op;
  op.colors = colors;
  op.filter = filter;
  op.width = 11;
  op.height = 7;
  return op;
}

OperatorCase picture_case(const Picture& op, HostTensor values, HostTensor palette) {
  OperatorCase test{.type = "Picture",
                    .inputs = {std::move(values), std::move(palette)},
                    .attributes = op.attributes(),
                    .constants = {1}};
  test.sweep.fp32_tolerance = test.sweep.fp16_tolerance = 0;
  test.sweep.fp32_absolute = test.sweep.fp16_absolute = 1;  // of 255: what is rounded
  test.sweep.arithmetic_fp16 = false;
  return test;
}

// The picture over a frame of 13 x 9 pixels, of which a network of 6 x 5 pixels saw a part.
OperatorCase over_frame(Picture op, FrameFormat format, HostTensor values, HostTensor palette,
                        std::array<float, 6> transform = kSeen) {
  op.has_frame = true;
  op.frame = {.format = format, .width = 13, .height = 9};
  op.network_width = 6;
  op.network_height = 5;
  OperatorCase test = picture_case(op, std::move(values), std::move(palette));
  const HostTensor bytes = random_tensor({static_cast<int64_t>(op.frame.bytes())}, 5, 0.0f, 256.0f);
  test.inputs.emplace_back(HostTensor(DType::u8, bytes.shape()));
  for (size_t i = 0; i < test.inputs[2]->mutable_as<uint8_t>().size(); ++i)
    test.inputs[2]->mutable_as<uint8_t>()[i] = static_cast<uint8_t>(bytes.as<float>()[i]);
  test.inputs.emplace_back(HostTensor::f32({2, 3}, transform));
  return test;
}

// Every channel is far from the others, so that rounding chooses no other class.
HostTensor distinct_scores(int64_t channels) {
  HostTensor scores(DType::f32, {1, channels, 5, 6});
  const std::span<float> values = scores.mutable_as<float>();
  for (int64_t i = 0; i < 30; ++i)
    for (int64_t c = 0; c < channels; ++c)
      values[static_cast<size_t>(c * 30 + i)] = static_cast<float>((c * 7 + i * 3) % channels);
  return scores;
}

TEST(PictureKernel, Ramps) {
  for (const PictureFilter filter : {PictureFilter::bilinear, PictureFilter::nearest})
    for (const int64_t colors : {1, 2, 5})
      check_operator(picture_case(picture_of(PictureColors::ramp, filter),
                                  random_tensor({1, 1, 5, 6}, 1, -0.2f, 1.2f), random_palette(colors)));
}

TEST(PictureKernel, Steps) {
  HostTensor values(DType::f32, {1, 2, 5, 6});
  for (size_t i = 0; i < 60; ++i)
    values.mutable_as<float>()[i] = static_cast<float>(i % 5) / 4.0f * 0.98f + 0.01f;
  check_operator(
      picture_case(picture_of(PictureColors::steps, PictureFilter::nearest), values, random_palette(2)));
  Picture turned = picture_of(PictureColors::steps, PictureFilter::nearest);
  turned.low = 1, turned.high = 0;
  check_operator(picture_case(turned, values, random_palette(3)));
}

TEST(PictureKernel, ClassesOfChannelsAndNumbers) {
  for (const int64_t channels : {2, 4, 7})
    check_operator(picture_case(picture_of(PictureColors::classes, PictureFilter::nearest),
                                distinct_scores(channels), random_palette(5)));
  HostTensor numbers(DType::f32, {1, 1, 5, 6});
  for (size_t i = 0; i < 30; ++i) numbers.mutable_as<float>()[i] = static_cast<float>(i) - 2;
  check_operator(picture_case(picture_of(PictureColors::classes), numbers, random_palette(7)));
}

TEST(PictureKernel, Channels) {
  for (const int64_t channels : {3, 4}) {
    Picture op = picture_of(PictureColors::rgb);
    op.low = -1;
    check_operator(picture_case(op, random_tensor({1, channels, 5, 6}, 4, -1.1f, 1.1f), random_palette(1)));
  }
}

TEST(PictureKernel, OverEveryFormatOfFrames) {
  for (const FrameFormat format :
       {FrameFormat::rgba8, FrameFormat::bgra8, FrameFormat::rgb8, FrameFormat::grey8, FrameFormat::nv12,
        FrameFormat::nv21, FrameFormat::i420})
    check_operator(over_frame(picture_of(PictureColors::ramp), format, random_tensor({1, 1, 4, 3}, 6, 0, 1),
                              random_palette(2)));
}

TEST(PictureKernel, InThePixelsOfTheFrame) {
  Picture op = picture_of(PictureColors::classes, PictureFilter::nearest);
  op.width = 13;
  op.height = 9;
  OperatorCase test = over_frame(op, FrameFormat::nv12, distinct_scores(3), random_palette(3));
  check_operator(test);
  test.constants.insert(3);
  check_operator(test);
}

// Wrong transforms of an application must not read beyond the values.
TEST(PictureKernel, TransformsWithoutArea) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const auto& transform :
       {std::array<float, 6>{}, std::array<float, 6>{infinity, 0, 0, 0, std::nanf(""), 0},
        std::array<float, 6>{1e-20f, 0, 1, 0, 1e-5f, 2}}) {
    OperatorCase test = over_frame(picture_of(PictureColors::ramp), FrameFormat::rgb8,
                                   random_tensor({1, 1, 4, 3}, 6, 0, 1), random_palette(2), transform);
    test.sweep.fp16 = false;
    check_operator(test);
  }
}

}  // namespace picture_test
}  // namespace vellum::test
