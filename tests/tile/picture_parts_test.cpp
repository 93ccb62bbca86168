// Pictures in parts, on the host reference: bit for bit what the network computes of the whole.
#include "passes/tile/picture_parts.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "passes/pass_harness.hpp"
#include "support/errors.hpp"
#include "tile/local_networks.hpp"

namespace vellum::test {
namespace {

using Ints = Attributes::Ints;

Graph prepared(const OnnxModel& model, int64_t height, int64_t width) {
  return optimise(model.graph(), {{"x", {1, 3, height, width}}}, {}, {});
}

// Rows and columns of a tensor in N, C, H, W.
HostTensor cropped(const HostTensor& from, const Rows& rows, const Rows& columns) {
  const Shape& shape = from.shape();
  HostTensor to(from.dtype(), {shape[0], shape[1], rows.count(), columns.count()});
  const auto* source = reinterpret_cast<const float*>(from.data());
  auto* target = reinterpret_cast<float*>(to.mutable_data());
  for (int64_t plane = 0; plane < shape[0] * shape[1]; ++plane)
    for (int64_t y = rows.begin; y < rows.end; ++y)
      for (int64_t x = columns.begin; x < columns.end; ++x)
        *target++ = source[(plane * shape[2] + y) * shape[3] + x];
  return to;
}

Rows of_part(const PicturePart& part, size_t output) {
  return {part.first[output], part.first[output] + part.rows[output].count()};
}

void expect_bits_of_the_whole(const OnnxModel& model, int64_t height, int64_t width, int64_t part_height,
                              int64_t part_width) {
  const Graph whole = prepared(model, height, width), part = prepared(model, part_height, part_width);
  const HostTensor input = random_tensor({1, 3, height, width}, 5);
  const std::vector<HostTensor> wanted = evaluate(whole, std::array{input});
  const auto down = divide_picture(part, whole, ImageAxis::rows);
  const auto across = divide_picture(part, whole, ImageAxis::columns);
  EXPECT_EQ(down.size() > 1, part_height < height);
  EXPECT_EQ(across.size() > 1, part_width < width);
  for (const PicturePart& rows : down)
    for (const PicturePart& columns : across) {
      const HostTensor tile =
          cropped(input, {rows.begin, rows.begin + part_height}, {columns.begin, columns.begin + part_width});
      const std::vector<HostTensor> found = evaluate(part, std::array{tile});
      for (size_t i = 0; i < found.size(); ++i)
        ASSERT_TRUE(same_bits(cropped(found[i], of_part(rows, i), of_part(columns, i)),
                              cropped(wanted[i], rows.rows[i], columns.rows[i])))
            << "output " << i << " of the part at " << rows.begin << ", " << columns.begin;
    }
}

constexpr int64_t kOpen = kUnknownDim;

// Strides and dilations, both ends padded otherwise, and outputs of two sizes.
OnnxModel strided() {
  OnnxModel model;
  model.input("x", {1, 3, kOpen, kOpen})
      .initializer("w0", random_tensor({4, 3, 3, 3}, 1))
      .initializer("w1", random_tensor({4, 1, 3, 3}, 2))
      .initializer("w2", random_tensor({4, 2, 4, 4}, 3));
  model
      .node("Conv", {"x", "w0"}, {"a"}, attributes({{"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 3}}}),
            "first")
      .node("Conv", {"a", "w1"}, {"b"},
            attributes({{"pads", Ints{4, 0, 0, 4}}, {"dilations", Ints{2, 2}}, {"group", int64_t{4}}}),
            "depthwise")
      .node("AveragePool", {"b"}, {"c"},
            attributes({{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}}), "mean")
      .node("ConvTranspose", {"c", "w2"}, {"y"},
            attributes({{"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}}), "wider")
      .output("b")
      .output("y");
  return model;
}

OnnxModel resized(const char* mode, float scale, const char* coordinates = "half_pixel") {
  OnnxModel model;
  model.input("x", {1, 3, kOpen, kOpen})
      .initializer("scales", HostTensor::from<float>(DType::f32, {4}, std::array{1.0f, 1.0f, scale, scale}))
      .initializer("pads", HostTensor::from<int64_t>(DType::i64, {8}, Ints{0, 0, 2, 1, 0, 0, 1, 2}))
      .node("Pad", {"x", "pads"}, {"padded"}, attributes({{"mode", std::string("reflect")}}), "mirror")
      .node("Resize", {"padded", "", "scales"}, {"y"},
            attributes(
                {{"mode", std::string(mode)}, {"coordinate_transformation_mode", std::string(coordinates)}}),
            "enlarge")
      .output("y");
  return model;
}

TEST(PictureParts, AreBitForBitThoseOfTheWhole) {
  expect_bits_of_the_whole(super_resolution({1, 3, kOpen, kOpen}, 4), 41, 37, 20, 37);
  expect_bits_of_the_whole(super_resolution({1, 3, kOpen, kOpen}, 4), 31, 47, 17, 20);
  expect_bits_of_the_whole(strided(), 61, 76, 31, 46);
  expect_bits_of_the_whole(strided(), 62, 60, 34, 60);
  expect_bits_of_the_whole(resized("nearest", 3), 30, 20, 11, 9);
  expect_bits_of_the_whole(resized("linear", 2), 30, 20, 11, 9);
  expect_bits_of_the_whole(resized("linear", 3), 97, 20, 11, 9);
  expect_bits_of_the_whole(resized("cubic", 3), 97, 20, 15, 13);
  expect_bits_of_the_whole(resized("cubic", 5.0f / 3), 84, 60, 33, 36);
  expect_bits_of_the_whole(resized("cubic", 0.5f), 41, 41, 21, 19);
  expect_bits_of_the_whole(unet({1, 3, kOpen, kOpen}), 160, 32, 104, 32);
}

TEST(PictureParts, BeginWhereStridesFallOnTheSameRows) {
  EXPECT_EQ(picture_alignment(prepared(strided(), 60, 60), ImageAxis::rows), 2);
  EXPECT_EQ(picture_alignment(prepared(strided(), 60, 60), ImageAxis::columns), 3);
  EXPECT_EQ(picture_alignment(prepared(unet({1, 3, kOpen, kOpen}), 64, 64), ImageAxis::rows), 8);
  EXPECT_EQ(picture_alignment(prepared(resized("nearest", 3), 20, 20), ImageAxis::rows), 1);
}

TEST(PictureParts, OverlapByTheHaloAlone) {
  // Six 3x3 convolutions: six rows at both ends of a part.
  const OnnxModel model = super_resolution({1, 3, kOpen, kOpen}, 4);
  const auto parts = divide_picture(prepared(model, 20, 20), prepared(model, 60, 20), ImageAxis::rows);
  ASSERT_GE(parts.size(), 3u);
  EXPECT_EQ(parts[1].begin, 8);
  EXPECT_EQ(parts[0].rows[0], (Rows{0, 3 * 14}));
  EXPECT_EQ(parts[1].rows[0], (Rows{3 * 14, 3 * 22}));
}

TEST(PictureParts, RefuseLayersThatNeedTheWholeByName) {
  OnnxModel pooled;
  pooled.input("x", {1, 3, kOpen, kOpen}).node("Relu", {"x"}, {"r"}, {}, "relu");
  pooled.node("GlobalAveragePool", {"r"}, {"m"}, {}, "mean_of_all")
      .node("Mul", {"r", "m"}, {"y"}, {}, "scale");
  pooled.output("y");
  EXPECT_VELLUM_ERROR(picture_alignment(prepared(pooled, 20, 20), ImageAxis::rows), ErrorCode::unsupported,
                      "mean_of_all");
  EXPECT_VELLUM_ERROR(
      picture_alignment(prepared(resized("linear", 3, "align_corners"), 20, 20), ImageAxis::columns),
      ErrorCode::unsupported, "enlarge", "rounded");
}

TEST(PictureParts, RefusePartsNoLargerThanTheHalo) {
  const OnnxModel model = super_resolution({1, 3, kOpen, kOpen}, 4);
  EXPECT_VELLUM_ERROR(divide_picture(prepared(model, 12, 20), prepared(model, 60, 20), ImageAxis::rows),
                      ErrorCode::invalid_argument, "halo");
}

}  // namespace
}  // namespace vellum::test
