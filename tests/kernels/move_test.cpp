// Operators that move elements: Pad, Concat, Split, Slice, Transpose, the reshape family, channels, blocks,
// Gather, Expand, Tile.
#include <gtest/gtest.h>

#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace move_test {

HostTensor ints(std::vector<int64_t> values) {
  const auto count = static_cast<int64_t>(values.size());
  return HostTensor::i64({count}, values);
}

HostTensor counted(Shape shape) {
  HostTensor tensor(DType::i64, std::move(shape));
  int64_t next = -3;
  for (int64_t& value : tensor.mutable_as<int64_t>()) value = next++;
  return tensor;
}

OperatorCase pad_case(Shape shape, std::vector<int64_t> pads, std::string mode, float value = 0.0f) {
  OperatorCase test{.type = "Pad",
                    .inputs = {random_tensor(std::move(shape), 1), ints(std::move(pads)),
                               HostTensor::f32({}, std::array{value})},
                    .constants = {1, 2},
                    .opset = 19};
  test.attributes.set("mode", std::move(mode));
  return test;
}

TEST(Pad, Constant) {
  for (const float value : {0.0f, 1.5f}) {
    check_operator(pad_case({2, 5, 3, 7}, {0, 0, 1, 2, 0, 0, 3, 1}, "constant", value));
    check_operator(pad_case({1, 5, 3, 2}, {0, 0, 0, 0, 0, 7, 0, 0}, "constant", value));  // channels behind
    check_operator(pad_case({1, 4, 3, 2}, {0, 0, 0, 0, 0, 4, 0, 0}, "constant", value));
    check_operator(
        pad_case({1, 5, 3, 2}, {0, 4, 0, 0, 0, 1, 0, 0}, "constant", value));  // whole texels before
    check_operator(
        pad_case({1, 5, 3, 2}, {0, 3, 1, 0, 0, 2, 0, 1}, "constant", value));  // part of a texel before
    check_operator(pad_case({2, 3, 2, 3}, {1, 0, 0, 0, 2, 0, 0, 0}, "constant", value));      // images
    check_operator(pad_case({2, 5, 6, 7}, {0, -1, -2, 1, 0, -2, 1, -3}, "constant", value));  // crops
  }
  check_operator(pad_case({2, 5, 3}, {0, 1, 2, 0, 2, 1}, "constant", -1.0f));
  check_operator(pad_case({3, 5}, {1, 2, 0, 1}, "constant"));
  check_operator(pad_case({2, 1, 3, 2, 2}, {0, 1, 0, 0, 1, 1, 0, 2, 0, 0}, "constant", 2.0f));
}

TEST(Pad, ContinuesTheTensor) {
  for (const char* mode : {"reflect", "edge", "wrap"}) {
    check_operator(pad_case({2, 5, 5, 4}, {0, 0, 2, 3, 0, 0, 4, 1}, mode));
    check_operator(pad_case({1, 5, 3, 2}, {0, 2, 1, 0, 0, 3, 0, 1}, mode));
    check_operator(pad_case({3, 4}, {1, 2, 2, 3}, mode));
  }
  check_operator(pad_case({1, 1, 1, 3}, {0, 0, 2, 0, 0, 0, 1, 0}, "edge"));
}

// Rows shorter than the four elements of an invocation, dimensions that merge, padding of several periods,
// and dimensions of one element.
TEST(Pad, ContinuesTensorsOfEveryForm) {
  for (const char* mode : {"reflect", "edge", "wrap", "constant"}) {
    check_operator(pad_case({3, 2}, {0, 1, 0, 0}, mode));
    check_operator(pad_case({7, 1, 2}, {0, 0, 1, 0, 0, 1}, mode));
    check_operator(pad_case({2, 3, 4, 5, 3}, {0, 0, 2, 0, 0, 0, 0, 1, 0, 0}, mode));
    check_operator(pad_case({2, 3, 4, 5, 3}, {0, 0, 0, 3, 1, 0, 0, 0, 2, 2}, mode));
    check_operator(pad_case({3, 2, 4, 3}, {1, 0, 0, 2, 1, 0, 0, 1}, mode));
    check_operator(pad_case({2, 3, 5}, {0, 0, 0, 0, 0, 0}, mode));
    check_operator(pad_case({1, 2, 9, 11}, {0, 0, 8, 10, 0, 0, 8, 10}, mode));
    check_operator(pad_case({2, 3, 6, 5}, {0, 0, -1, 2, 0, 0, -2, 1}, mode));
  }
  for (const char* mode : {"edge", "wrap"}) check_operator(pad_case({2, 3}, {1, 7, 0, 8}, mode));
}

TEST(Pad, Integers) {
  for (const char* mode : {"reflect", "edge", "wrap"}) {
    OperatorCase test{.type = "Pad",
                      .inputs = {counted({2, 3, 4}), ints({0, 1, 2, 0, 2, 3})},
                      .constants = {1},
                      .opset = 19};
    test.attributes.set("mode", std::string(mode));
    check_operator(test);
  }
  check_operator(
      {.type = "Pad",
       .inputs = {counted({2, 3}), ints({1, 0, 0, 2}), HostTensor::i64({}, std::array<int64_t, 1>{-9})},
       .constants = {1, 2}});
}

OperatorCase concat_case(std::vector<Shape> shapes, int64_t axis) {
  OperatorCase test{.type = "Concat", .inputs = {}};
  uint32_t seed = 2;
  for (Shape& shape : shapes) test.inputs.push_back(random_tensor(std::move(shape), seed++));
  test.attributes.set("axis", axis);
  return test;
}

TEST(Concat, ChannelsThatDoNotFillTexels) {
  check_operator(concat_case({{2, 4, 3, 5}, {2, 8, 3, 5}}, 1));
  check_operator(concat_case({{2, 5, 3, 5}, {2, 2, 3, 5}}, 1));
  check_operator(concat_case({{1, 1, 2, 3}, {1, 1, 2, 3}, {1, 1, 2, 3}, {1, 1, 2, 3}, {1, 1, 2, 3}}, 1));
  check_operator(concat_case({{1, 3, 2, 3}, {1, 6, 2, 3}, {1, 4, 2, 3}, {1, 2, 2, 3}}, -3));
  check_operator(concat_case({{3, 3}, {3, 6}}, 1));
}

// More than one dispatch joins, whole texels or not.
TEST(Concat, OfManyParts) {
  for (const int64_t axis : {0, 1, 2, 3})
    check_operator(concat_case(std::vector<Shape>(11, Shape{1, 4, 2, 3}), axis));
  std::vector<Shape> uneven;
  for (int64_t i = 0; i < 19; ++i) uneven.push_back({2, 1 + i * i % 7, 2, 3});
  check_operator(concat_case(uneven, 1));
}

TEST(Concat, EveryAxis) {
  check_operator(concat_case({{2, 5, 3, 4}, {1, 5, 3, 4}}, 0));
  check_operator(concat_case({{2, 5, 3, 4}, {2, 5, 1, 4}}, 2));
  check_operator(concat_case({{2, 5, 3, 4}, {2, 5, 3, 7}}, 3));
  check_operator(concat_case({{2, 5, 3}, {2, 5, 2}}, 2));
  check_operator(concat_case({{3}, {2}, {5}}, 0));
  check_operator(concat_case({{2, 1, 3, 2, 2}, {2, 2, 3, 2, 2}}, 1));
  check_operator(concat_case({{7, 3}, {7, 2}, {7, 4}, {7, 1}, {7, 5}}, 1));
  check_operator(concat_case({{3, 2, 4}, {3, 5, 4}, {3, 1, 4}, {3, 3, 4}}, 1));
}

// Columns of linear tensors, and rows of several of them, are joined by as many dispatches as the device's
// storage buffers require.
TEST(Concat, LinearTensorsAreJoinedAtOnce) {
  for (const int64_t columns : {3, 4})
    for (const auto& [buffers, dispatches] : {std::pair{4u, 2u}, {16u, 1u}}) {
      const OperatorCase test = concat_case(std::vector<Shape>(5, Shape{2, 3, columns}), 2);
      const DeviceCaps caps{.max_storage_buffers_per_stage = buffers};
      const Program program = lower(single_node_graph(test), caps, {.storage = StorageChoice::buffer});
      EXPECT_EQ(program.tasks.size(), dispatches) << columns << " columns, " << buffers << " buffers";
    }
}

TEST(Concat, OneInputAndConstants) {
  check_operator(concat_case({{1, 3, 2, 2}}, 1));
  OperatorCase test = concat_case({{1, 3, 2, 2}, {1, 2, 2, 2}}, 1);
  test.constants = {0};
  check_operator(test);
}

TEST(Concat, Integers) {
  OperatorCase test{.type = "Concat", .inputs = {counted({2, 3}), counted({2, 2})}};
  test.attributes.set("axis", int64_t{1});
  check_operator(test);
}

TEST(Split, EveryAxis) {
  const std::pair<int64_t, std::vector<int64_t>> splits[] = {
      {1, {4, 3}}, {1, {2, 1, 4}}, {0, {1, 1}}, {2, {1, 2}}, {3, {2, 3}}};
  for (const auto& [axis, sizes] : splits) {
    OperatorCase test{
        .type = "Split", .inputs = {random_tensor({2, 7, 3, 5}, 3), ints(sizes)}, .constants = {1}};
    test.attributes.set("axis", axis);
    test.output_count = sizes.size();
    check_operator(test);
  }
  OperatorCase equal{.type = "Split", .inputs = {random_tensor({2, 2, 6, 1, 3}, 4)}};
  equal.attributes.set("axis", int64_t{2});
  equal.output_count = 3;
  check_operator(equal);
}

OperatorCase slice_case(Shape shape, std::vector<int64_t> starts, std::vector<int64_t> ends,
                        std::vector<int64_t> axes, std::vector<int64_t> steps) {
  return {.type = "Slice",
          .inputs = {random_tensor(std::move(shape), 5), ints(std::move(starts)), ints(std::move(ends)),
                     ints(std::move(axes)), ints(std::move(steps))},
          .constants = {1, 2, 3, 4}};
}

TEST(Slice, StartsAndSteps) {
  check_operator(slice_case({2, 9, 5, 7}, {4}, {8}, {1}, {1}));
  check_operator(slice_case({2, 9, 5, 7}, {3}, {9}, {1}, {1}));
  check_operator(slice_case({2, 9, 5, 7}, {1, 2}, {5, 7}, {2, 3}, {2, 3}));
  check_operator(slice_case({2, 9, 5, 7}, {-1, -1}, {-100, -5}, {2, 3}, {-1, -2}));
  check_operator(slice_case({2, 9, 5, 7}, {8}, {-100}, {1}, {-2}));
  check_operator(slice_case({2, 9, 5, 7}, {1}, {2}, {0}, {1}));
  check_operator(slice_case({6, 5}, {1, 0}, {6, 5}, {0, 1}, {2, 2}));
  check_operator(slice_case({2, 3, 4, 2, 3}, {1, 0}, {3, 2}, {2, 4}, {1, 1}));
}

TEST(Slice, Integers) {
  check_operator({.type = "Slice",
                  .inputs = {counted({9}), ints({2}), ints({8}), ints({0}), ints({3})},
                  .constants = {1, 2, 3, 4}});
}

TEST(Transpose, EveryPermutationOfFour) {
  Attributes::Ints perm{0, 1, 2, 3};
  do {
    OperatorCase test{.type = "Transpose", .inputs = {random_tensor({2, 5, 3, 7}, 6)}};
    test.attributes.set("perm", perm);
    check_operator(test);
  } while (std::next_permutation(perm.begin(), perm.end()));
}

TEST(Transpose, ChannelsLastInWholeTexels) {
  for (const Shape& shape : {Shape{2, 8, 3, 5}, Shape{1, 16, 1, 4}}) {
    OperatorCase test{.type = "Transpose", .inputs = {random_tensor(shape, 7)}};
    test.attributes.set("perm", Attributes::Ints{0, 2, 3, 1});
    check_operator(test);
  }
}

TEST(Transpose, OtherRanks) {
  const std::pair<Shape, Attributes::Ints> cases[] = {{{3}, {0}},
                                                      {{3, 5}, {1, 0}},
                                                      {{2, 5, 3}, {0, 2, 1}},
                                                      {{2, 5, 3}, {2, 1, 0}},
                                                      {{1, 2, 4, 3, 2}, {0, 2, 1, 3, 4}},
                                                      {{2, 3, 2, 1, 3, 2}, {5, 1, 3, 0, 4, 2}},
                                                      {{1, 2, 2, 2, 3, 4}, {0, 1, 4, 2, 5, 3}}};
  for (const auto& [shape, perm] : cases) {
    OperatorCase test{.type = "Transpose", .inputs = {random_tensor(shape, 8)}};
    test.attributes.set("perm", perm);
    check_operator(test);
  }
  check_operator({.type = "Transpose", .inputs = {counted({3, 4})}});
}

TEST(Reshape, KeepsTheOrderOfElements) {
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{-1}, {2, 105}, {5, 2, 21}, {1, 7, 3, 10}, {2, 5, 3, 7, 1}})
    check_operator(
        {.type = "Reshape", .inputs = {random_tensor({2, 5, 3, 7}, 9), ints(shape)}, .constants = {1}});
  check_operator({.type = "Flatten", .inputs = {random_tensor({2, 5, 1, 1}, 10)}});
  check_operator(
      {.type = "Squeeze", .inputs = {random_tensor({2, 5, 1, 1}, 11), ints({2, 3})}, .constants = {1}});
  check_operator(
      {.type = "Unsqueeze", .inputs = {random_tensor({2, 5}, 12), ints({2, 3})}, .constants = {1}});
  check_operator({.type = "Identity", .inputs = {random_tensor({2, 5, 3, 3}, 13)}});
  check_operator({.type = "OptionalGetElement", .inputs = {random_tensor({2, 5}, 14)}, .opset = 18});
  check_operator({.type = "Dropout", .inputs = {random_tensor({2, 5, 3, 3}, 14)}});
}

OperatorCase pick_case(std::vector<Shape> shapes, std::vector<int64_t> channels) {
  OperatorCase test{.type = "PickChannels", .inputs = {}};
  uint32_t seed = 12;
  for (Shape& shape : shapes) test.inputs.push_back(random_tensor(std::move(shape), seed++));
  test.attributes.set("channels", std::move(channels));
  return test;
}

TEST(PickChannels, OfOneTensorOrTwo) {
  check_operator(pick_case({{2, 6, 3, 5}}, {0, 3, 1, 4, 2, 5}));
  check_operator(pick_case({{1, 9, 2, 3}}, {8, 8, 0}));
  check_operator(pick_case({{2, 5, 3, 2}, {2, 6, 3, 2}}, {4, 5, 0, 10, 3}));
  check_operator(pick_case({{1, 1, 1, 7}, {1, 4, 1, 7}}, {4, 1, 0, 2, 3, 4, 1, 0}));
  check_operator(pick_case({{3, 5}, {3, 2}}, {6, 0, 5}));
  check_operator(pick_case({{2, 4, 3}}, {1}));
}

TEST(StackFrames, WindowsOfPictures) {
  struct Case {
    Shape shape;
    int64_t frames, output_frames, kernel, stride, dilation, padding;
  };
  for (const Case& c : {Case{{6, 8, 3, 5}, 6, 6, 3, 1, 1, 1}, Case{{6, 5, 3, 2}, 3, 2, 3, 2, 1, 1},
                        Case{{8, 3, 2, 2}, 4, 4, 2, 1, 3, 2}, Case{{4, 6, 1, 7}, 4, 2, 1, 2, 1, 0},
                        Case{{4, 4, 1, 1}, 4, 4, 1, 1, 1, -2}}) {
    OperatorCase test{.type = "StackFrames", .inputs = {random_tensor(c.shape, 13)}};
    test.attributes.set("frames", c.frames);
    test.attributes.set("output_frames", c.output_frames);
    test.attributes.set("kernel", c.kernel);
    test.attributes.set("stride", c.stride);
    test.attributes.set("dilation", c.dilation);
    test.attributes.set("padding", c.padding);
    check_operator(test);
  }
}

TEST(DepthToSpace, BothOrders) {
  for (const char* mode : {"DCR", "CRD"}) {
    for (const Shape& shape : {Shape{2, 12, 3, 2}, Shape{1, 16, 2, 3}, Shape{1, 4, 1, 1}}) {
      OperatorCase test{.type = "DepthToSpace", .inputs = {random_tensor(shape, 14)}};
      test.attributes.set("blocksize", int64_t{2});
      test.attributes.set("mode", std::string(mode));
      check_operator(test);
    }
  }
}

TEST(SpaceToDepth, IsItsInverse) {
  for (const Shape& shape : {Shape{2, 3, 6, 9}, Shape{1, 4, 3, 3}}) {
    for (const char* mode : {"DCR", "CRD"}) {
      OperatorCase test{.type = "SpaceToDepth", .inputs = {random_tensor(shape, 15)}};
      test.attributes.set("blocksize", int64_t{3});
      test.attributes.set("mode", std::string(mode));
      check_operator(test);
    }
  }
}

// Copied in strides, without indices.
TEST(Gather, ConstantIndicesAtEvenDistances) {
  const std::vector<std::vector<int64_t>> lists{{1}, {0, 2, 4}, {-1, -2, -3, -4}, {2, 2}, {1, 2, 3}};
  for (const std::vector<int64_t>& list : lists)
    for (const int64_t axis : {0, 1, -1}) {
      OperatorCase test{.type = "Gather",
                        .inputs = {random_tensor({5, 6, 8}, 16), HostTensor::i64({std::ssize(list)}, list)},
                        .constants = {1}};
      test.attributes.set("axis", axis);
      check_operator(test);
    }
}

TEST(Gather, IndicesFromBothEnds) {
  const HostTensor indices = HostTensor::i64({2, 2}, std::array<int64_t, 4>{0, -1, 2, 1});
  for (const int64_t axis : {0, 1, 2, 3}) {
    OperatorCase test{
        .type = "Gather", .inputs = {random_tensor({3, 5, 4, 3}, 16), indices}, .constants = {1}};
    test.attributes.set("axis", axis);
    check_operator(test);
  }
  check_operator({.type = "Gather", .inputs = {random_tensor({3, 5}, 17), indices}});
  for (const Shape& shape : {Shape{5, 8}, Shape{3, 1, 12}}) {  // rows of whole texels
    check_operator({.type = "Gather", .inputs = {random_tensor(shape, 18), indices}, .constants = {1}});
    check_operator({.type = "Gather", .inputs = {counted(shape), indices}});
  }
  check_operator({.type = "Gather",
                  .inputs = {counted({4, 3}), HostTensor::i64({}, std::array<int64_t, 1>{2})},
                  .constants = {1}});
}

TEST(Expand, RepeatsAlongDimensionsOfOne) {
  check_operator(
      {.type = "Expand", .inputs = {random_tensor({1, 5, 1, 1}, 18), ints({2, 5, 3, 2})}, .constants = {1}});
  check_operator(
      {.type = "Expand", .inputs = {random_tensor({3, 1}, 19), ints({2, 1, 3, 4})}, .constants = {1}});
  check_operator({.type = "Expand", .inputs = {random_tensor({}, 20), ints({3, 3})}, .constants = {1}});
}

TEST(Tile, RepeatsTheWhole) {
  check_operator(
      {.type = "Tile", .inputs = {random_tensor({2, 3, 1, 2}, 21), ints({1, 2, 3, 2})}, .constants = {1}});
  check_operator({.type = "Tile",
                  .inputs = {random_tensor({2, 2, 1, 2, 2, 1}, 22), ints({1, 2, 3, 1, 2, 2})},
                  .constants = {1}});
  check_operator({.type = "Tile", .inputs = {counted({3}), ints({3})}, .constants = {1}});
}

TEST(Cast, BetweenFloatsAndIntegers) {
  OperatorCase to_int{.type = "Cast", .inputs = {random_tensor({2, 5, 3, 2}, 23, -9.0f, 9.0f)}};
  to_int.attributes.set("to", int64_t{7});  // INT64
  check_operator(to_int);
  to_int.attributes.set("to", int64_t{9});  // BOOL
  check_operator(to_int);
  OperatorCase to_float{.type = "Cast", .inputs = {counted({3, 5})}};
  to_float.attributes.set("to", int64_t{1});  // FLOAT
  check_operator(to_float);
  to_float.attributes.set("to", int64_t{9});
  check_operator(to_float);
  check_operator({.type = "CastLike",
                  .inputs = {random_tensor({2, 5, 3, 2}, 24, -9.0f, 9.0f), counted({1})},
                  .constants = {1},
                  .opset = 15});
}

}  // namespace move_test
}  // namespace vellum::test
