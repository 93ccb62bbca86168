// Sums of products in general: Einsum and convolutions of volumes.
#include <gtest/gtest.h>

#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace contract_test {

using Ints = Attributes::Ints;

void check_einsum(const char* equation, const std::vector<Shape>& shapes) {
  OperatorCase test{.type = "Einsum", .inputs = {}};
  uint32_t seed = 1;
  for (const Shape& shape : shapes) test.inputs.push_back(random_tensor(shape, seed++));
  test.attributes.set("equation", std::string(equation));
  check_operator(test);
}

TEST(Einsum, SumsDiagonalsAndTranspositions) {
  check_einsum("ijk->kij", {{3, 4, 5}});
  check_einsum("...ij->...i", {{2, 3, 4, 5}});
  check_einsum("bii->bi", {{3, 5, 5}});
  check_einsum("ii", {{5, 5}});
}

TEST(Einsum, Products) {
  check_einsum("bhid,bhjd->bhij", {{2, 3, 5, 4}, {2, 3, 7, 4}});
  check_einsum("ij,k->k", {{3, 4}, {5}});
  check_einsum("...ij,...jk->...ik", {{2, 1, 3, 4}, {3, 4, 5}});
  check_einsum("ij,ij->", {{3, 7}, {3, 7}});
}

// More terms than an invocation sums.
TEST(Einsum, LongSums) {
  check_einsum("ij,ij->", {{7, 9500}, {7, 9500}});
  check_einsum("i,ij->j", {{65600}, {65600, 5}});
  check_einsum("ij->", {{2, 40000}});
}

TEST(ConvOfVolumes, WithBiasActivationAndGroups) {
  OperatorCase test{.type = "Conv",
                    .inputs = {random_tensor({2, 4, 5, 6, 7}, 1), random_tensor({6, 2, 3, 2, 3}, 2),
                               random_tensor({6}, 3)}};
  test.constants = {1, 2};
  test.sweep.channels4_inputs = false;
  test.attributes.set("group", int64_t{2});
  test.attributes.set("pads", Ints{1, 0, 2, 1, 1, 0});
  test.attributes.set("strides", Ints{2, 1, 2});
  check_operator(test);
  test.activation = {ActivationKind::relu};
  check_operator(test);
  test.activation = {};
  test.constants = {};
  test.inputs.pop_back();
  check_operator(test);
}

}  // namespace contract_test
}  // namespace vellum::test
