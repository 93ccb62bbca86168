// Convolutions whose groups are not of whole slices of four channels.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "kernels/framework/lowering.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace conv_groups_test {

struct Window {
  int64_t kernel = 3, stride = 1, pad = 1, dilation = 1;
};

// `groups` groups of `inputs` channels and `outputs` filters each.
OperatorCase grouped(int64_t groups, int64_t inputs, int64_t outputs, const Window& window = {},
                     Shape plane = {1, 5, 3}) {
  OperatorCase test;
  test.type = "Conv";
  test.inputs = {random_tensor({plane[0], groups * inputs, plane[1], plane[2]}, 1),
                 random_tensor({groups * outputs, inputs, window.kernel, window.kernel}, 2, -0.5f, 0.5f),
                 random_tensor({groups * outputs}, 3)};
  test.constants = {1, 2};
  test.attributes.set("group", groups);
  test.attributes.set("strides", Attributes::Ints(2, window.stride));
  test.attributes.set("pads", Attributes::Ints(4, window.pad));
  test.attributes.set("dilations", Attributes::Ints(2, window.dilation));
  test.sweep.linear_inputs = false;
  return test;
}

bool by_groups(const std::string& candidate) { return candidate.starts_with("groups "); }

std::vector<std::string> candidates_of(const OperatorCase& test, const DeviceCaps& caps = {}) {
  std::vector<Choice> choices;
  lower(single_node_graph(test), caps, {.choices = &choices});
  return candidate_names(choices.at(0));
}

TEST(ConvGroups, OfFewChannels) {
  OperatorCase test = grouped(4, 3, 3);
  test.activation = {.kind = ActivationKind::silu};
  check_operator(test);
  check_operator(grouped(5, 2, 2, {3, 2, 1, 1}, {2, 5, 9}));  // the last block has one group
  check_operator(grouped(3, 3, 2, {5, 1, 2, 1}));
  check_operator(grouped(2, 6, 2, {3, 1, 2, 2}));
}

TEST(ConvGroups, OfFewerChannelsThanABlockWants) {
  check_operator(grouped(3, 5, 1, {1, 1, 0, 1}));
  check_operator(grouped(2, 7, 3, {3, 3, 1, 1}));
}

TEST(ConvGroups, WithEveryTile) {
  const Shape wide{1, 5, 9};
  for (const OperatorCase& test :
       {grouped(4, 3, 3, {}, wide), grouped(3, 2, 6, {3, 2, 1, 1}, {1, 7, 18}), grouped(2, 1, 3, {}, wide)}) {
    const auto ran = check_candidates(test, {.only = "groups"});
    EXPECT_GE(std::ranges::count_if(ran, by_groups), 2) << "tiles of eight and of four pixels";
  }
}

// Channels of a texel that belong to another group have no effect, infinite or not.
TEST(ConvGroups, InfinityStaysInItsGroup) {
  OperatorCase test = grouped(4, 2, 2, {3, 1, 1, 1}, {1, 3, 4});
  test.inputs[0]->mutable_as<float>()[12] = std::numeric_limits<float>::infinity();  // last of its group
  test.sweep.fp16 = false;
  check_operator(test);
}

// Too many channels for a block: windows as wide as each block of outputs needs.
TEST(ConvGroups, OfManyChannels) {
  const OperatorCase test = grouped(3, 18, 22, {3, 1, 1, 1}, {1, 3, 5});
  EXPECT_EQ(std::ranges::count_if(candidates_of(test), by_groups), 0);
  check_operator(test);
}

TEST(ConvGroups, OfWholeSlicesHaveTheDirectKernel) {
  EXPECT_EQ(std::ranges::count_if(candidates_of(grouped(4, 8, 4)), by_groups), 0);
  EXPECT_EQ(std::ranges::count_if(candidates_of(grouped(1, 3, 5)), by_groups), 0) << "no groups at all";
  EXPECT_TRUE(by_groups(candidates_of(grouped(4, 3, 3)).front()));
  EXPECT_TRUE(by_groups(candidates_of(grouped(4, 1, 4)).front()));
}

}  // namespace conv_groups_test
}  // namespace vellum::test
