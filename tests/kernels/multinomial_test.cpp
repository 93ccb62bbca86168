// Samples by the device's kernel are those of the host reference.
#include <gtest/gtest.h>

#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace multinomial_test {

OperatorCase multinomial(Shape shape, int64_t samples, float seed) {
  OperatorCase test{.type = "Multinomial", .inputs = {random_tensor(std::move(shape), 1, -4.0f, 4.0f)}};
  test.attributes.set("sample_size", samples);
  test.attributes.set("seed", seed);
  test.sweep.arithmetic_fp16 = false;
  return test;
}

TEST(Multinomial, SamplesOfTheHost) {
  check_operator(multinomial({1, 1}, 3, 1.0f));
  check_operator(multinomial({3, 7}, 50, 2.0f));
  check_operator(multinomial({2, 1001}, 5, 3.5f));
  check_operator(multinomial({1, 70000}, 1, -4.0f));  // the axis in segments
}

}  // namespace multinomial_test
}  // namespace vellum::test
