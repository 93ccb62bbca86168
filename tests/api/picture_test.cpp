// Pictures as outputs of models, through the public interface.
#include "vellum/picture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>

#include "c_picture_program.h"
#include "public_interface.hpp"
#include "small_model.hpp"
#include "support/errors.hpp"
#include "vellum/estimate.hpp"
#include "vellum/frame.hpp"

namespace vellum::test {
namespace {

using Color = std::array<double, 4>;

// "values" is the output "y"; an image input "image" is there for frames.
OnnxModel passing_values(const Shape& values, DType dtype = DType::f32) {
  OnnxModel model;
  model.input("image", {1, 3, 6, 8}).input("values", values, dtype);
  model.node("Relu", {"image"}, {"seen"}).output("seen");
  model.node("Identity", {"values"}, {"y"}).output("y");
  return model;
}

Tensor random_values(const Shape& shape, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-0.2f, 1.2f);
  Tensor values(DType::f32, shape);
  for (float& value : values.mutable_as<float>()) value = uniform(random);
  return values;
}

Tensor random_bytes(uint64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  Tensor bytes(DType::u8, {static_cast<int64_t>(count)});
  for (uint8_t& byte : bytes.mutable_as<uint8_t>()) byte = static_cast<uint8_t>(random());
  return bytes;
}

// One random case, and a second reference in double, written from the definitions in vellum/picture.hpp.
struct PictureCase {
  PictureOutput picture;
  Shape shape;  // of the values, [1, C, H, W]
  FrameInput frame{.format = FrameFormat::rgba8};
  std::optional<FrameTransform> transform;
  Tensor values, bytes;

  double value(int64_t c, double x, double y) const {
    const auto element = [&](double column, double row) -> double {
      const auto i = static_cast<int64_t>(std::clamp(column, 0.0, static_cast<double>(shape[3] - 1))),
                 j = static_cast<int64_t>(std::clamp(row, 0.0, static_cast<double>(shape[2] - 1)));
      return values.as<float>()[static_cast<size_t>((c * shape[2] + j) * shape[3] + i)];
    };
    if (picture.filter == PictureFilter::nearest) return element(std::floor(x), std::floor(y));
    const double left = std::floor(x - 0.5), top = std::floor(y - 0.5), u = x - 0.5 - left, v = y - 0.5 - top;
    return (1 - v) * ((1 - u) * element(left, top) + u * element(left + 1, top)) +
           v * ((1 - u) * element(left, top + 1) + u * element(left + 1, top + 1));
  }

  Color palette_color(double i) const {
    const auto& color = picture.palette[static_cast<size_t>(i)];
    return {double(color[0]), double(color[1]), double(color[2]), double(color[3])};
  }

  // Nothing where rounding in floats may choose another colour.
  std::optional<Color> paint(double x, double y) const {
    const auto count = static_cast<double>(picture.palette.size());
    const auto t = [&](int64_t c) {
      return std::clamp((value(c, x, y) - picture.low) / (picture.high - picture.low), 0.0, 1.0);
    };
    if (picture.filter == PictureFilter::nearest)
      for (const double at : {x, y})
        if (std::abs(at - std::round(at)) < 1e-3) return std::nullopt;
    if (picture.colors == PictureColors::rgb)
      return Color{255 * t(0), 255 * t(1), 255 * t(2), shape[1] == 4 ? 255 * t(3) : 255};
    if (picture.colors == PictureColors::classes) {
      std::vector<std::pair<double, int64_t>> scores;
      for (int64_t c = 0; c < shape[1]; ++c) scores.emplace_back(-value(c, x, y), c);
      std::ranges::sort(scores);
      if (scores[1].first - scores[0].first < 1e-4) return std::nullopt;
      return palette_color(static_cast<double>(scores[0].second % static_cast<int64_t>(count)));
    }
    if (picture.colors == PictureColors::steps) {
      const double step = t(0) * count;
      if (std::abs(step - std::round(step)) < 1e-3 && step > 0 && step < count) return std::nullopt;
      return palette_color(std::min(std::floor(step), count - 1));
    }
    const double place = t(0) * (count - 1), first = std::min(std::floor(place), count - 2);
    Color mixed = palette_color(first);
    const Color next = palette_color(first + 1);
    for (size_t c = 0; c < 4; ++c) mixed[c] += (place - first) * (next[c] - mixed[c]);
    return mixed;
  }

  Color frame_color(double x, double y) const {
    const auto pixel = [&](double column, double row, size_t c) -> double {
      const auto i = static_cast<size_t>(std::clamp(column, 0.0, frame.width - 1.0)),
                 j = static_cast<size_t>(std::clamp(row, 0.0, frame.height - 1.0));
      return bytes.as<uint8_t>()[4 * (j * frame.width + i) + c];
    };
    const double left = std::floor(x - 0.5), top = std::floor(y - 0.5), u = x - 0.5 - left, v = y - 0.5 - top;
    Color color{};
    for (size_t c = 0; c < 4; ++c)
      color[c] = (1 - v) * ((1 - u) * pixel(left, top, c) + u * pixel(left + 1, top, c)) +
                 v * ((1 - u) * pixel(left, top + 1, c) + u * pixel(left + 1, top + 1, c));
    return color;
  }

  std::optional<Color> want(double x, double y) const {
    const auto width = static_cast<double>(shape[3]), height = static_cast<double>(shape[2]);
    if (!transform) return paint(x / picture.width * width, y / picture.height * height);
    const FramePoint at{x / picture.width * frame.width, y / picture.height * frame.height};
    const FramePoint seen = transform->to_network(at);
    for (const double edge : {seen.x, seen.x - 8, seen.y, seen.y - 6})
      if (std::abs(edge) < 1e-3) return std::nullopt;
    Color color = frame_color(at.x, at.y);
    if (seen.x > 0 && seen.x < 8 && seen.y > 0 && seen.y < 6) {
      const std::optional<Color> above = paint(seen.x / 8 * width, seen.y / 6 * height);
      if (!above) return std::nullopt;
      for (size_t c = 0; c < 3; ++c) color[c] += (*above)[3] / 255 * ((*above)[c] - color[c]);
    }
    color[3] = 255;
    return color;
  }
};

TEST(Pictures, AreWithinOneLevelOfAReferenceInDouble) {
  constexpr uint32_t seed = 11;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  const auto integer = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  const Device device = Device::open(device_options());
  double worst = 0;
  size_t compared = 0, pixels = 0;
  for (uint32_t i = 0; i < 16; ++i) {
    PictureCase test;
    PictureOutput& picture = test.picture;
    picture.colors = static_cast<PictureColors>(i % 4);
    picture.filter = i / 4 % 2 ? PictureFilter::nearest : PictureFilter::bilinear;
    picture.channels = ChannelOrder::first;
    picture.low = static_cast<float>(uniform(-0.5, 0.2));
    picture.high = static_cast<float>(uniform(0.5, 1.5));
    if (i % 3 == 0) std::swap(picture.low, picture.high);
    if (picture.colors != PictureColors::rgb)
      for (int k = integer(2, 6); k > 0; --k)
        picture.palette.push_back(
            {uint8_t(random()), uint8_t(random()), uint8_t(random()), uint8_t(random())});
    test.shape = {1, picture.colors == PictureColors::rgb ? integer(3, 4) : integer(2, 9), integer(1, 20),
                  integer(1, 20)};
    picture.width = static_cast<uint32_t>(integer(10, 40));
    picture.height = static_cast<uint32_t>(integer(10, 40));
    const bool over = i >= 8;
    test.frame.width = i % 2 ? picture.width : static_cast<uint32_t>(integer(10, 60));
    test.frame.height = i % 2 ? picture.height : static_cast<uint32_t>(integer(10, 60));
    if (over) picture.over = "image";
    const Model model = load(passing_values(test.shape));
    Session session(device,
                    with_picture(over ? with_frames(model, "image", test.frame) : model, "y", picture));
    for (uint32_t k = 0; k < 7; ++k) {
      test.values = random_values(test.shape, 100 * i + k);
      test.bytes = random_bytes(test.frame.bytes(), k);
      std::map<std::string, Tensor> inputs{{"values", test.values},
                                           {"image", random_values({1, 3, 6, 8}, k)}};
      if (over) {
        test.transform =
            FrameTransform::rotated({uniform(0, test.frame.width), uniform(0, test.frame.height)},
                                    {uniform(5, 1.5 * test.frame.width), uniform(5, 1.5 * test.frame.height)},
                                    k % 2 ? uniform(-4, 4) : 0, {8, 6});
        inputs["image"] = test.bytes;
        inputs["image.transform"] = test.transform->tensor();
      }
      const Tensor got = session.run(inputs).at("y");
      ASSERT_EQ(got.shape(), (Shape{picture.height, picture.width, 4}));
      const std::span<const uint8_t> bytes = got.as<uint8_t>();
      for (size_t p = 0; p < bytes.size() / 4; ++p, ++pixels) {
        const std::optional<Color> want = test.want(static_cast<double>(p % picture.width) + 0.5,
                                                    static_cast<double>(p / picture.width) + 0.5);
        if (!want) continue;
        ++compared;
        for (size_t c = 0; c < 4; ++c) worst = std::max(worst, std::abs(bytes[4 * p + c] - (*want)[c]));
        ASSERT_LE(worst, 1.0) << "case " << i << ", run " << k << ", pixel " << p;
      }
    }
  }
  EXPECT_GT(compared, pixels * 97 / 100);
  RecordProperty("worst_level", std::to_string(worst));
}

TEST(Pictures, ReplaceTheOutputInItsPlace) {
  const Model model = with_picture(load(passing_values({1, 1, 4, 5})), "y", {.width = 10, .height = 7});
  ASSERT_EQ(model.outputs().size(), 2u);
  EXPECT_EQ(model.outputs()[1].name, "y");
  EXPECT_EQ(model.outputs()[1].dtype, DType::u8);
  EXPECT_EQ(model.outputs()[1].shape, (Shape{7, 10, 4}));
  EXPECT_EQ(with_picture(load(passing_values({1, 4, 5, 2})), "y", {}).outputs()[1].shape, (Shape{4, 5, 4}));
  EXPECT_EQ(with_picture(load(passing_values({1, 9, 6})), "y", {}).outputs()[1].shape, (Shape{9, 6, 4}));
  EXPECT_EQ(with_picture(load(passing_values({9, 6})), "y", {}).outputs()[1].shape, (Shape{9, 6, 4}));
  const FrameInput frame{.format = FrameFormat::nv12, .width = 64, .height = 36};
  EXPECT_EQ(with_picture(with_frames(load(passing_values({9, 6})), "image", frame), "y", {.over = "image"})
                .outputs()[1]
                .shape,
            (Shape{36, 64, 4}));
}

TEST(Pictures, OfTheFrameAlone) {
  const FrameInput frame{.format = FrameFormat::rgba8, .width = 20, .height = 10};
  const PictureOutput screen{.palette = {{0, 0, 0, 0}}, .over = "image", .name = "screen"};
  const Model model = with_picture(with_frames(load(passing_values({9, 6})), "image", frame), "y", screen);
  ASSERT_EQ(model.outputs().size(), 3u);
  EXPECT_EQ(model.outputs()[1].shape, (Shape{9, 6}));
  EXPECT_EQ(model.outputs()[2].name, "screen");
  Session session(Device::open(device_options()), model);
  const Tensor values = random_values({9, 6}, 1), bytes = random_bytes(frame.bytes(), 2);
  const auto outputs = session.run({{"values", values},
                                    {"image", bytes},
                                    {"image.transform", FrameTransform::stretch({20, 10}, {8, 6}).tensor()}});
  EXPECT_TRUE(same_bits(outputs.at("y"), values));
  for (size_t i = 0; i < 800; ++i)
    ASSERT_EQ(outputs.at("screen").as<uint8_t>()[i], i % 4 == 3 ? 255 : bytes.as<uint8_t>()[i]);
}

// Equal values in both orders of dimensions, and class numbers in integers.
TEST(Pictures, OrdersOfChannelsAndIntegers) {
  const Device device = Device::open(device_options());
  const auto picture_of = [&](const Tensor& values, const PictureOutput& picture) {
    Session session(device, with_picture(load(passing_values(values.shape(), values.dtype())), "y", picture));
    return session.run({{"values", values}, {"image", random_values({1, 3, 6, 8}, 1)}}).at("y");
  };
  PictureOutput classes{.colors = PictureColors::classes,
                        .palette = {{255, 0, 0, 255}, {0, 255, 0, 128}, {0, 0, 255, 0}},
                        .filter = PictureFilter::nearest};
  Tensor first(DType::f32, {1, 3, 4, 5}), last(DType::f32, {1, 4, 5, 3});
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < 20; ++i) {
    for (size_t c = 0; c < 3; ++c) {
      const auto score = static_cast<float>((c * 5 + i * 2) % 3);
      first.mutable_as<float>()[20 * c + i] = last.mutable_as<float>()[3 * i + c] = score;
      if (score == 2) numbers.push_back(static_cast<int64_t>(c));
    }
  }
  const Tensor want = picture_of(first, classes);
  EXPECT_TRUE(same_bits(picture_of(last, classes), want));
  EXPECT_TRUE(same_bits(picture_of(Tensor::from<int64_t>(DType::i64, {1, 4, 5}, numbers), classes), want));
  classes.channels = ChannelOrder::last;
  EXPECT_EQ(picture_of(first, classes).shape(), (Shape{3, 4, 4}));
}

// It is a dispatch after the others, and four bytes for each pixel leave the device.
TEST(Pictures, TakeTheirOwnBytesAlone) {
  const Device device = Device::open(device_options());
  const Model model = load(small_model());
  const PictureOutput picture{.width = 640, .height = 480};
  const Model pictured = with_picture(model, "y", picture);
  Session session(device, pictured), without(device, model);
  // In place of the layout conversion of the output.
  EXPECT_EQ(session.dispatch_count(), without.dispatch_count());
  EXPECT_LE(session.memory().in_out_bytes, without.memory().in_out_bytes + 640 * 480 * 4);
  EXPECT_GE(estimate_memory(pictured, {}, device).use.in_out, 640u * 480 * 4);
  EXPECT_NE(describe(pictured, "program").find("Picture"), std::string::npos);
  EXPECT_TRUE(session.warnings().empty());
}

TEST(Pictures, AProgramInCSeesTheSame) {
  FrameInput camera{.format = FrameFormat::nv12, .width = 64, .height = 36};
  const FrameTransform part = FrameTransform::letterbox({64, 36}, {11, 9});
  PictureOutput wall{.low = -0.5f, .palette = {{0, 177, 64, 255}, {0, 177, 64, 0}}, .over = "x"};
  wall.width = 32;
  const Model model = with_picture(with_frames(load(small_model()), "x", camera), "y", wall);
  Session session(Device::open(device_options()), model);
  const Tensor frame = random_bytes(camera.bytes(), 9);
  const Tensor want = session.run({{"x", frame}, {"x.transform", part.tensor()}}).at("y");
  Tensor got(want.dtype(), want.shape());
  const std::string bytes = small_model().bytes();
  char what[512] = "";
  EXPECT_EQ(picture_in_c(bytes.data(), bytes.size(), frame.as<uint8_t>().data(), frame.byte_size(),
                         got.mutable_as<uint8_t>().data(), got.byte_size(), what),
            0)
      << what;
  EXPECT_TRUE(same_bits(got, want));
}

TEST(Pictures, RefusedByName) {
  const auto pictured = [](const Shape& shape, const PictureOutput& picture = {}) {
    return with_picture(load(passing_values(shape)), "y", picture);
  };
  EXPECT_VELLUM_ERROR(with_picture(load(passing_values({1, 1, 4, 4})), "z", {}), ErrorCode::not_found,
                      "no output 'z'");
  EXPECT_VELLUM_ERROR(pictured({2, 1, 4, 4}), ErrorCode::unsupported, "'y' of 2x1x4x4 makes no picture");
  EXPECT_VELLUM_ERROR(pictured({4}), ErrorCode::unsupported, "makes no picture");
  EXPECT_VELLUM_ERROR(pictured({1, 1, 4, 4}, {.width = 20000}), ErrorCode::invalid_argument, "1..16384");
  EXPECT_VELLUM_ERROR(pictured({1, 1, 4, 4}, {.low = 1}), ErrorCode::invalid_argument,
                      "must be finite and differ");
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_VELLUM_ERROR(pictured({1, 1, 4, 4}, {.high = infinity}), ErrorCode::invalid_argument,
                      "must be finite");
  EXPECT_VELLUM_ERROR(pictured({1, 2, 4, 4}, {.colors = PictureColors::classes}), ErrorCode::invalid_argument,
                      "needs a palette");
  PictureOutput many;
  many.palette.resize(5000);
  EXPECT_VELLUM_ERROR(pictured({1, 1, 4, 4}, many), ErrorCode::invalid_argument, "at most 4096");
  EXPECT_VELLUM_ERROR(pictured({1, 2, 4, 4}, {.colors = PictureColors::rgb}), ErrorCode::invalid_argument,
                      "3 or 4 channels");
  EXPECT_VELLUM_ERROR(pictured({1, 1, 4, 4}, {.name = "seen"}), ErrorCode::invalid_argument, "called 'seen'");
  EXPECT_VELLUM_ERROR(pictured({1, 1, 4, 4}, {.over = "image"}), ErrorCode::invalid_argument,
                      "with_frames()");
}

}  // namespace
}  // namespace vellum::test
