// Adaptive pools as torch decomposes them.
#include "graph/operators/reduction/adaptive_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "passes/pass_harness.hpp"
#include "support/small_tensors.hpp"

namespace vellum::test {
namespace {

using Ints = Attributes::Ints;

// Changes that a test makes to torch's decomposition.
struct Change {
  bool mask_rows = true, mask_columns = true;
  int64_t row_shift = 0;  // of the rows that are gathered
  float zero = 0.0f, size_factor = 1.0f;
  Ints axes{3, 5};
};

// x (N, C, H, W) as y (N, C, height, width).
OnnxModel decomposed(const Shape& x, int64_t height, int64_t width, const Change& change = {}) {
  const int64_t rows = largest_adaptive_window(x[2], height), columns = largest_adaptive_window(x[3], width);
  std::vector<int64_t> positions;
  std::vector<int64_t> beyond_rows(static_cast<size_t>(height * rows)),
      beyond_columns(static_cast<size_t>(width * columns));
  std::vector<float> sizes;
  for (int64_t i = 0; i < height; ++i)
    for (int64_t a = 0; a < rows; ++a)
      for (int64_t j = 0; j < width; ++j)
        for (int64_t b = 0; b < columns; ++b) {
          const AdaptiveWindow row = adaptive_window(i, x[2], height),
                               column = adaptive_window(j, x[3], width);
          positions.push_back(std::clamp<int64_t>(row.begin + a + change.row_shift, 0, x[2] - 1));
          positions.push_back(std::min(column.begin + b, x[3] - 1));
          beyond_rows[static_cast<size_t>(i * rows + a)] = row.begin + a >= row.end;
          beyond_columns[static_cast<size_t>(j * columns + b)] = column.begin + b >= column.end;
        }
  for (int64_t i = 0; i < height; ++i)
    for (int64_t j = 0; j < width; ++j) {
      const AdaptiveWindow row = adaptive_window(i, x[2], height), column = adaptive_window(j, x[3], width);
      sizes.push_back(change.size_factor *
                      static_cast<float>((row.end - row.begin) * (column.end - column.begin)));
    }
  OnnxModel m;
  m.input("x", x).initializer("zero", scalar(change.zero));
  m.initializer("at", HostTensor::i64({height, rows, width, columns, 2}, positions));
  m.initializer("rows", HostTensor::from<int64_t>(DType::boolean, {height, rows, 1, 1}, beyond_rows));
  m.initializer("columns", HostTensor::from<int64_t>(DType::boolean, {width, columns}, beyond_columns));
  m.initializer("sizes", HostTensor::f32({height, width}, sizes)).initializer("axes", ints(change.axes));
  m.node("Transpose", {"x"}, {"hwnc"}, perm({2, 3, 0, 1}));
  m.node("GatherND", {"hwnc", "at"}, {"gathered"});
  m.node("Transpose", {"gathered"}, {"windows"}, perm({4, 5, 0, 1, 2, 3}));
  std::string last = "windows";
  if (change.mask_rows) m.node("Where", {"rows", "zero", last}, {"in_rows"}), last = "in_rows";
  if (change.mask_columns) m.node("Where", {"columns", "zero", last}, {"in_columns"}), last = "in_columns";
  m.node("ReduceSum", {last, "axes"}, {"sum"}, attributes({{"keepdims", int64_t{0}}}));
  m.node("Div", {"sum", "sizes"}, {"y"}).output("y");
  return m;
}

bool is_fused(const OnnxModel& model) {
  const std::string left = types(after(fuse_adaptive_pool, model));
  if (left == "Transpose Transpose AdaptiveAveragePool") return true;
  EXPECT_EQ(left.find("Adaptive"), std::string::npos) << left;
  return false;
}

TEST(FuseAdaptivePool, WindowsOfSeveralSizes) {
  EXPECT_TRUE(is_fused(decomposed({1, 3, 20, 20}, 7, 7)));
  EXPECT_TRUE(is_fused(decomposed({2, 5, 9, 13}, 4, 7)));
  EXPECT_TRUE(is_fused(decomposed({1, 2, 5, 3}, 7, 7)));
}

TEST(FuseAdaptivePool, WindowsOfOneSizeAlongAnAxisNeedNoMask) {
  Change change;
  change.mask_rows = false;
  EXPECT_TRUE(is_fused(decomposed({1, 2, 8, 13}, 4, 7, change)));
  EXPECT_FALSE(is_fused(decomposed({1, 2, 11, 13}, 4, 7, change))) << "elements beyond the window count";
}

TEST(FuseAdaptivePool, OtherComputationsStay) {
  const auto fused = [](const auto& set) {
    Change change;
    set(change);
    return is_fused(decomposed({1, 4, 9, 9}, 4, 4, change));
  };
  EXPECT_FALSE(fused([](Change& c) { c.row_shift = 1; }));
  EXPECT_FALSE(fused([](Change& c) { c.row_shift = -1; }));
  EXPECT_FALSE(fused([](Change& c) { c.zero = 1.0f; }));
  EXPECT_FALSE(fused([](Change& c) { c.size_factor = 2.0f; }));
  Change sums_of_windows;  // of 3 x 3 elements, as many as there are windows
  sums_of_windows.axes = {2, 4};
  EXPECT_FALSE(is_fused(decomposed({1, 4, 7, 7}, 3, 3, sums_of_windows)));
}

TEST(FuseAdaptivePool, WindowsThatOthersReadStayAsWell) {
  OnnxModel m = decomposed({1, 3, 9, 9}, 4, 4);
  m.output("sum");
  EXPECT_NE(types(after(fuse_adaptive_pool, m)).find("ReduceSum"), std::string::npos);
}

}  // namespace
}  // namespace vellum::test
