#include "selfie_segmentation/matte.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "references.hpp"
#include "vellum/error.hpp"

namespace vellum::samples {
namespace {

TEST(Matte, MaskIsStretchedLinearly) {
  const float mask[] = {0, 1};
  const Matte matte = stretch_mask(mask, 2, 1, 4, 2);
  EXPECT_EQ(matte.share, (std::vector<float>{0, 0.25f, 0.75f, 1, 0, 0.25f, 0.75f, 1}));
  EXPECT_DOUBLE_EQ(matte.mean(), 0.5);
}

TEST(Matte, MaskOfAnotherSizeOrWithoutNumbersIsRefused) {
  const float mask[] = {0, std::numeric_limits<float>::quiet_NaN()};
  EXPECT_THROW(stretch_mask(mask, 2, 1, 4, 2), Error);
  EXPECT_THROW(stretch_mask(std::span(mask).first(1), 2, 1, 4, 2), Error);
  EXPECT_THROW(stretch_mask({}, 0, 0, 4, 2), Error);
}

TEST(Matte, BlurSpreadsAPointEvenlyToBothSides) {
  io::Image image = io::make_image(9, 9);
  image.pixel(4, 4)[1] = 255;
  const io::Image blurred = blur(image, 1);
  EXPECT_EQ(blurred.pixel(3, 4)[1], blurred.pixel(5, 4)[1]);
  EXPECT_EQ(blurred.pixel(4, 2)[1], blurred.pixel(4, 6)[1]);
  EXPECT_EQ(blurred.pixel(3, 4)[1], blurred.pixel(4, 3)[1]);
  EXPECT_GT(blurred.pixel(4, 4)[1], blurred.pixel(3, 4)[1]);
  EXPECT_GT(blurred.pixel(3, 4)[1], blurred.pixel(2, 4)[1]);
  EXPECT_EQ(blurred.pixel(4, 4)[0], 0);
  EXPECT_EQ(blur(image, 0).rgb, image.rgb);
}

TEST(Matte, BlurLeavesAnEvenImageAsItIs) {
  io::Image image = io::make_image(5, 3);
  for (std::uint8_t& value : image.rgb) value = 77;
  EXPECT_EQ(blur(image, 20).rgb, image.rgb);
}

TEST(Matte, PersonStaysAndTheRestGoes) {
  const io::Image photo{3, 1, {100, 100, 100, 100, 100, 100, 100, 100, 100}};
  const io::Image background{3, 1, {0, 10, 20, 0, 10, 20, 0, 10, 20}};
  const io::Image result = replace_background(photo, background, {3, 1, {1, 0, 0.5f}});
  EXPECT_EQ(result.rgb, (std::vector<std::uint8_t>{100, 100, 100, 0, 10, 20, 50, 55, 60}));
  EXPECT_THROW(replace_background(photo, io::make_image(2, 1), {3, 1, {1, 0, 0.5f}}), Error);
}

// As much of the photo as the sample prints.
TEST(Matte, LiteRtFindsTheAstronaut) {
  const Matte matte =
      stretch_mask(load_reference("selfie_segmentation", "activation_10.npy"), 256, 256, 512, 512);
  EXPECT_NEAR(matte.mean(), 0.5443, 0.001);
  EXPECT_GT(matte.share[512 * 130 + 225], 0.95f);  // the face
  EXPECT_LT(matte.share[512 * 20 + 30], 0.1f);     // the flag
}

}  // namespace
}  // namespace vellum::samples
