// Operators that move, repeat or pick elements.
#include <gtest/gtest.h>

#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/pad.hpp"
#include "graph/operators/movement/slice.hpp"
#include "run_operator.hpp"

namespace vellum::testing {
namespace {

TEST(Reshape, CopiesAndInfersDimensions) {
  const HostTensor x = counting({2, 3, 4});
  EXPECT_EQ(run({"Reshape"}, {x, ints({2}, {0, -1})}).shape(), (Shape{2, 12}));
  EXPECT_EQ(run({"Reshape"}, {x, ints({1}, {-1})}).shape(), (Shape{24}));
  EXPECT_EQ(run({"Reshape"}, {counting({1}), ints({0}, {})}).shape(), Shape{});
  EXPECT_EQ(run({"Reshape", 14, {{"allowzero", int64_t{1}}}}, {counting({0, 3}), ints({2}, {3, 0})}).shape(),
            (Shape{3, 0}));
}

TEST(Reshape, RefusesWhatDoesNotFit) {
  const HostTensor x = counting({2, 3});
  expect_refused({"Reshape"}, {x, ints({2}, {-1, -1})}, "two dimensions of -1");
  expect_refused({"Reshape"}, {x, ints({1}, {-2})}, "holds -2");
  expect_refused({"Reshape"}, {x, ints({2}, {4, -1})}, "leaves nothing whole");
  expect_refused({"Reshape"}, {x, ints({1}, {5})}, "cannot become 5");
  expect_refused({"Reshape"}, {x, ints({3}, {1, 1, 0})}, "copies dimension 2");
  expect_refused({"Reshape"}, {x, ints({3}, {INT64_MAX, INT64_MAX, 2})}, "too many", ErrorCode::unsupported);
}

TEST(Reshape, RefusesAShapeThatIsNotKnown) {
  const auto op = make({"Reshape"}, {counting({2}), ints({1}, {2})});
  const OperatorInput inputs[] = {{true, {DType::f32, {2}}, nullptr}, {true, {DType::i64, {1}}, nullptr}};
  expect_error(ErrorCode::unsupported, "'shape'", [&] { op->infer(inputs); });
}

TEST(ReshapeFamily, DropsAndAddsDimensions) {
  EXPECT_EQ(run({"Flatten", 11, {{"axis", int64_t{2}}}}, {counting({2, 3, 4})}).shape(), (Shape{6, 4}));
  EXPECT_EQ(run({"Flatten", 11, {{"axis", int64_t{0}}}}, {counting({2, 3})}).shape(), (Shape{1, 6}));
  EXPECT_EQ(run({"Squeeze", 11, {{"axes", Ints{0, -1}}}}, {counting({1, 2, 1})}).shape(), (Shape{2}));
  EXPECT_EQ(run({"Squeeze", 13}, {counting({1, 2, 1}), ints({1}, {2})}).shape(), (Shape{1, 2}));
  EXPECT_EQ(run({"Squeeze", 13}, {counting({1, 2, 1})}).shape(), (Shape{2}));
  EXPECT_EQ(run({"Unsqueeze", 11, {{"axes", Ints{3, 0}}}}, {counting({2, 3})}).shape(), (Shape{1, 2, 3, 1}));
  EXPECT_EQ(run({"Unsqueeze", 13}, {counting({2}), ints({1}, {-1})}).shape(), (Shape{2, 1}));
  expect_refused({"Squeeze", 11, {{"axes", Ints{1}}}}, {counting({1, 2})}, "is not 1");
  expect_refused({"Unsqueeze", 11, {{"axes", Ints{0, 0}}}}, {counting({2})}, "named twice");
  expect_refused({"Unsqueeze", 13}, {counting({2})}, "axes are missing");
  expect_refused({"Squeeze", 13, {{"axes", Ints{0}}}}, {counting({1})}, "'axes' of Squeeze",
                 ErrorCode::unsupported);
}

TEST(Dropout, TrainingAtARatioOfZeroDropsNothing) {
  const OptionalTensors inputs{counting({3}), floats({}, {0}), bools({}, {1})};
  expect_floats(run_all(*make({"Dropout", 12}, inputs), inputs)[0], {3}, {0, 1, 2});
  expect_refused({"Dropout", 12}, {counting({1}), floats({}, {0.5f}), bools({}, {1})}, "training_mode",
                 ErrorCode::unsupported);
}

TEST(Dropout, LetsEverythingThrough) {
  const OptionalTensors inputs{counting({3})};
  const auto outputs = run_all(*make({"Dropout", 7, {{"ratio", 0.5f}}}, inputs), inputs);
  expect_floats(outputs[0], {3}, {0, 1, 2});
  const auto masked = run_all(*make({"Dropout", 12, {}, 2}, inputs), inputs);
  expect_ints(masked[1], {3}, {1, 1, 1});
  expect_refused({"Dropout", 12}, {counting({1}), std::nullopt, bools({}, {1})}, "training_mode",
                 ErrorCode::unsupported);
}

TEST(Transpose, PermutesAnyType) {
  expect_floats(run({"Transpose"}, {counting({2, 3})}), {3, 2}, {0, 3, 1, 4, 2, 5});
  expect_ints(run({"Transpose", 13, {{"perm", Ints{1, 0, 2}}}}, {ints({2, 2, 1}, {1, 2, 3, 4})}), {2, 2, 1},
              {1, 3, 2, 4});
  expect_refused({"Transpose", 13, {{"perm", Ints{0, 0}}}}, {counting({2, 2})}, "not a permutation");
  expect_refused({"Transpose", 13, {{"perm", Ints{0, 2}}}}, {counting({2, 2})}, "not a permutation");
  expect_refused({"Transpose", 13, {{"perm", Ints{0}}}}, {counting({2, 2})}, "has 1 axes");
}

TEST(Concat, JoinsAlongAnAxis) {
  const HostTensor a = counting({2, 1}), b = floats({2, 2}, {5, 6, 7, 8});
  expect_floats(run({"Concat", 13, {{"axis", int64_t{-1}}}}, {a, b}), {2, 3}, {0, 5, 6, 1, 7, 8});
  expect_floats(run({"Concat", 13, {{"axis", int64_t{0}}}}, {counting({0, 1}), a}), {2, 1}, {0, 1});
  expect_refused({"Concat", 13, {{"axis", int64_t{0}}}}, {a, b}, "does not join");
  expect_refused({"Concat", 13, {{"axis", int64_t{2}}}}, {a}, "out of range");
  expect_refused({"Concat"}, {a, b}, "'axis' is missing");
}

TEST(Split, CutsByAttributeInputOrCount) {
  const HostTensor x = counting({5});
  const auto split = [](const Spec& spec, const OptionalTensors& inputs) {
    return run_all(*make(spec, inputs), inputs);
  };
  const auto by_attribute = split({"Split", 11, {{"split", Ints{2, 3}}}, 2}, {x});
  expect_floats(by_attribute[0], {2}, {0, 1});
  expect_floats(by_attribute[1], {3}, {2, 3, 4});
  expect_floats(split({"Split", 13, {}, 2}, {x, ints({2}, {4, 1})})[1], {1}, {4});
  expect_floats(split({"Split", 13, {}, 2}, {counting({4})})[1], {2}, {2, 3});
  expect_floats(split({"Split", 18, {{"num_outputs", int64_t{2}}}, 2}, {x})[1], {2}, {3, 4});
  expect_refused({"Split", 11, {{"split", Ints{2, 2}}}, 2}, {x}, "does not cover 5");
  expect_refused({"Split", 11, {{"split", Ints{-1, 6}}}, 2}, {x}, "holds -1");
  expect_refused({"Split", 13, {}, 2}, {x}, "equal parts");
}

TEST(Slice, TakesRangesOfEitherDirection) {
  const HostTensor x = counting({5});
  const auto slice = [&](int64_t start, int64_t end, int64_t step) {
    return run({"Slice"}, {x, ints({1}, {start}), ints({1}, {end}), ints({1}, {0}), ints({1}, {step})});
  };
  expect_floats(slice(1, 4, 2), {2}, {1, 3});
  expect_floats(slice(-2, INT64_MAX, 1), {2}, {3, 4});
  expect_floats(slice(-1, INT64_MIN, -2), {3}, {4, 2, 0});
  expect_floats(slice(3, -6, -1), {4}, {3, 2, 1, 0});
  expect_floats(slice(9, 2, 1), {0}, {});
  expect_floats(slice(0, 5, INT64_MAX), {1}, {0});
  expect_floats(run({"Slice", 9, {{"starts", Ints{0, 1}}, {"ends", Ints{1, 3}}}}, {counting({2, 3})}), {1, 2},
                {1, 2});
  expect_floats(
      run({"Slice", 9, {{"starts", Ints{1}}, {"ends", Ints{2}}, {"axes", Ints{-1}}}}, {counting({2, 2})}),
      {2, 1}, {1, 3});
}

TEST(Slice, RefusesWhatDoesNotFit) {
  const HostTensor x = counting({5}), one = ints({1}, {1});
  expect_refused({"Slice"}, {x, one, one, ints({1}, {0}), ints({1}, {0})}, "a step is 0");
  expect_refused({"Slice"}, {x, one, one, ints({1}, {1})}, "out of range");
  expect_refused({"Slice"}, {x, one, ints({2}, {1, 1})}, "differ in length");
  expect_refused({"Slice"}, {x, one}, "missing");
}

TEST(Pad, FillsReflectsRepeatsAndWraps) {
  const HostTensor x = counting({3}), amounts = ints({2}, {2, 1});
  const auto pad = [&](const char* mode) {
    return run({"Pad", 19, {{"mode", std::string(mode)}}}, {x, amounts});
  };
  expect_floats(run({"Pad", 11}, {x, amounts, floats({}, {9})}), {6}, {9, 9, 0, 1, 2, 9});
  expect_floats(pad("constant"), {6}, {0, 0, 0, 1, 2, 0});
  expect_floats(pad("reflect"), {6}, {2, 1, 0, 1, 2, 1});
  expect_floats(pad("edge"), {6}, {0, 0, 0, 1, 2, 2});
  expect_floats(pad("wrap"), {6}, {1, 2, 0, 1, 2, 0});
  expect_floats(run({"Pad", 2, {{"pads", Ints{0, 1, 0, 0}}, {"value", 7.0f}}}, {counting({1, 2})}), {1, 3},
                {7, 0, 1});
}

TEST(Pad, CropsWhereNegativeAndTakesAxes) {
  expect_floats(run({"Pad", 11}, {counting({4}), ints({2}, {-1, -2})}), {1}, {1});
  expect_floats(run({"Pad", 18}, {counting({1, 2}), ints({2}, {0, 1}), std::nullopt, ints({1}, {-1})}),
                {1, 3}, {0, 1, 0});
  expect_ints(run({"Pad", 11}, {ints({1}, {5}), ints({2}, {1, 0}), ints({}, {-1})}), {2}, {-1, 5});
}

TEST(Pad, RefusesWhatDoesNotFit) {
  expect_refused({"Pad", 11}, {counting({2}), ints({3}, {0, 0, 0})}, "pads has 3 values");
  expect_refused({"Pad", 11}, {counting({2}), ints({2}, {-2, -1})}, "crop more");
  expect_refused({"Pad", 11, {{"mode", std::string("mirror")}}}, {counting({2}), ints({2}, {0, 0})},
                 "mirror");
  expect_refused({"Pad", 11}, {counting({2}), ints({2}, {INT64_MAX, 1})}, "overflows",
                 ErrorCode::unsupported);
  expect_refused({"Pad", 11}, {counting({2}), ints({2}, {int64_t{1} << 40, 1})}, "2^31",
                 ErrorCode::unsupported);
  expect_refused({"Pad", 11}, {counting({2}), ints({2}, {1, 1}), ints({}, {1})}, "constant_value is");
}

TEST(PickChannels, OfOneTensorOrTwo) {
  const auto pick = [](Ints channels) {
    return Spec{"PickChannels", 1, {{"channels", std::move(channels)}}};
  };
  expect_floats(run(pick({2, 0}), {counting({2, 3, 1, 2})}), {2, 2, 1, 2}, {4, 5, 0, 1, 10, 11, 6, 7});
  expect_floats(run(pick({3, 1, 2}), {counting({1, 2, 2}), counting({1, 2, 2})}), {1, 3, 2},
                {2, 3, 2, 3, 0, 1});
  expect_refused(pick({3}), {counting({1, 3, 2})}, "channel 3 of 3");
  expect_refused(pick({-1}), {counting({1, 3, 2})}, "channel -1 of 3");
  expect_refused(pick({0}), {counting({1, 3, 2}), counting({1, 3, 3})}, "does not join");
  expect_refused(pick({0}), {counting({3})}, "two to four dimensions");
}

TEST(AsStrided, CopiesAViewOfItsInput) {
  const auto view = [](int64_t offset, Ints shape, Ints strides) {
    return Spec{
        "AsStrided", 1, {{"offset", offset}, {"shape", std::move(shape)}, {"strides", std::move(strides)}}};
  };
  expect_floats(run(view(1, {2, 3}, {1, 4}), {counting({3, 4})}), {2, 3}, {1, 5, 9, 2, 6, 10});
  expect_floats(run(view(5, {2, 2}, {0, -5}), {counting({6})}), {2, 2}, {5, 0, 5, 0});
  expect_floats(run(view(2, {}, {}), {counting({6})}), {}, {2});
  EXPECT_EQ(run(view(9, {0, 2}, {1, 1}), {counting({6})}).shape(), (Shape{0, 2}));
  expect_refused(view(1, {2, 3}, {1, 5}), {counting({3, 4})}, "leaves its tensor");
  expect_refused(view(-1, {2}, {1}), {counting({4})}, "leaves its tensor");
  expect_refused(view(1, {3}, {-1}), {counting({4})}, "leaves its tensor");
  expect_refused(view(INT64_MAX, {2}, {INT64_MAX}), {counting({4})}, "leaves its tensor");
  expect_refused(view(0, {2, 2}, {INT64_MIN, INT64_MAX}), {counting({4})}, "leaves its tensor");
  expect_refused(view(0, {2}, {1, 1}), {counting({4})}, "1 sizes and 2 strides");
  expect_refused(view(0, {-2}, {1}), {counting({4})}, "negative size");
}

TEST(StackFrames, PutsThePicturesOfAWindowSideBySide) {
  const auto stack = [](int64_t frames, int64_t output, int64_t kernel, int64_t stride, int64_t padding) {
    return Spec{"StackFrames",
                1,
                {{"frames", frames},
                 {"output_frames", output},
                 {"kernel", kernel},
                 {"stride", stride},
                 {"padding", padding}}};
  };
  // Three channels of a picture take a whole slice.
  expect_floats(run(stack(2, 2, 2, 1, 1), {counting({2, 3, 1, 1})}), {2, 8, 1, 1},
                {0, 0, 0, 0, 0, 1, 2, 0, 0, 1, 2, 0, 3, 4, 5, 0});
  // Pictures of two images, every second one of each.
  expect_floats(run(stack(3, 2, 1, 2, 0), {counting({6, 1, 1, 2})}), {4, 1, 1, 2},
                {0, 1, 4, 5, 6, 7, 10, 11});
  expect_floats(run(stack(2, 2, 1, 1, -1), {counting({2, 1, 1, 1})}), {2, 1, 1, 1}, {1, 0});
  expect_refused(stack(2, 1, 1, 1, 0), {counting({3, 1, 1, 1})}, "no multiple of 2");
  expect_refused(stack(0, 1, 1, 1, 0), {counting({3, 1, 1, 1})}, "below 1");
  expect_refused(stack(1, 1, 1, 1, 0), {counting({3, 1, 1})}, "four dimensions");
}

TEST(DepthToSpace, ReordersBlocks) {
  const HostTensor x = counting({1, 8, 1, 1});
  expect_floats(run({"DepthToSpace", 11, {{"blocksize", int64_t{2}}}}, {x}), {1, 2, 2, 2},
                {0, 2, 4, 6, 1, 3, 5, 7});
  expect_floats(run({"DepthToSpace", 11, {{"blocksize", int64_t{2}}, {"mode", std::string("CRD")}}}, {x}),
                {1, 2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  expect_floats(run({"SpaceToDepth", 11, {{"blocksize", int64_t{2}}}}, {counting({1, 1, 2, 4})}),
                {1, 4, 1, 2}, {0, 2, 1, 3, 4, 6, 5, 7});
  const HostTensor two = counting({1, 2, 2, 2});
  expect_floats(run({"SpaceToDepth", 28, {{"blocksize", int64_t{2}}}}, {two}), {1, 8, 1, 1},
                {0, 4, 1, 5, 2, 6, 3, 7});
  expect_floats(run({"SpaceToDepth", 28, {{"blocksize", int64_t{2}}, {"mode", std::string("CRD")}}}, {two}),
                {1, 8, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 7});
  expect_refused({"DepthToSpace", 11, {{"blocksize", int64_t{2}}}}, {counting({1, 6, 1, 1})},
                 "do not fill blocks");
  expect_refused({"DepthToSpace"}, {x}, "blocksize is 0");
  expect_refused({"SpaceToDepth", 11, {{"blocksize", int64_t{2}}}}, {counting({1, 1, 3, 2})}, "blocks of 2");
}

TEST(Repeating, ExpandsAndTiles) {
  expect_floats(run({"Expand"}, {counting({2, 1}), ints({3}, {2, 1, 2})}), {2, 2, 2},
                {0, 0, 1, 1, 0, 0, 1, 1});
  expect_floats(run({"Tile"}, {counting({1, 2}), ints({2}, {2, 2})}), {2, 4}, {0, 1, 0, 1, 0, 1, 0, 1});
  expect_refused({"Tile"}, {counting({2}), ints({1}, {-1})}, "holds -1");
  expect_refused({"Tile"}, {counting({2}), ints({1}, {INT64_MAX})}, "overflows", ErrorCode::unsupported);
  expect_refused({"Expand"}, {counting({2}), ints({1}, {int64_t{1} << 62})}, "do not broadcast",
                 ErrorCode::invalid_argument);
  expect_refused({"Expand"}, {counting({1}), ints({1}, {int64_t{1} << 40})}, "2^31", ErrorCode::unsupported);
}

TEST(Gather, PicksSlices) {
  const HostTensor x = counting({2, 3});
  expect_floats(run({"Gather"}, {x, ints({}, {-1})}), {3}, {3, 4, 5});
  expect_floats(run({"Gather", 13, {{"axis", int64_t{1}}}}, {x, ints({1, 2}, {2, 0})}), {2, 1, 2},
                {2, 0, 5, 3});
  expect_refused({"Gather"}, {x, ints({1}, {2})}, "index 2 is out of range", ErrorCode::invalid_argument);
  expect_refused({"Gather"}, {x, counting({1})}, "indices are");
}

TEST(ShapeArithmetic, MakesShapesAndConstants) {
  expect_ints(run({"Shape"}, {counting({2, 3, 4})}), {3}, {2, 3, 4});
  expect_ints(run({"Shape", 15, {{"start", int64_t{-2}}, {"end", int64_t{-1}}}}, {counting({2, 3, 4})}), {1},
              {3});
  expect_ints(run({"Size"}, {counting({2, 3})}), {}, {6});
  expect_floats(run({"ConstantOfShape"}, {ints({2}, {1, 2})}), {1, 2}, {0, 0});
  expect_ints(run({"ConstantOfShape", 9, {{"value", ints({1}, {7})}}}, {ints({1}, {2})}), {2}, {7, 7});
  expect_ints(run({"Range"}, {ints({}, {5}), ints({}, {-1}), ints({}, {-2})}), {3}, {5, 3, 1});
  expect_floats(run({"Range"}, {floats({}, {0}), floats({}, {1}), floats({}, {0.4f})}), {3}, {0, 0.4f, 0.8f});
  expect_floats(run({"EyeLike", 9, {{"k", int64_t{1}}}}, {counting({2, 3})}), {2, 3}, {0, 1, 0, 0, 0, 1});
  expect_ints(run({"Constant", 13, {{"value_ints", Ints{4, 5}}}}, {}), {2}, {4, 5});
  expect_floats(run({"Constant", 13, {{"value_float", 2.5f}}}, {}), {}, {2.5f});
  expect_ints(run({"Cast", 13, {{"to", int64_t{7}}}}, {floats({1}, {2.9f})}), {1}, {2});
}

TEST(ShapeArithmetic, RefusesWhatDoesNotFit) {
  expect_refused({"Range"}, {ints({}, {0}), ints({}, {1}), ints({}, {0})}, "a range of",
                 ErrorCode::unsupported);
  expect_refused({"Range"}, {floats({}, {0}), floats({}, {1}), floats({}, {1e-20f})}, "a range of",
                 ErrorCode::unsupported);
  expect_refused({"ConstantOfShape"}, {ints({1}, {-1})}, "holds -1");
  expect_refused({"ConstantOfShape"}, {ints({2}, {1 << 20, 1 << 20})}, "2^31", ErrorCode::unsupported);
  expect_refused({"Cast", 13, {{"to", int64_t{8}}}}, {counting({1})}, "type 8", ErrorCode::unsupported);
  expect_refused({"Cast"}, {counting({1})}, "'to' is missing");
}

}  // namespace
}  // namespace vellum::testing
