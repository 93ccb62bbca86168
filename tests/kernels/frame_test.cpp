// Frames of bytes against the host reference: every format, filter and number of channels.
#include "graph/operators/movement/frame.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace frame_test {

constexpr FrameFormat kFormats[] = {FrameFormat::rgba8, FrameFormat::bgra8, FrameFormat::rgb8,
                                    FrameFormat::grey8, FrameFormat::nv12,  FrameFormat::nv21,
                                    FrameFormat::i420};

HostTensor random_bytes(int64_t count, uint32_t seed) {
  return cast(random_tensor({count}, seed, 0.0f, 256.0f), DType::u8);
}

struct Target {
  int64_t channels = 3, height = 5, width = 7;
};

FrameInput frame_of(FrameFormat format, FrameFilter filter) {
  FrameInput frame{.format = format, .width = 21, .height = 13, .filter = filter};
  frame.mean = {128, 100, 90, 0};
  frame.scale = {1 / 128.0f, 1 / 64.0f, 1 / 100.0f, 1 / 255.0f};
  return frame;
}

OperatorCase frame_case(const FrameInput& frame, const Target& target, std::array<float, 6> transform) {
  Frame op;
  op.frame = frame;
  op.channels = target.channels;
  op.height = target.height;
  op.width = target.width;
  OperatorCase test{
      .type = "Frame",
      .inputs = {random_bytes(static_cast<int64_t>(frame.bytes()), 1), HostTensor::f32({2, 3}, transform)},
      .attributes = op.attributes()};
  test.sweep.fp32_tolerance = 1e-4;  // positions are rounded to floats
  test.sweep.arithmetic_fp16 = false;
  return test;
}

constexpr std::array<float, 6> kReduced{3, 0, 0, 0, 2.5f, 0.25f}, kRotated{2, -1.5f, 8, 1.25f, 1.75f, -2},
    kEnlarged{0.5f, 0, 4, 0, 0.75f, 3}, kQuarterTurn{0, 2.25f, 1, -1.5f, 0, 12};

TEST(FrameKernel, EveryFormat) {
  for (const FrameFormat format : kFormats) {
    check_operator(frame_case(frame_of(format, FrameFilter::bilinear), {}, kRotated));
    check_operator(frame_case(frame_of(format, FrameFilter::area), {}, kReduced));
  }
}

TEST(FrameKernel, EveryFilterAndTransform) {
  for (const FrameFilter filter : {FrameFilter::bilinear, FrameFilter::area})
    for (const auto& transform : {kReduced, kRotated, kEnlarged, kQuarterTurn})
      check_operator(frame_case(frame_of(FrameFormat::rgb8, filter), {3, 4, 6}, transform));
}

// An even number of bytes before them: a word has two pairs of U and V.
TEST(FrameKernel, ChromaInPairs) {
  for (const FrameFormat format : {FrameFormat::nv12, FrameFormat::nv21}) {
    for (const uint32_t width : {20u, 22u}) {
      FrameInput frame = frame_of(format, FrameFilter::bilinear);
      frame.width = width;
      check_operator(frame_case(frame, {}, kRotated));
    }
  }
}

TEST(FrameKernel, RowsWithPadding) {
  for (const FrameFormat format : kFormats) {
    FrameInput frame = frame_of(format, FrameFilter::bilinear);
    frame.row_bytes = 91;  // odd, so that no pixel of four bytes is a word
    check_operator(frame_case(frame, {}, kReduced));
  }
}

TEST(FrameKernel, ColorsAndChannels) {
  for (const ColorMatrix matrix : {ColorMatrix::bt601, ColorMatrix::bt709}) {
    for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
      FrameInput frame = frame_of(FrameFormat::nv12, FrameFilter::bilinear);
      frame.matrix = matrix;
      frame.range = range;
      check_operator(frame_case(frame, {}, kReduced));
    }
  }
  for (const int64_t channels : {1, 3, 4}) {
    FrameInput frame = frame_of(FrameFormat::bgra8, FrameFilter::bilinear);
    frame.bgr = channels != 3;
    check_operator(frame_case(frame, {channels, 3, 9}, kEnlarged));
    frame.fill = std::nullopt;  // the border is repeated
    check_operator(frame_case(frame, {channels, 3, 9}, kRotated));
  }
}

// Wrong transforms of an application must not hang the device or read beyond the frame.
TEST(FrameKernel, TransformsOutOfRange) {
  for (const FrameFilter filter : {FrameFilter::bilinear, FrameFilter::area}) {
    FrameInput frame = frame_of(FrameFormat::nv12, filter);
    frame.fill = std::nullopt;
    constexpr float infinity = std::numeric_limits<float>::infinity(),
                    nan = std::numeric_limits<float>::quiet_NaN();
    for (const float far : {6e4f, -6e4f, infinity, -infinity, nan}) {
      OperatorCase test = frame_case(frame, {3, 2, 2}, {far, 0, far, 0, 2, far});
      check_operator(test);
      test = frame_case(frame, {3, 2, 2}, {far, far, 3, far, 2, 4});
      test.sweep.fp32_tolerance = 5e-3;  // of thousands of samples whose positions are rounded
      check_operator(test);
    }
  }
}

// The matrix stays exact where it is a constant of a network of halves, and so do the bytes.
TEST(FrameKernel, ConstantTransformAndFrame) {
  OperatorCase test = frame_case(frame_of(FrameFormat::rgba8, FrameFilter::area), {}, kReduced);
  test.constants = {1};
  check_operator(test);
  test.constants = {0};
  check_operator(test);
}

}  // namespace frame_test
}  // namespace vellum::test
