// Attention whose tokens are the pixels of pictures in channels4, with channels before tokens.
#include <gtest/gtest.h>

#include "graph/operators/matmul/attention.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace attention_pictures_test {

// Two images of pictures with two heads. Each operand begins after `first` other channels.
struct Pictures {
  int64_t channels = 8, heads = 2, kv_heads = 2;
  int64_t q_height = 3, q_width = 5, kv_height = 3, kv_width = 5;
  std::array<int64_t, 3> first{0, 0, 4};
  bool one_tensor = false, tokens_first = false;
};

OperatorCase pictures(const Pictures& p, std::optional<HostTensor> mask = {}) {
  OperatorCase test{.type = "Attention", .inputs = {}};
  auto op = std::make_shared<Attention>();
  std::array<StridedView, 3> views;
  for (size_t i = 0; i < 3; ++i) {
    const int64_t height = i == 0 ? p.q_height : p.kv_height, width = i == 0 ? p.q_width : p.kv_width;
    const int64_t heads = i == 0 ? p.heads : p.kv_heads, pixels = height * width;
    const int64_t first =
        p.one_tensor ? p.channels * (i == 0 ? 0 : p.heads + (i == 2 ? p.kv_heads : 0)) : p.first[i];
    const int64_t all = p.one_tensor ? p.channels * (p.heads + 2 * p.kv_heads) : first + heads * p.channels;
    if (p.one_tensor && i > 0) {
      test.inputs.push_back(std::nullopt);
      test.same_as[i] = 0;
    } else {
      test.inputs.push_back(random_tensor({2, all, height, width}, static_cast<uint32_t>(i)));
    }
    views[i] = {.offset = first * pixels,
                .shape = {2, heads, pixels, p.channels},
                .strides = {all * pixels, p.channels * pixels, 1, pixels}};
  }
  test.sweep.arithmetic_fp16 = !mask;
  if (mask) test.inputs.push_back(std::move(mask));
  op->views = views;
  op->tokens_first = p.tokens_first;
  const int64_t queries = p.q_height * p.q_width;
  op->output =
      p.tokens_first ? Shape{2 * queries, p.heads * p.channels} : Shape{2, p.heads, queries, p.channels};
  test.op = op;
  return test;
}

// Returns the dispatches beside attention itself and the conversion of its result.
size_t gathers(const OperatorCase& test, StorageChoice storage) {
  const Program program = lower(single_node_graph(test), test_context()->caps(),
                                {.storage = storage, .inputs_to_channels4 = true});
  return static_cast<size_t>(std::ranges::count_if(program.tasks, [](const Task& task) {
    return task.dispatch && task.dispatch->shader == "attention_pack";
  }));
}

TEST(AttentionOfPictures, ReadInPlace) {
  for (const Pictures& p : {Pictures{}, Pictures{.kv_height = 2, .kv_width = 2}, Pictures{.kv_heads = 1},
                            Pictures{.one_tensor = true}, Pictures{.tokens_first = true}}) {
    const OperatorCase test = pictures(p);
    for (const StorageChoice storage : {StorageChoice::buffer, StorageChoice::image2d})
      EXPECT_EQ(gathers(test, storage), 0u);
    check_operator(test);
  }
}

TEST(AttentionOfPictures, ReadInPlaceWithAMask) {
  check_operator(pictures({.q_height = 1, .kv_height = 2}, random_tensor({2, 1, 1, 10}, 4)));
}

// Heads that are no whole slices, and operands that begin within one.
TEST(AttentionOfPictures, OtherHeadsAreGathered) {
  for (const Pictures& p : {Pictures{.channels = 6}, Pictures{.first = {0, 2, 0}}}) {
    const OperatorCase test = pictures(p);
    EXPECT_GT(gathers(test, StorageChoice::buffer), 0u);
    check_operator(test);
  }
}

}  // namespace attention_pictures_test
}  // namespace vellum::test
