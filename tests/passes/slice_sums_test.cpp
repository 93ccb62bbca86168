// Sums of all slices of a tensor.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "passes/pass_harness.hpp"
#include "support/small_tensors.hpp"

namespace vellum::test {
namespace {

// Adds a Gather of one index.
std::string slice(OnnxModel& m, const std::string& x, int64_t axis, int64_t index) {
  const std::string name = x + "_" + std::to_string(axis) + "_" + std::to_string(index);
  m.initializer(name + "_i", HostTensor::i64({}, std::vector<int64_t>{index}));
  m.node("Gather", {x, name + "_i"}, {name}, attributes({{"axis", axis}}));
  return name;
}

std::string sum_of(OnnxModel& m, const std::vector<std::string>& terms) {
  std::string sum = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) {
    const std::string next = "sum" + std::to_string(i);
    m.node("Add", {sum, terms[i]}, {next});
    sum = next;
  }
  return sum;
}

std::string fused(OnnxModel& m, const std::vector<std::string>& terms) {
  m.node("Relu", {sum_of(m, terms)}, {"y"}).output("y");
  return types(after(fuse_slice_sums, m));
}

TEST(FuseSliceSums, AlongAnAxis) {
  for (const int64_t axis : {0, 1, 2, -1}) {
    OnnxModel m;
    m.input("x", {3, 3, 3});
    EXPECT_EQ(fused(m, {slice(m, "x", axis, 0), slice(m, "x", axis, -1), slice(m, "x", axis, 1)}),
              "ReduceSum Relu");
  }
}

// Slices of slices, as adaptive pools have them: rows, then columns of each window.
TEST(FuseSliceSums, AlongTwoAxes) {
  OnnxModel m;
  m.input("x", {2, 4, 3, 5, 2});
  std::vector<std::string> terms;
  for (int64_t row = 0; row < 3; ++row) {
    const std::string rows = slice(m, "x", 2, row);
    for (int64_t column = 0; column < 2; ++column) terms.push_back(slice(m, rows, 3, column));
  }
  EXPECT_EQ(fused(m, terms), "ReduceSum Relu");
}

TEST(FuseSliceSums, SumsOfSomethingElseStayAroundIt) {
  OnnxModel m;
  m.input("x", {2, 3}).input("z", {3});
  EXPECT_EQ(fused(m, {"z", slice(m, "x", 0, 0), slice(m, "x", 0, 1)}), "Gather Gather Add Add Relu");
  OnnxModel inside;
  inside.input("x", {2, 3}).input("z", {3});
  EXPECT_EQ(fused(inside, {slice(inside, "x", 0, 0), slice(inside, "x", 0, 1), "z"}), "ReduceSum Add Relu");
}

TEST(FuseSliceSums, MissingAndRepeatedSlicesStay) {
  OnnxModel missing;
  missing.input("x", {3, 4});
  EXPECT_EQ(fused(missing, {slice(missing, "x", 0, 0), slice(missing, "x", 0, 1)}), "Gather Gather Add Relu");
  OnnxModel repeated;
  repeated.input("x", {2, 4});
  const std::string first = slice(repeated, "x", 0, 0);
  EXPECT_EQ(fused(repeated, {first, first}), "Gather Add Relu");
  OnnxModel others;
  others.input("x", {2, 2}).input("z", {2, 2});
  EXPECT_EQ(fused(others, {slice(others, "x", 0, 0), slice(others, "z", 0, 1)}), "Gather Gather Add Relu");
  OnnxModel mixed;
  mixed.input("x", {2, 2});
  EXPECT_EQ(fused(mixed, {slice(mixed, "x", 0, 0), slice(mixed, "x", 1, 1)}), "Gather Gather Add Relu");
}

TEST(FuseSliceSums, AScalarIndexIsNoRow) {
  OnnxModel m;
  m.input("x", {2, 4}).initializer("row", HostTensor::i64({1}, std::vector<int64_t>{0}));
  m.node("Gather", {"x", "row"}, {"kept"}, attributes({{"axis", int64_t{0}}}));
  EXPECT_EQ(fused(m, {"kept", slice(m, "x", 0, 1)}), "Gather Gather Add Relu");
}

}  // namespace
}  // namespace vellum::test
