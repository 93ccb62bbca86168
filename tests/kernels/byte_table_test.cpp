// Functions of quantised tensors by a table, in every layout and storage.
#include <gtest/gtest.h>

#include <numeric>

#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace byte_table_test {

// Entry i is i squared, halved; x has all 256 numbers, and more.
TEST(ByteTable, LooksUpEveryNumber) {
  constexpr float kStep = 0.25f;
  constexpr int64_t kFirst = -100;
  std::vector<float> entries, x;
  for (int i = 0; i < 256; ++i) entries.push_back(static_cast<float>(i * i) / 2);
  for (int i = 0; i < 280; ++i) x.push_back(kStep * static_cast<float>(kFirst - 12 + i));
  for (const Shape& shape : {Shape{2, 10, 2, 7}, Shape{280}, Shape{7, 40}}) {
    OperatorCase test{.type = "ByteTable",
                      .inputs = {HostTensor::f32(shape, x), HostTensor::f32({256}, entries)}};
    test.constants = {1};
    test.attributes.set("x_step", kStep);
    test.attributes.set("first", kFirst);
    test.attributes.set("y_step", 0.5f);
    test.attributes.set("y_most", int64_t{65535});
    check_operator(test);
  }
}

}  // namespace byte_table_test
}  // namespace vellum::test
