#include "line_detection/mlsd.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "vellum/error.hpp"

namespace vellum::samples {
namespace {

constexpr int kSide = 10;

struct Maps {
  std::vector<float> scores = std::vector<float>(kSide * kSide);
  std::vector<float> displacements = std::vector<float>(4 * kSide * kSide);

  void add(int x, int y, float score, std::array<float, 4> displacement) {
    const int cell = y * kSide + x;
    scores.at(static_cast<std::size_t>(cell)) = score;
    std::copy(displacement.begin(), displacement.end(), displacements.begin() + 4 * cell);
  }
};

TEST(Mlsd, EndsAreTheCentrePlusTheirDisplacements) {
  Maps maps;
  maps.add(4, 6, 0.75f, {-3, 1, 2, -1});
  const std::vector<Line> lines = decode_mlsd(maps.scores, maps.displacements, kSide, {});
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].score, 0.75f);
  EXPECT_FLOAT_EQ(lines[0].start.x, 0.1f);
  EXPECT_FLOAT_EQ(lines[0].start.y, 0.7f);
  EXPECT_FLOAT_EQ(lines[0].end.x, 0.6f);
  EXPECT_FLOAT_EQ(lines[0].end.y, 0.5f);
}

TEST(Mlsd, WeakShortAndBrokenLinesAreLeftOut) {
  Maps maps;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  maps.add(0, 0, 0.19f, {0, 0, 5, 0});
  maps.add(1, 0, 0.9f, {0, 0, 0.5f, 0});
  maps.add(2, 0, 0.9f, {nan, 0, 5, 0});
  maps.add(3, 0, nan, {0, 0, 5, 0});
  EXPECT_TRUE(decode_mlsd(maps.scores, maps.displacements, kSide, {}).empty());
}

TEST(Mlsd, BestLinesComeFirstAndOnlySoMany) {
  Maps maps;
  for (int i = 0; i < 5; ++i) maps.add(i, i, 0.5f + 0.1f * static_cast<float>(i), {-2, 0, 2, 0});
  const std::vector<Line> lines = decode_mlsd(maps.scores, maps.displacements, kSide, {.lines = 3});
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_FLOAT_EQ(lines[0].score, 0.9f);
  EXPECT_FLOAT_EQ(lines[2].score, 0.7f);
}

TEST(Mlsd, OfLinesOnOneAnotherTheBestStands) {
  Maps maps;
  maps.add(4, 5, 0.9f, {-4, 0, 4, 0});
  maps.add(5, 5, 0.8f, {3, 0.1f, -5, 0.1f});  // the other way round, 0.1 cells below
  maps.add(3, 5, 0.7f, {-1, 0, 1, 0});        // a part of it
  maps.add(4, 6, 0.6f, {-4, 0, 4, 0});        // a cell below
  maps.add(4, 4, 0.5f, {-4, 1, 4, -3});       // from the same end to another place
  const std::vector<Line> lines = decode_mlsd(maps.scores, maps.displacements, kSide, {.beside = 0.02f});
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].score, 0.9f);
  EXPECT_EQ(lines[1].score, 0.6f);
  EXPECT_EQ(lines[2].score, 0.5f);
}

TEST(Mlsd, MapsThatDoNotBelongTogetherAreRefused) {
  const Maps maps;
  EXPECT_THROW(decode_mlsd(maps.scores, maps.displacements, kSide + 1, {}), Error);
  EXPECT_THROW(decode_mlsd(maps.scores, maps.scores, kSide, {}), Error);
  EXPECT_THROW(decode_mlsd({}, {}, 0, {}), Error);
}

}  // namespace
}  // namespace vellum::samples
