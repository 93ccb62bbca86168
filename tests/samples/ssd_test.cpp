#include "object_detection/ssd.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "references.hpp"
#include "vellum/error.hpp"

namespace vellum::samples {
namespace {

TEST(Ssd, AnchorsOfTheFirstAndTheLastGrid) {
  const std::vector<Anchor> anchors = ssd_anchors(300);
  ASSERT_EQ(anchors.size(), 1917u);  // 19^2 * 3 + (10^2 + 5^2 + 3^2 + 2^2 + 1) * 6
  EXPECT_FLOAT_EQ(anchors[0].center.x, 0.5f / 19);
  EXPECT_FLOAT_EQ(anchors[0].width, 0.1f);
  EXPECT_FLOAT_EQ(anchors[3 * 20 + 1].center.x, 1.5f / 19);
  EXPECT_FLOAT_EQ(anchors[3 * 20 + 1].center.y, 1.5f / 19);
  EXPECT_FLOAT_EQ(anchors[1].width, 0.2f * std::sqrt(2.0f));
  EXPECT_FLOAT_EQ(anchors[1].height, 0.2f / std::sqrt(2.0f));
  EXPECT_FLOAT_EQ(anchors[1911].width, 0.95f);
  EXPECT_FLOAT_EQ(anchors[1914].width, 0.95f * std::sqrt(3.0f));
  EXPECT_FLOAT_EQ(anchors[1916].height, std::sqrt(0.95f));
  EXPECT_FLOAT_EQ(anchors[1083 + 5].width,
                  std::sqrt(0.35f * 0.5f));  // between the second scale and the third
}

TEST(Ssd, BoxIsRelativeToItsAnchor) {
  const std::vector<Anchor> anchors{{{0.5f, 0.25f}, 0.2f, 0.1f}};
  const float encodings[] = {1, 2, 5 * std::log(2.0f), 0};
  const float logits[] = {9, -1, 0, -3};  // the first stands for no object
  const std::vector<Object> objects = decode_ssd(encodings, logits, anchors, 0.5f);
  ASSERT_EQ(objects.size(), 1u);
  EXPECT_EQ(objects[0].label, 2u);
  EXPECT_FLOAT_EQ(objects[0].score, 0.5f);
  EXPECT_FLOAT_EQ(objects[0].box.top_left.x, 0.54f - 0.1f);
  EXPECT_FLOAT_EQ(objects[0].box.top_left.y, 0.26f - 0.1f);
  EXPECT_FLOAT_EQ(objects[0].box.bottom_right.x, 0.54f + 0.1f);
  EXPECT_FLOAT_EQ(objects[0].box.bottom_right.y, 0.26f + 0.1f);
}

TEST(Ssd, ValuesThatAreNoNumbersAndOtherModelsAreLeftOut) {
  const std::vector<Anchor> anchors{{{0.5f, 0.5f}, 0.2f, 0.2f}};
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float fine[] = {0, 0, 0, 0}, broken[] = {0, 0, 1000, 0};
  const float sure[] = {0, 9}, unknown[] = {0, nan};
  EXPECT_TRUE(decode_ssd(fine, unknown, anchors, 0.1f).empty());
  EXPECT_TRUE(decode_ssd(broken, sure, anchors, 0.1f).empty());
  EXPECT_THROW(decode_ssd(std::span(fine).first(3), sure, anchors, 0.1f), Error);
  EXPECT_THROW(decode_ssd(fine, std::span(sure).first(1), anchors, 0.1f), Error);
  EXPECT_THROW(decode_ssd({}, {}, {}, 0.1f), Error);
}

TEST(Ssd, BetterBoxSuppressesWhatItOverlaps) {
  const std::vector<Object> kept = suppress_overlapping(
      {{1, 0.6f, {{0, 0}, {1, 1}}}, {2, 0.9f, {{0, 0.1f}, {1, 1.1f}}}, {1, 0.7f, {{0.8f, 0}, {1.8f, 1}}}},
      0.5f);
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].label, 2u);
  EXPECT_FLOAT_EQ(kept[1].score, 0.7f);
}

// The sample's output for the photo.
TEST(Ssd, LiteRtFindsTheCoffeeCup) {
  const std::vector<Object> objects = suppress_overlapping(
      decode_ssd(load_reference("objects_ssd", "raw_outputs_box_encodings.npy"),
                 load_reference("objects_ssd", "raw_outputs_class_predictions.npy"), ssd_anchors(300), 0.5f),
      0.5f);
  ASSERT_EQ(objects.size(), 1u);
  EXPECT_EQ(objects[0].label, 13u);  // the line of the labels' file, counted from 0: Coffee cup
  EXPECT_NEAR(objects[0].score, 0.5563f, 0.001f);
  EXPECT_NEAR(objects[0].box.top_left.x * 599, 173, 1);
  EXPECT_NEAR(objects[0].box.top_left.y * 399, 23, 1);
  EXPECT_NEAR(objects[0].box.bottom_right.x * 599, 420, 1);
  EXPECT_NEAR(objects[0].box.bottom_right.y * 399, 322, 1);
}

}  // namespace
}  // namespace vellum::samples
