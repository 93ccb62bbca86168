#include "object_detection/gfl.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "vellum/error.hpp"

namespace vellum::samples {
namespace {

TEST(Gfl, SidesAreTheMeansOfTheirDistributions) {
  // One row of two cells, two classes, three bins. In the second cell the distances are 0, 1, 2 and the mean
  // of all bins.
  const float scores[] = {0.1f, 0.2f, 0.3f, 0.9f};
  const float distances[] = {0,  0, 0, 0, 0,  0, 0, 0, 0,  0, 0, 0,  //
                             50, 0, 0, 0, 50, 0, 0, 0, 50, 5, 5, 5};
  const std::vector<Object> objects = decode_gfl({1, 2, scores, distances}, 2, 0.5f);
  ASSERT_EQ(objects.size(), 1u);
  EXPECT_EQ(objects[0].label, 1u);
  EXPECT_FLOAT_EQ(objects[0].score, 0.9f);
  EXPECT_FLOAT_EQ(objects[0].box.top_left.x, 1.5f / 2);
  EXPECT_FLOAT_EQ(objects[0].box.top_left.y, 0.5f - 1);
  EXPECT_FLOAT_EQ(objects[0].box.bottom_right.x, 3.5f / 2);
  EXPECT_FLOAT_EQ(objects[0].box.bottom_right.y, 0.5f + 1);
}

TEST(Gfl, GridsAreToldByTheirShapes) {
  std::map<std::string, Tensor> outputs;
  outputs.emplace("a", Tensor(DType::f32, {1, 6, 8}));  // 2 x 3 cells of stride 8, 8 = 4 * 2 bins
  outputs.emplace("b", Tensor(DType::f32, {1, 6, 5}));
  outputs.emplace("c", Tensor(DType::f32, {1, 2, 5}));  // 1 x 2 cells of stride 16
  outputs.emplace("d", Tensor(DType::f32, {1, 2, 8}));
  const std::vector<GflGrid> grids = find_gfl_grids(outputs, 16, 20, 5);
  ASSERT_EQ(grids.size(), 2u);
  EXPECT_EQ(grids[0].columns, 3);
  EXPECT_EQ(grids[0].scores.data(), outputs.at("b").as<float>().data());
  EXPECT_EQ(grids[1].rows, 1);
  EXPECT_EQ(grids[1].distances.data(), outputs.at("d").as<float>().data());
  EXPECT_THROW(find_gfl_grids(outputs, 16, 20, 6), Error);
}

TEST(Gfl, ValuesThatAreNoNumbersAndOtherModelsAreLeftOut) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float sure[] = {0.9f}, unknown[] = {nan};
  const float fine[] = {0, 1, 0, 1, 0, 1, 0, 1}, broken[] = {0, 1, 0, nan, 0, 1, 0, 1};
  EXPECT_EQ(decode_gfl({1, 1, sure, fine}, 1, 0.5f).size(), 1u);
  EXPECT_TRUE(decode_gfl({1, 1, unknown, fine}, 1, 0.5f).empty());
  EXPECT_TRUE(decode_gfl({1, 1, sure, broken}, 1, 0.5f).empty());
  EXPECT_THROW(decode_gfl({1, 1, sure, std::span(fine).first(7)}, 1, 0.5f), Error);
  EXPECT_THROW(decode_gfl({0, 0, {}, {}}, 1, 0.5f), Error);
}

}  // namespace
}  // namespace vellum::samples
