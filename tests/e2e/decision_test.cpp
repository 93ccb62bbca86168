// Which lines count as the same.
#include "e2e/decision.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace vellum::test {
namespace {

using Outputs = std::map<std::string, HostTensor>;

constexpr int kSide = 12;

Outputs empty_map() {
  return {{"scores", HostTensor(DType::f32, {1, kSide, kSide, 1})},
          {"offsets", HostTensor(DType::f32, {1, kSide, kSide, 4})}};
}

void add_line(Outputs& outputs, int x, int y, float score, std::array<float, 4> offsets = {-3, 0, 3, 0}) {
  const size_t cell = static_cast<size_t>(kSide) * static_cast<size_t>(y) + static_cast<size_t>(x);
  outputs["scores"].mutable_as<float>()[cell] = score;
  for (size_t i = 0; i < 4; ++i) outputs["offsets"].mutable_as<float>()[4 * cell + i] = offsets[i];
}

Outputs with_line(int x, int y, float score, std::array<float, 4> offsets = {-3, 0, 3, 0}) {
  Outputs outputs = empty_map();
  add_line(outputs, 2, 9, 0.7F);
  add_line(outputs, x, y, score, offsets);
  return outputs;
}

std::string lines_differ(const Outputs& got, const Outputs& want) {
  Decision decision;
  decision.kind = "lines";
  return differs(decision, got, want);
}

TEST(Lines, NeighbouringCellAndOtherScoreAreTheSameLine) {
  EXPECT_EQ(lines_differ(with_line(6, 4, 0.5F), with_line(6, 4, 0.9F)), "");
  EXPECT_EQ(lines_differ(with_line(7, 5, 0.5F, {-4, -1, 2, -1}), with_line(6, 4, 0.5F)), "");
}

TEST(Lines, ClearLineMustBeInBoth) {
  Outputs without = empty_map();
  add_line(without, 2, 9, 0.7F);
  EXPECT_EQ(lines_differ(without, with_line(6, 4, 0.13F)),
            "the line at 6, 4, score 0.130000, is only in the reference");
  EXPECT_EQ(lines_differ(with_line(6, 4, 0.13F), without),
            "the line at 6, 4, score 0.130000, is only in this");
  EXPECT_NE(lines_differ(with_line(8, 4, 0.5F, {-5, 0, 1, 0}), with_line(6, 4, 0.5F)), "");  // two cells away
  EXPECT_NE(lines_differ(with_line(6, 4, 0.5F, {-3, 0, 3, 3}), with_line(6, 4, 0.5F)), "");  // one end
}

TEST(Lines, LineOnTheThresholdMayBeInOneAlone) {
  Outputs without = empty_map();
  add_line(without, 2, 9, 0.7F);
  EXPECT_EQ(lines_differ(without, with_line(6, 4, 0.11F)), "");
  EXPECT_EQ(lines_differ(with_line(6, 4, 0.09F), with_line(6, 4, 0.13F)), "");
}

TEST(Lines, NoLineIsNoAgreement) { EXPECT_EQ(lines_differ(empty_map(), empty_map()), "no line"); }

}  // namespace
}  // namespace vellum::test
