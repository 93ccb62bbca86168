// Convolutions and matrix products whose operands are in shared memory (conv_block.comp): on NVIDIA's GPUs.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "caps/vendors.hpp"
#include "graph/operators/conv/conv.hpp"
#include "kernels/conv_case.hpp"
#include "kernels/gpu_named.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace conv_block_test {

DeviceCaps nvidia_gpu() {
  DeviceCaps caps = gpu_named("NVIDIA H200");
  caps.vendor_id = kNvidia;
  caps.cooperative_matrices.clear();
  return caps;
}

void check_all(const OperatorCase& test, StorageChoice storage = StorageChoice::buffer,
               Precision precision = Precision::fp32) {
  EXPECT_EQ(check_candidates(
                test, {.precision = precision, .storage = storage, .only = "block ", .caps = nvidia_gpu()})
                .empty(),
            false);
}

// Pixels and channels that are no multiples of a block.
TEST(ConvBlock, PointwiseConvolutionsInEveryStorage) {
  for (const StorageChoice storage : {StorageChoice::buffer, StorageChoice::image2d, StorageChoice::image3d})
    check_all(conv({2, 37, 7, 13}, {70, 37, 1, 1}), storage);
  check_all(conv({1, 130, 5, 7}, {66, 130, 1, 1}), StorageChoice::buffer, Precision::fp16);
}

TEST(ConvBlock, Windows) {
  check_all(conv({1, 35, 11, 14}, {21, 35, 3, 3}, window(1, 1, 1)));
  check_all(conv({2, 40, 11, 14}, {33, 40, 3, 3}, window(2, 1, 1)), StorageChoice::image2d);
  check_all(conv({1, 33, 13, 10}, {24, 33, 3, 3}, window(1, 2, 2)), StorageChoice::buffer, Precision::fp16);
}

// Steps that have channels of several taps, and of taps after the last one.
TEST(ConvBlock, FewChannelsInWindows) {
  check_all(conv({1, 3, 17, 19}, {20, 3, 7, 7}, window(2, 1, 3)));
  check_all(conv({2, 3, 16, 24}, {36, 3, 8, 8}, window(8, 1, 0)), StorageChoice::image2d);
  check_all(conv({1, 6, 9, 11}, {10, 6, 3, 5}, window(1, 1, 1)), StorageChoice::buffer, Precision::fp16);
}

TEST(ConvBlock, ProductsResidualsAndScales) {
  check_all(gemm(45, 70, 39));
  const OperatorCase test = conv({2, 37, 6, 7}, {22, 37, 1, 1});
  check_all(with_residual(test, {2, 22, 6, 7}));
  check_all(with_scale(test, {2, 37, 1, 1}));
}

std::string shader_on(const DeviceCaps& caps, const OperatorCase& test) {
  for (const Task& task : lower(single_node_graph(test), caps, {.storage = StorageChoice::buffer}).tasks)
    if (task.dispatch && task.dispatch->op == "Conv") return task.dispatch->shader;
  return "";
}

TEST(ConvBlock, AreTakenForLargeProductsWithoutCooperativeMatrices) {
  const OperatorCase large = conv({1, 768, 14, 14}, {3072, 768, 1, 1}),
                     small = conv({1, 64, 14, 14}, {96, 64, 1, 1});
  EXPECT_EQ(shader_on(nvidia_gpu(), large), "conv_block");
  EXPECT_NE(shader_on(nvidia_gpu(), small), "conv_block");
  DeviceCaps other = nvidia_gpu();
  other.vendor_id = kAmd;
  EXPECT_NE(shader_on(other, large), "conv_block") << "where nothing was measured";
}

// The second product of a transformer's block: measured, 123 us with split-K, whose cost is half of that without, and 90 us
// in blocks.
TEST(ConvBlock, AreComparedWithSplitKByTime) {
  DeviceCaps caps = nvidia_gpu();
  caps.max_shared_memory_bytes = 48 << 10;
  caps.max_workgroup_invocations = 1024;
  caps.max_workgroup_size = {1024, 1024, 64};
  EXPECT_EQ(shader_on(caps, conv({1, 3072, 1, 197}, {768, 3072, 1, 1})), "conv_block");
}

}  // namespace conv_block_test
}  // namespace vellum::test
