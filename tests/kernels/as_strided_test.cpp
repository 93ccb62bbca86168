// Copies of strided views, from and to every layout.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace as_strided_test {

using Ints = std::vector<int64_t>;

OperatorCase view_case(Shape x, int64_t offset, Ints shape, Ints strides) {
  OperatorCase test{.type = "AsStrided", .inputs = {random_tensor(std::move(x), 3)}};
  test.attributes.set("offset", offset);
  test.attributes.set("shape", std::move(shape));
  test.attributes.set("strides", std::move(strides));
  return test;
}

// Rows of a matrix as channels of pictures, with and without whole texels.
TEST(AsStrided, PicturesOfTokens) {
  check_operator(view_case({37, 24}, 5 * 24 + 8, {1, 8, 5, 6}, {0, 1, 6 * 24, 24}));
  check_operator(view_case({37, 24}, 5 * 24 + 5, {1, 7, 5, 6}, {0, 1, 6 * 24, 24}));
  check_operator(view_case({37, 22}, 4 * 22, {1, 16, 5, 6}, {0, 1, 6 * 22, 22}));
  check_operator(view_case({60, 12}, 0, {2, 12, 5, 6}, {30 * 12, 1, 6 * 12, 12}));
  check_operator(view_case({1, 37, 24}, 24, {1, 24, 6, 6}, {0, 1, 6 * 24, 24}));
}

// Heads, of matrices and of pictures.
TEST(AsStrided, Heads) {
  check_operator(view_case({37, 24}, 1, {1, 3, 30, 7}, {0, 7, 24, 1}));
  check_operator(view_case({37, 24}, 24, {1, 3, 30, 8}, {0, 8, 24, 1}));
  check_operator(view_case({37, 24}, 0, {3, 1, 4, 37, 2}, {8, 0, 2, 24, 1}));
  check_operator(view_case({1, 12, 5, 6}, 0, {1, 2, 30, 6}, {0, 6 * 30, 1, 30}));
  check_operator(view_case({1, 12, 5, 6}, 6, {1, 24, 12}, {0, 1, 30}));
  check_operator(view_case({2, 8, 5, 6}, 120, {2, 30, 4}, {240, 1, 30}));
  check_operator(view_case({2, 8, 5, 6}, 3, {2, 30, 4}, {240, 1, 30}));  // beyond the end of a plane
}

TEST(AsStrided, RandomViews) {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto upto = [&](int64_t most) {
      return 1 + static_cast<int64_t>(random() % static_cast<uint32_t>(most));
    };
    Shape x(static_cast<size_t>(upto(5)));
    for (int64_t& size : x) size = upto(9);
    const int64_t count = element_count(x);
    int64_t first = 0, last = 0;
    Ints shape(static_cast<size_t>(upto(5))), strides(shape.size(), 0);
    for (size_t i = 0; i < shape.size(); ++i) {
      const int64_t room = count - 1 - (last - first);
      shape[i] = upto(8);
      if (shape[i] > 1) strides[i] = upto(room / (shape[i] - 1) + 1) - 1;
      if (upto(4) == 1) strides[i] = -strides[i];
      (strides[i] < 0 ? first : last) += (shape[i] - 1) * strides[i];
    }
    check_operator(view_case(x, -first + upto(count - (last - first)) - 1, shape, strides));
  }
}

// Four elements of y whose innermost rows are long need the positions of two of them.
TEST(AsStrided, LongRows) {
  const auto decodes_two = [](const OperatorCase& test) {
    bool found = false;
    for (const Task& task : lower(single_node_graph(test), {}, {}).tasks)
      for (const auto& [name, value] : task.dispatch->defines) found = found || name == "LONG_ROWS";
    return found;
  };
  const OperatorCase rows = view_case({7, 19}, 0, {19, 7}, {1, 19}),
                     pairs = view_case({2, 19}, 0, {19, 2}, {1, 19});
  const OperatorCase threes = view_case({3, 5}, 0, {5, 3}, {1, 5}), column = view_case({60}, 3, {19}, {3});
  EXPECT_TRUE(decodes_two(rows));
  EXPECT_TRUE(decodes_two(threes));
  EXPECT_FALSE(decodes_two(pairs));
  EXPECT_FALSE(decodes_two(column));
  for (const OperatorCase& test : {rows, pairs, threes, column}) check_operator(test);
}

// More loops than the kernel between layouts has, integers, one element.
TEST(AsStrided, OtherForms) {
  check_operator(view_case({64, 4}, 0, {2, 2, 2, 2, 2, 2, 2, 2}, {1, 4, 128, 2, 8, 64, 16, 32}));
  check_operator(view_case({64, 4}, 7, {}, {}));
  OperatorCase numbers = view_case({6, 4}, 1, {4, 5}, {1, 4});
  HostTensor counted(DType::i64, {6, 4});
  int64_t next = -3;
  for (int64_t& value : counted.mutable_as<int64_t>()) value = next++;
  numbers.inputs = {counted};
  check_operator(numbers);
}

}  // namespace as_strided_test
}  // namespace vellum::test
