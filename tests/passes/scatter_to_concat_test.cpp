// Chains of ScatterND that write rows of one tensor.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "passes/pass_harness.hpp"

namespace vellum::test {
namespace {

struct RowWrite {
  Shape indices;  // the last dimension: elements of an index tuple
  std::vector<int64_t> index;
  Shape updates;
};

HostTensor counted_rows(const Shape& shape, float first) {
  std::vector<float> values(static_cast<size_t>(element_count(shape)));
  std::iota(values.begin(), values.end(), first);
  return HostTensor::f32(shape, values);
}

struct ScatterWrites {
  Shape data{1, 4, 3};
  std::vector<RowWrite> writes;
  bool computed_data = false, reads_between = false;
  std::string reduction = "none";
};

// y = data, after each of the writes. Input u<i> holds the updates of write i.
OnnxModel scatter_model(const ScatterWrites& scatters) {
  OnnxModel model;
  if (scatters.computed_data)
    model.input("x", scatters.data).node("Neg", {"x"}, {"y0"});
  else
    model.initializer("y0", counted_rows(scatters.data, 100));
  for (size_t i = 0; i < scatters.writes.size(); ++i) {
    const RowWrite& write = scatters.writes[i];
    const std::string n = std::to_string(i), next = "y" + std::to_string(i + 1);
    model.input("u" + n, write.updates).initializer("i" + n, HostTensor::i64(write.indices, write.index));
    model.node("ScatterND", {"y" + n, "i" + n, "u" + n}, {next},
               attributes({{"reduction", scatters.reduction}}));
  }
  model.node("Abs", {"y" + std::to_string(scatters.writes.size())}, {"y"}).output("y");
  if (scatters.reads_between) model.output("y1");
  return model;
}

std::string after_scatters(const ScatterWrites& scatters) {
  return types(after(scatter_to_concat, scatter_model(scatters)));
}

const RowWrite kFirstRow{{1, 1, 2}, {0, 0}, {1, 1, 3}}, kSecondRow{{1, 1, 2}, {0, 1}, {1, 1, 3}},
    kLastRows{{2, 2}, {0, -2, 0, 3}, {2, 3}};

TEST(ScatterToConcat, AllRows) {
  const std::string concat = "Reshape Reshape Reshape Concat Reshape Abs";
  EXPECT_EQ(after_scatters({.writes = {kFirstRow, kSecondRow, kLastRows}}), concat);
  EXPECT_EQ(after_scatters({.writes = {kLastRows, kFirstRow, kSecondRow}}), concat);
}

TEST(ScatterToConcat, KeepsRowsOfTheData) {
  EXPECT_EQ(after_scatters({.writes = {kFirstRow, kLastRows}}),
            "Reshape Reshape Slice Reshape Concat Reshape Abs");
  EXPECT_EQ(after_scatters({.writes = {kFirstRow, kLastRows}, .computed_data = true}),
            "Neg Reshape Reshape Slice Reshape Concat Reshape Abs");
}

TEST(ScatterToConcat, LaterWritesCount) {
  const RowWrite middle{{2, 2}, {0, 1, 0, 2}, {2, 3}};
  EXPECT_EQ(after_scatters({.writes = {kFirstRow, kSecondRow, kLastRows, middle}}),
            "Reshape Reshape Reshape Slice Concat Reshape Abs");
}

TEST(ScatterToConcat, RowsOfAnyLength) {
  EXPECT_EQ(after_scatters({.data = {4, 3},
                            .writes = {{{2, 1}, {0, 1}, {2, 3}}, {{1}, {3}, {3}}, {{1, 1}, {2}, {1, 3}}}}),
            "Reshape Reshape Reshape Concat Reshape Abs");
  EXPECT_EQ(
      after_scatters({.data = {2, 2}, .writes = {{{3, 2}, {0, 1, 1, 0, 1, 1}, {3}}, {{1, 2}, {0, 0}, {1}}}}),
      "Reshape Reshape Concat Reshape Abs");
}

TEST(ScatterToConcat, OthersStay) {
  EXPECT_EQ(after_scatters({.writes = {kFirstRow}}), "ScatterND Abs") << "one writes as few rows by itself";
  EXPECT_EQ(after_scatters({.writes = {kFirstRow, kSecondRow}, .reads_between = true}),
            "ScatterND ScatterND Abs");
  EXPECT_EQ(after_scatters({.writes = {kFirstRow, kFirstRow}, .reduction = "add"}),
            "ScatterND ScatterND Abs");
  EXPECT_EQ(after_scatters({.writes = {kFirstRow, {{2, 2}, {0, 1, 0, 3}, {2, 3}}}}),
            "ScatterND ScatterND Abs")
      << "rows that are not consecutive";
  EXPECT_EQ(
      after_scatters({.data = {2, 4, 3}, .writes = {{{1, 2}, {0, 0}, {1, 3}}, {{1, 1}, {1}, {1, 4, 3}}}}),
      "ScatterND ScatterND Abs")
      << "tuples of different lengths";
}

// An input may be a state, in which a ScatterND writes in place.
TEST(ScatterToConcat, StatesStay) {
  OnnxModel model;
  model.input("x", {4, 2})
      .input("u", {1, 2})
      .initializer("i", HostTensor::i64({1, 1}, std::vector<int64_t>{1}));
  model.initializer("j", HostTensor::i64({1, 1}, std::vector<int64_t>{2}));
  model.node("ScatterND", {"x", "i", "u"}, {"a"}).node("ScatterND", {"a", "j", "u"}, {"y"}).output("y");
  EXPECT_EQ(types(after(scatter_to_concat, model)), "ScatterND ScatterND");
}

}  // namespace
}  // namespace vellum::test
