// Means over windows that differ in size.
#include <gtest/gtest.h>

#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace adaptive_pool_test {

void check_pool(Shape x, int64_t height, int64_t width) {
  OperatorCase test{.type = "AdaptiveAveragePool", .inputs = {random_tensor(std::move(x), 5)}};
  test.attributes.set("height", height);
  test.attributes.set("width", width);
  check_operator(test);
}

// Windows of several sizes, of one, larger results than inputs, one window.
TEST(AdaptiveAveragePool, SizesOfWindows) {
  check_pool({1, 6, 20, 20}, 7, 7);
  check_pool({2, 5, 9, 13}, 4, 7);
  check_pool({1, 8, 12, 8}, 3, 4);
  check_pool({1, 3, 5, 3}, 7, 7);
  check_pool({3, 4, 7, 6}, 1, 1);
  check_pool({1, 9, 1, 11}, 2, 3);
}

TEST(AdaptiveAveragePool, EverySizeOfAnAxis) {
  for (int64_t size = 1; size <= 12; ++size)
    for (int64_t outputs = 1; outputs <= 8; outputs += 2) check_pool({1, 2, size, 13 - size}, outputs, 3);
}

}  // namespace adaptive_pool_test
}  // namespace vellum::test
