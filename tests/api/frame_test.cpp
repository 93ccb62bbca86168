// Frames of bytes as inputs of models, through the public interface.
#include "vellum/frame.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "c_frame_program.h"
#include "public_interface.hpp"
#include "small_model.hpp"
#include "support/errors.hpp"
#include "support/frame_reference.hpp"
#include "vellum/estimate.hpp"

namespace vellum::test {
namespace {

constexpr FrameFormat kFormats[] = {FrameFormat::rgba8, FrameFormat::bgra8, FrameFormat::rgb8,
                                    FrameFormat::grey8, FrameFormat::nv12,  FrameFormat::nv21,
                                    FrameFormat::i420};

Tensor random_frame(const FrameInput& input, uint32_t seed) {
  std::mt19937 random(seed);
  Tensor frame(DType::u8, {static_cast<int64_t>(input.bytes())});
  for (uint8_t& byte : frame.mutable_as<uint8_t>()) byte = static_cast<uint8_t>(random());
  return frame;
}

// A network whose output is its input, which is not negative.
OnnxModel passing_model(const Shape& shape, DType dtype = DType::f32) {
  OnnxModel model;
  model.input("image", shape, dtype);
  if (dtype == DType::f32)
    model.node("Relu", {"image"}, {"y"});
  else
    model.node("Cast", {"image"}, {"y"}, attributes({{"to", int64_t{1}}}));
  model.output("y");
  return model;
}

Tensor run(const Model& model, const Tensor& frame, const FrameTransform& map,
           const SessionOptions& options = {}) {
  Session session(Device::open(device_options()), model, options);
  return session.run({{"image", frame}, {"image.transform", map.tensor()}}).at("y");
}

constexpr int64_t kHeight = 12, kWidth = 15;

// The largest difference over the three channels and all pixels, in levels of 0..255.
double largest_difference(const FrameInput& input, const Tensor& frame, const FrameTransform& map,
                          const Tensor& got) {
  const FrameReference reference(input, frame.as<uint8_t>());
  double worst = 0;
  for (int64_t y = 0; y < kHeight; ++y)
    for (int64_t x = 0; x < kWidth; ++x) {
      const Rgb want = reference.seen(map, x, y);
      for (size_t c = 0; c < 3; ++c) {
        const size_t i = (c * kHeight + static_cast<size_t>(y)) * kWidth + static_cast<size_t>(x);
        worst = std::max(worst, std::abs(255.0 * got.as<float>()[i] - want[c]));
      }
    }
  return worst;
}

class RandomFrames {
 public:
  explicit RandomFrames(uint32_t seed) : random_(seed) {}

  // The formats and settings in turn, of random sizes; values of the network are levels / 255.
  FrameInput input(size_t number) {
    FrameInput input{.format = kFormats[number % std::size(kFormats)],
                     .width = static_cast<uint32_t>(uniform(20, 200)),
                     .height = static_cast<uint32_t>(uniform(20, 200)),
                     .matrix = number % 2 ? ColorMatrix::bt709 : ColorMatrix::bt601,
                     .range = number % 3 ? ColorRange::full : ColorRange::limited,
                     .filter = number % 2 ? FrameFilter::area : FrameFilter::bilinear};
    input.scale.fill(1 / 255.0f);
    if (number % 4 == 3) input.fill.reset();
    return input;
  }

  // Every second one is upright, and every third mirrored.
  FrameTransform transform(const FrameInput& input, size_t number) {
    const FramePoint center{uniform(0, input.width), uniform(0, input.height)};
    const FrameSize size{uniform(5, 1.5 * input.width), uniform(5, 1.5 * input.height)};
    const double angle = number % 2 ? 0.0 : uniform(-4, 4);
    const FrameTransform map = FrameTransform::rotated(center, size, angle, {kWidth, kHeight});
    return number % 3 == 0 ? map.flipped_horizontally() : map;
  }

 private:
  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }

  std::mt19937 random_;
};

TEST(Frames, RandomTransformsAreWithinOneLevelOfAReferenceInDouble) {
  constexpr uint32_t seed = 7;
  SCOPED_TRACE("seed " + std::to_string(seed));
  RandomFrames random(seed);
  const Device device = Device::open(device_options());
  const Model model = load(passing_model({1, 3, kHeight, kWidth}));
  double worst = 0;
  for (size_t i = 0; i < 10; ++i) {
    const FrameInput input = random.input(i);
    Session session(device, with_frames(model, "image", input));
    for (uint32_t k = 0; k < 10; ++k) {
      const FrameTransform map = random.transform(input, k);
      const Tensor frame = random_frame(input, k);
      const Tensor got = session.run({{"image", frame}, {"image.transform", map.tensor()}}).at("y");
      const double difference = largest_difference(input, frame, map, got);
      EXPECT_LE(difference, 1.0) << name(input.format) << " " << input.width << "x" << input.height
                                 << ", transform " << k;
      worst = std::max(worst, difference);
    }
  }
  RecordProperty("worst_level", std::to_string(worst));
}

TEST(Frames, InputsAreBytesAndATransform) {
  const FrameInput input{.format = FrameFormat::nv12, .width = 1280, .height = 720};
  const Model model = with_frames(load(small_model()), "x", input);
  ASSERT_EQ(model.inputs().size(), 2u);
  EXPECT_EQ(model.inputs()[0].name, "x");
  EXPECT_EQ(model.inputs()[0].dtype, DType::u8);
  EXPECT_EQ(model.inputs()[0].shape, Shape{1280 * 720 * 3 / 2});
  EXPECT_EQ(model.inputs()[1].name, "x.transform");
  EXPECT_EQ(model.inputs()[1].shape, (Shape{2, 3}));
  FrameInput fixed = input;
  fixed.transform = FrameTransform::letterbox({1280, 720}, {11, 9});
  EXPECT_EQ(with_frames(load(small_model()), "x", fixed).inputs().size(), 1u);
}

// Also what the memory of inputs and outputs is, of the plan and of a session: no copy of the frame in
// floats.
TEST(Frames, AFrameTakesItsOwnBytesAlone) {
  FrameInput input{.format = FrameFormat::nv12, .width = 640, .height = 480};
  input.transform = FrameTransform::stretch({640, 480}, {11, 9});
  const Model model = with_frames(load(small_model()), "x", input), plain = load(small_model());
  Session session(Device::open(device_options()), model);
  Session without(Device::open(device_options()), plain);
  const uint64_t bytes = input.bytes(), floats = 300 * sizeof(float);
  EXPECT_LE(session.memory().in_out_bytes, without.memory().in_out_bytes - floats + bytes + 4096);
  EXPECT_LE(session.memory().allocated_bytes, 64u << 10);
  EXPECT_NE(describe(model, "program").find("Frame"), std::string::npos);
}

// The first dispatch writes what the network's first operator reads, whatever the order of the model's
// dimensions.
TEST(Frames, OneDispatchInFrontOfTheNetwork) {
  FrameInput input{.format = FrameFormat::rgba8, .width = 40, .height = 30};
  const Device device = Device::open(device_options());
  const auto dispatches = [&](const Model& model) { return Session(device, model).dispatch_count(); };
  // A model's own input gets a layout conversion on most devices.
  EXPECT_LE(dispatches(with_frames(load(small_model()), "x", input)), dispatches(load(small_model())) + 1);
  OnnxModel channels_last;
  channels_last.input("x", {1, 9, 11, 3})
      .initializer("w", random_tensor({5, 3, 3, 3}, 1))
      .node("Transpose", {"x"}, {"t"}, attributes({{"perm", std::vector<int64_t>{0, 3, 1, 2}}}))
      .node("Conv", {"t", "w"}, {"y"})
      .output("y");
  const Model model = with_frames(load(channels_last), "x", input);
  const std::string program = describe(model, "program", {.storage = StorageChoice::image2d});
  EXPECT_EQ(program.find("Transpose"), std::string::npos) << program;
}

TEST(Frames, AreTheSameInBothOrdersOfDimensions) {
  FrameInput input{.format = FrameFormat::i420, .width = 33, .height = 27};
  const FrameTransform map = FrameTransform::letterbox({33, 27}, {kWidth, kHeight});
  const Tensor frame = random_frame(input, 1);
  const Tensor first =
      run(with_frames(load(passing_model({1, 3, kHeight, kWidth})), "image", input), frame, map);
  const Tensor last =
      run(with_frames(load(passing_model({1, kHeight, kWidth, 3})), "image", input), frame, map);
  for (size_t i = 0; i < static_cast<size_t>(kHeight * kWidth); ++i)
    for (size_t c = 0; c < 3; ++c)
      ASSERT_EQ(first.as<float>()[c * kHeight * kWidth + i], last.as<float>()[3 * i + c]) << i;
}

TEST(Frames, RoundAndSaturateForInputsOfBytes) {
  FrameInput input{.format = FrameFormat::rgb8, .width = kWidth, .height = kHeight};
  const FrameTransform same = FrameTransform::stretch({kWidth, kHeight}, {kWidth, kHeight});
  const Tensor frame = random_frame(input, 3);
  for (const DType dtype : {DType::u8, DType::i8}) {
    input.mean.fill(dtype == DType::i8 ? 128.0f : 0.0f);
    for (const float scale : {1.0f, 2.0f}) {
      input.scale.fill(scale);
      const Tensor got =
          run(with_frames(load(passing_model({1, kHeight, kWidth, 3}, dtype)), "image", input), frame, same);
      for (size_t i = 0; i < frame.as<uint8_t>().size(); ++i) {
        const float value = (static_cast<float>(frame.as<uint8_t>()[i]) - input.mean[0]) * scale;
        ASSERT_EQ(got.as<float>()[i],
                  dtype == DType::i8 ? std::clamp(value, -128.0f, 127.0f) : std::clamp(value, 0.0f, 255.0f));
      }
    }
  }
}

TEST(Frames, InputsOfHalfFloatsGetTheValuesRounded) {
  FrameInput input{.format = FrameFormat::rgb8, .width = kWidth, .height = kHeight};
  input.scale.fill(1 / 255.0f);
  const FrameTransform same = FrameTransform::stretch({kWidth, kHeight}, {kWidth, kHeight});
  const Tensor frame = random_frame(input, 4);
  for (const Shape& shape : {Shape{1, 3, kHeight, kWidth}, Shape{1, kHeight, kWidth, 3}}) {
    const Model whole = with_frames(load(passing_model(shape)), "image", input),
                half = with_frames(load(passing_model(shape, DType::f16)), "image", input);
    const Tensor want = run(whole, frame, same), got = run(half, frame, same);
    for (size_t i = 0; i < want.as<float>().size(); ++i)
      ASSERT_NEAR(got.as<float>()[i], want.as<float>()[i], 0x1p-11f) << to_string(shape) << i;
  }
}

TEST(Frames, OpenShapesAreGiven) {
  FrameInput input{.width = 20, .height = 10};
  const OnnxModel open = passing_model({kUnknownDim, 3, kUnknownDim, kUnknownDim});
  EXPECT_VELLUM_ERROR(with_frames(load(open), "image", input), ErrorCode::invalid_argument, "network_shape");
  input.network_shape = {1, 3, 6, 8};
  const Model model = with_frames(load(open), "image", input);
  EXPECT_EQ(run(model, random_frame(input, 1), FrameTransform::stretch({20, 10}, {8, 6})).shape(),
            (Shape{1, 3, 6, 8}));
  EXPECT_VELLUM_ERROR(with_frames(load(passing_model({1, 3, 6, 9})), "image", input),
                      ErrorCode::invalid_argument, "1x3x6x9 in the model");
}

TEST(Frames, EstimatesAndSubmitSeeTheFrame) {
  FrameInput input{.format = FrameFormat::nv21, .width = 64, .height = 48};
  const FrameTransform map = FrameTransform::stretch({64, 48}, {11, 9});
  const Model model = with_frames(load(small_model()), "x", input);
  const Device device = Device::open(device_options());
  EXPECT_GE(estimate_memory(model, {}, device).use.in_out, input.bytes());
  Session session(device, model, {.in_flight = 2});
  const Tensor frame = random_frame(input, 5);
  const Tensor want = session.run({{"x", frame}, {"x.transform", map.tensor()}}).at("y");
  vellum::Run first = session.submit({{"x", frame}, {"x.transform", map.tensor()}});
  vellum::Run second = session.submit({{"x", frame}, {"x.transform", map.flipped_vertically().tensor()}});
  EXPECT_TRUE(same_bits(first.output("y"), want));
  EXPECT_FALSE(same_bits(second.output("y"), want)) << "each run has its own transform";
}

TEST(Frames, AProgramInCSeesTheSame) {
  FrameInput input{.format = FrameFormat::nv12, .width = 64, .height = 36, .filter = FrameFilter::area};
  input.mean.fill(128);
  input.scale.fill(1 / 128.0f);
  const Tensor frame = random_frame(input, 9);
  const FrameTransform map = FrameTransform::letterbox({64, 36}, {11, 9}).flipped_horizontally();
  const Model model = with_frames(load(small_model()), "x", input);
  Session session(Device::open(device_options()), model);
  const Tensor want = session.run({{"x", frame}, {"x.transform", map.tensor()}}).at("y");
  Tensor got(want.dtype(), want.shape());
  const std::string bytes = small_model().bytes();
  char what[512] = "";
  EXPECT_EQ(frame_in_c(bytes.data(), bytes.size(), frame.as<uint8_t>().data(), frame.byte_size(),
                       got.mutable_as<float>().data(), got.byte_size(), what),
            0)
      << what;
  EXPECT_TRUE(same_bits(got, want));
}

TEST(Frames, RefusedByName) {
  const FrameInput input{.width = 8, .height = 8};
  const auto framed = [&](const Shape& shape, DType dtype = DType::f32) {
    return with_frames(load(passing_model(shape, dtype)), "image", input);
  };
  EXPECT_VELLUM_ERROR(framed({1, 2, 6, 8}), ErrorCode::unsupported, "'image' of 1x2x6x8 takes no frame");
  EXPECT_VELLUM_ERROR(framed({2, 3, 6, 8}), ErrorCode::unsupported, "takes no frame");
  EXPECT_VELLUM_ERROR(framed({3, 6, 8}), ErrorCode::unsupported, "takes no frame");
  EXPECT_VELLUM_ERROR(framed({1, 3, 6, 8}, DType::i32), ErrorCode::unsupported, "int32 takes no frame");
  const Model model = load(passing_model({1, 3, 6, 8}));
  EXPECT_VELLUM_ERROR(with_frames(model, "picture", input), ErrorCode::not_found, "no input 'picture'");
  EXPECT_VELLUM_ERROR(with_frames(model, "image", {}), ErrorCode::invalid_argument, "1..16384");
  FrameInput infinite = input;
  infinite.scale[1] = std::numeric_limits<float>::infinity();
  EXPECT_VELLUM_ERROR(with_frames(model, "image", infinite), ErrorCode::invalid_argument, "must be finite");
}

}  // namespace
}  // namespace vellum::test
