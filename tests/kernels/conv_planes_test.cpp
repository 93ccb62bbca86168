// Convolutions that read planes, against their host references.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/gpu_named.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace conv_planes_test {

OperatorCase first_layer(const Shape& x, int64_t filters, int64_t kernel, int64_t stride) {
  OperatorCase test;
  test.type = "Conv";
  const int64_t pad = kernel / 2;
  test.attributes.set("strides", std::vector<int64_t>{stride, stride});
  test.attributes.set("pads", std::vector<int64_t>{pad, pad, pad, pad});
  test.inputs = {random_tensor(x, 1), random_tensor({filters, x[1], kernel, kernel}, 2),
                 random_tensor({filters}, 3)};
  test.constants = {1, 2};
  return test;
}

TEST(ConvPlanes, OfOneToThreeChannels) {
  for (const int64_t channels : {1, 2, 3})
    for (const int64_t kernel : {3, 5})
      check_operator(first_layer({2, channels, 9, 13}, 10, kernel, 2), gpu_named("NAVI31"));
  check_operator(first_layer({1, 3, 20, 19}, 8, 7, 2), gpu_named("NAVI31"));
  check_operator(first_layer({1, 3, 8, 8}, 5, 3, 1), gpu_named("RTX 3090"));
  for (const char* name : kAdrenos)
    for (const int64_t kernel : {3, 7})
      check_operator(first_layer({1, 3, 22, 21}, 10, kernel, 2), adreno_named(name));
}

// The kernel reads the input as it is, and no conversion is left.
TEST(ConvPlanes, AreNotConverted) {
  const auto shaders = [](const OperatorCase& test, const DeviceCaps& caps) {
    std::vector<std::string> names;
    for (const Task& task : lower(single_node_graph(test), caps, {}).tasks)
      names.push_back(task.dispatch->shader);
    return names;
  };
  const auto converts = [&](const OperatorCase& test, const DeviceCaps& caps) {
    return std::ranges::count(shaders(test, caps), "to_channels4") > 0;
  };
  EXPECT_FALSE(converts(first_layer({1, 3, 20, 19}, 8, 3, 2), gpu_named("NAVI31")));
  EXPECT_TRUE(converts(first_layer({1, 4, 20, 19}, 8, 3, 2), gpu_named("NAVI31")));
  DeviceCaps cpu = test_context()->caps();
  cpu.type = DeviceType::cpu;
  EXPECT_TRUE(converts(first_layer({1, 3, 20, 19}, 8, 3, 2), cpu));
}

}  // namespace conv_planes_test
}  // namespace vellum::test
