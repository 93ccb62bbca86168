// Operators that gather, scatter, select by value, scan and sample.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "run_operator.hpp"

namespace vellum::testing {
namespace {

TEST(GatherElements, PicksOneElementEach) {
  const HostTensor x = counting({2, 2});
  expect_floats(run({"GatherElements", 13, {{"axis", int64_t{1}}}}, {x, ints({2, 1}, {1, -2})}), {2, 1},
                {1, 2});
  expect_refused({"GatherElements"}, {x, ints({1, 2}, {2, 0})}, "index 2", ErrorCode::invalid_argument);
  expect_refused({"GatherElements"}, {x, ints({2}, {0, 0})}, "indices are");
  expect_refused({"GatherElements"}, {x, ints({1, 3}, {0, 0, 0})}, "indices are");
}

TEST(GatherND, FollowsIndexTuples) {
  const HostTensor x = counting({2, 2, 2});
  expect_floats(run({"GatherND"}, {x, ints({2, 2}, {0, 1, 1, -1})}), {2, 2}, {2, 3, 6, 7});
  expect_floats(run({"GatherND", 13, {{"batch_dims", int64_t{1}}}}, {x, ints({2, 1}, {1, 0})}), {2, 2},
                {2, 3, 4, 5});
  expect_refused({"GatherND"}, {x, ints({1, 4}, {0, 0, 0, 0})}, "indices are");
  expect_refused({"GatherND", 13, {{"batch_dims", int64_t{3}}}}, {x, ints({1, 1}, {0})}, "indices are");
  expect_refused({"GatherND"}, {x, ints({1, 1}, {2})}, "index 2", ErrorCode::invalid_argument);
}

TEST(Scatter, PutsAndCombines) {
  const HostTensor zeros = floats({3}, {0, 0, 0}), at = ints({2}, {2, -2}), updates = floats({2}, {5, 7});
  expect_floats(run({"ScatterElements"}, {zeros, at, updates}), {3}, {0, 7, 5});
  expect_floats(run({"ScatterElements", 16, {{"reduction", std::string("add")}}},
                    {floats({3}, {1, 1, 1}), ints({2}, {0, 0}), updates}),
                {3}, {13, 1, 1});
  expect_floats(run({"ScatterND"}, {counting({2, 2}), ints({1, 1}, {1}), floats({1, 2}, {8, 9})}), {2, 2},
                {0, 1, 8, 9});
  expect_refused({"ScatterElements"}, {zeros, ints({2}, {0, 3}), updates}, "index 3",
                 ErrorCode::invalid_argument);
  expect_refused({"ScatterElements"}, {zeros, at, floats({1}, {5})}, "updates");
  expect_refused({"ScatterND"}, {counting({2, 2}), ints({1, 1}, {1}), floats({2}, {8, 9})}, "expected 1x2");
  expect_refused({"ScatterND", 16, {{"reduction", std::string("mean")}}}, {zeros, at, updates}, "mean");
}

TEST(TopK, SortsAndPrefersTheLowerIndex) {
  const OptionalTensors inputs{floats({5}, {3, 9, 1, 9, 4}), ints({1}, {3})};
  const auto largest = run_all(*make({"TopK", 11, {}, 2}, inputs), inputs);
  expect_floats(largest[0], {3}, {9, 9, 4});
  expect_ints(largest[1], {3}, {1, 3, 4});
  const auto smallest = run_all(*make({"TopK", 11, {{"largest", int64_t{0}}}, 2}, inputs), inputs);
  expect_floats(smallest[0], {3}, {1, 3, 4});
  expect_floats(
      run({"TopK", 9, {{"k", int64_t{1}}, {"axis", int64_t{0}}}, 2}, {floats({2, 2}, {1, 4, 3, 2})}), {1, 2},
      {3, 4});
  expect_refused({"TopK", 11}, {counting({2}), ints({1}, {3})}, "K is [3]");
}

TEST(Selection, DependsOnValues) {
  expect_ints(run({"NonZero"}, {floats({2, 2}, {0, 1, 1, 0})}), {2, 2}, {0, 1, 1, 0});
  expect_floats(run({"Compress", 11, {{"axis", int64_t{0}}}}, {counting({3, 1}), bools({3}, {1, 0, 1})}),
                {2, 1}, {0, 2});
  expect_floats(run({"Compress", 11}, {counting({2, 2}), bools({3}, {0, 1, 1})}), {2}, {1, 2});
  expect_refused({"Compress", 11}, {counting({2}), bools({3}, {1, 1, 1})}, "condition is");
  expect_floats(run({"OneHot"}, {ints({3}, {1, -1, 7}), ints({}, {2}), floats({2}, {0, 5})}), {3, 2},
                {0, 5, 0, 5, 0, 0});
  expect_refused({"OneHot"}, {ints({1}, {0}), ints({}, {0}), floats({2}, {0, 1})}, "depth is [0]");
}

TEST(Unique, FindsWhatIsThereAndWhereAndHowOften) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto all = [](const Spec& spec, const HostTensor& x) { return run_all(*make(spec, {x}), {x}); };
  const HostTensor x = floats({2, 3}, {2, 1, nan, 1, nan, 2});
  auto found = all({"Unique", 11, {}, 4}, x);
  EXPECT_EQ(found[0].shape(), (Shape{3}));
  EXPECT_EQ(found[0].as<float>()[0], 1.0f);
  EXPECT_EQ(found[0].as<float>()[1], 2.0f);
  EXPECT_TRUE(std::isnan(found[0].as<float>()[2]));
  expect_ints(found[1], {3}, {1, 0, 2});
  expect_ints(found[2], {6}, {1, 0, 2, 0, 2, 1});
  expect_ints(found[3], {3}, {2, 2, 2});
  found = all({"Unique", 11, {{"sorted", int64_t{0}}}, 4}, ints({5}, {7, -1, INT64_MAX, 7, INT64_MAX - 1}));
  expect_ints(found[0], {4}, {7, -1, INT64_MAX, INT64_MAX - 1});
  expect_ints(found[2], {5}, {0, 1, 2, 0, 3});
  found = all({"Unique", 11, {{"axis", int64_t{-1}}}, 4}, floats({2, 3}, {5, 1, 5, 0, 3, 0}));
  expect_floats(found[0], {2, 2}, {1, 5, 3, 0});
  expect_ints(found[3], {2}, {1, 2});
  expect_ints(all({"Unique", 11, {}, 4}, floats({0}, {}))[2], {0}, {});
  expect_refused({"Unique", 11, {{"axis", int64_t{2}}}, 4}, {x}, "axis");
}

TEST(Selection, LeavesOpenWhatOnlyValuesTell) {
  const OperatorInput inputs[] = {{true, {DType::f32, {2, 3}}, nullptr},
                                  {true, {DType::boolean, {2}}, nullptr}};
  const auto non_zero = make({"NonZero"}, {counting({2, 3})});
  expect_error(ErrorCode::unsupported, "decides the shape", [&] { non_zero->infer({inputs, 1}); });
  EXPECT_EQ(non_zero->infer_open({inputs, 1}).at(0), (TensorType{DType::i64, {2, kUnknownDim}}));
  const auto compress =
      make({"Compress", 11, {{"axis", int64_t{1}}}}, {counting({2, 3}), bools({2}, {1, 0})});
  EXPECT_EQ(compress->infer_open(inputs).at(0), (TensorType{DType::f32, {2, kUnknownDim}}));
  const HostTensor condition = bools({2}, {1, 0});
  const OperatorInput known[] = {inputs[0], {true, condition.type(), &condition}};
  EXPECT_TRUE(compress->infer_open(known).empty());
}

TEST(Trilu, KeepsATriangle) {
  const HostTensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  expect_floats(run({"Trilu", 14}, {x}), {2, 3}, {1, 2, 3, 0, 5, 6});
  expect_floats(run({"Trilu", 14, {{"upper", int64_t{0}}}}, {x, ints({}, {-1})}), {2, 3}, {0, 0, 0, 4, 0, 0});
  expect_floats(run({"Trilu", 14}, {x, ints({}, {INT64_MAX})}), {2, 3}, Floats(6, 0.0f));
}

TEST(CumSum, RunsEitherWay) {
  const HostTensor x = floats({3}, {1, 2, 3}), axis = ints({}, {0});
  expect_floats(run({"CumSum", 14}, {x, axis}), {3}, {1, 3, 6});
  expect_floats(run({"CumSum", 14, {{"exclusive", int64_t{1}}, {"reverse", int64_t{1}}}}, {x, axis}), {3},
                {5, 3, 0});
  expect_refused({"CumSum", 14}, {x, ints({}, {1})}, "out of range");
}

TEST(ReverseSequence, ReversesAPartOfEachBatch) {
  const Spec spec{"ReverseSequence", 10, {{"time_axis", int64_t{1}}, {"batch_axis", int64_t{0}}}};
  expect_floats(run(spec, {counting({2, 3}), ints({2}, {2, 3})}), {2, 3}, {1, 0, 2, 5, 4, 3});
  expect_refused(spec, {counting({2, 3}), ints({2}, {4, 3})}, "holds 4");
}

TEST(GridSample, PadsAsAsked) {
  const HostTensor x = floats({1, 1, 1, 2}, {10, 20});
  const auto sample = [&](const char* padding, const char* mode) {
    const Spec spec{
        "GridSample",
        16,
        {{"padding_mode", std::string(padding)}, {"mode", std::string(mode)}, {"align_corners", int64_t{1}}}};
    // The middle, half an element after the end, one element before the start.
    return run(spec, {x, floats({1, 1, 3, 2}, {0, 0, 2, 0, -3, 0})});
  };
  expect_floats(sample("zeros", "bilinear"), {1, 1, 1, 3}, {15, 10, 0});
  expect_floats(sample("border", "bilinear"), {1, 1, 1, 3}, {15, 20, 10});
  expect_floats(sample("reflection", "bilinear"), {1, 1, 1, 3}, {15, 15, 20});
  expect_floats(sample("border", "nearest"), {1, 1, 1, 3}, {10, 20, 10});
}

TEST(GridSample, ReadsZerosWhereTheGridIsNotFinite) {
  const HostTensor grid = floats({1, 1, 2, 2}, {NAN, 0, INFINITY, -INFINITY});
  expect_floats(run({"GridSample", 16}, {floats({1, 1, 1, 1}, {5}), grid}), {1, 1, 1, 2}, {0, 0});
}

TEST(RoiAlign, AveragesBins) {
  const HostTensor x = counting({1, 1, 4, 4}), whole = floats({1, 4}, {0, 0, 4, 4}), first = ints({1}, {0});
  const std::vector<std::pair<std::string, Attributes::Value>> two{
      {"output_height", int64_t{2}}, {"output_width", int64_t{2}}, {"sampling_ratio", int64_t{2}}};
  expect_floats(run({"RoiAlign", 16, two}, {x, whole, first}), {1, 1, 2, 2}, {2.5f, 4.5f, 10.5f, 12.5f});
  expect_refused({"RoiAlign", 16, two}, {x, whole, ints({1}, {1})}, "index 1", ErrorCode::invalid_argument);
  expect_refused({"RoiAlign", 16, {{"output_width", int64_t{0}}}}, {x, whole, first}, "out of range");
}

TEST(NonMaxSuppression, KeepsTheBestOfEachGroup) {
  // Two boxes that overlap by three quarters and one apart.
  const HostTensor boxes = floats({1, 3, 4}, {0, 0, 1, 1, 0, 0, 1, 0.75f, 5, 5, 6, 6});
  const HostTensor scores = floats({1, 1, 3}, {0.5f, 0.9f, 0.7f}), most = ints({1}, {9}),
                   iou = floats({1}, {0.5f});
  expect_ints(run({"NonMaxSuppression", 11}, {boxes, scores, most, iou}), {2, 3}, {0, 0, 1, 0, 0, 2});
  expect_ints(run({"NonMaxSuppression", 11}, {boxes, scores, most, iou, floats({1}, {0.8f})}), {1, 3},
              {0, 0, 1});
  expect_ints(run({"NonMaxSuppression", 11}, {boxes, scores}), {0, 3}, {});
  expect_refused({"NonMaxSuppression", 11}, {boxes, counting({1, 1, 2})}, "boxes are");
}

TEST(NonMaxSuppression, LivesWithHostileNumbers) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const HostTensor boxes = floats({1, 3, 4}, {0, 0, 1, 1, nan, 0, 1, nan, 5, 5, 6, 6});
  const HostTensor scores = floats({1, 1, 3}, {0.5f, 0.9f, nan}), iou = floats({1}, {0.5f});
  const auto kept = [&](int64_t most) {
    return run({"NonMaxSuppression", 11}, {boxes, scores, ints({}, {most}), iou});
  };
  expect_ints(kept(INT64_MAX), {2, 3}, {0, 0, 1, 0, 0, 0});  // not the box whose score is no number
  expect_ints(kept(1), {1, 3}, {0, 0, 1});
  expect_ints(kept(0), {0, 3}, {});
  expect_ints(kept(-1), {0, 3}, {});
  expect_ints(kept(INT64_MIN), {0, 3}, {});
  const HostTensor nothing = floats({0, 3, 4}, {}), no_scores = floats({0, 2, 3}, {});
  expect_ints(run({"NonMaxSuppression", 11}, {nothing, no_scores, ints({}, {9})}), {0, 3}, {});
  expect_refused({"NonMaxSuppression", 11}, {boxes, scores, ints({2}, {1, 2})}, "max_output_boxes_per_class");
}

TEST(NonMaxSuppression, LeavesOpenHowManyOfComputedBoxesAreKept) {
  const auto op = make({"NonMaxSuppression", 11}, {floats({1, 2, 4}, Floats(8)), floats({1, 1, 2}, {0, 0})});
  const std::vector<OperatorInput> computed{{true, {DType::f32, {1, 2, 4}}}, {true, {DType::f32, {1, 1, 2}}}};
  const auto types = op->infer_open(computed);
  ASSERT_EQ(types.size(), 1u);
  EXPECT_EQ(types[0], (TensorType{DType::i64, {kUnknownDim, 3}}));
  const std::vector<OperatorInput> misfits{{true, {DType::f32, {1, 2, 4}}}, {true, {DType::f32, {1, 1, 3}}}};
  expect_error(ErrorCode::corrupt_model, "boxes are", [&] { op->infer_open(misfits); });
}

TEST(Einsum, ContractsNamedDimensions) {
  const HostTensor a = floats({2, 2}, {1, 2, 3, 4});
  const auto einsum = [](const char* equation) {
    return Spec{"Einsum", 12, {{"equation", std::string(equation)}}};
  };
  expect_floats(run(einsum("ij,jk->ik"), {a, a}), {2, 2}, {7, 10, 15, 22});
  expect_floats(run(einsum("ij->ji"), {a}), {2, 2}, {1, 3, 2, 4});
  expect_floats(run(einsum("ii"), {a}), {}, {5});
  expect_floats(run(einsum("...j,...j->..."), {a, a}), {2}, {5, 25});
  expect_refused(einsum("ij,jk->iz"), {a, a}, "does not fit its inputs");
  expect_refused(einsum("ijk->i"), {a}, "'ijk'");
  expect_refused(einsum("i!->i"), {a}, "cannot be read");
  expect_refused(einsum("i,i->i"), {a}, "2 terms for 1 inputs");
  expect_refused(einsum("ij,jk->ik"), {a, counting({3, 2})}, "dimension 'j'");
}

TEST(Quantisation, RoundsHalfToEvenAndSaturates) {
  const auto bytes = [](DType dtype, const Ints& values) {
    return HostTensor::from<int64_t>(dtype, {static_cast<int64_t>(values.size())}, values);
  };
  const HostTensor scale = floats({}, {2}), zero = HostTensor::from<int64_t>(DType::i8, {}, Ints{1});
  expect_ints(run({"QuantizeLinear"}, {floats({5}, {1, 3, 5, -1e9f, 1e9f}), scale, zero}), {5},
              {1, 3, 3, -128, 127});
  expect_floats(run({"DequantizeLinear"}, {bytes(DType::i8, {1, -3}), scale, zero}), {2}, {0, -8});
  // One scale per channel.
  expect_floats(
      run({"DequantizeLinear", 13, {{"axis", int64_t{0}}}}, {bytes(DType::u8, {1, 1}), floats({2}, {1, 10})}),
      {2}, {1, 10});
  expect_refused({"DequantizeLinear", 13, {{"axis", int64_t{0}}}},
                 {bytes(DType::u8, {1, 1}), floats({3}, {1, 1, 1})}, "x_scale", ErrorCode::unsupported);
}

TEST(Quantisation, ConvolvesIntegersExactly) {
  const HostTensor x = HostTensor::from<int64_t>(DType::u8, {1, 1, 2}, Ints{255, 2});
  const HostTensor w = HostTensor::from<int64_t>(DType::u8, {1, 1, 2}, Ints{255, 3});
  const HostTensor zero = HostTensor::from<int64_t>(DType::u8, {}, Ints{1});
  expect_ints(run({"ConvInteger", 10}, {x, w, zero}), {1, 1, 1}, {254 * 255 + 3});
  const HostTensor one = floats({}, {1});
  expect_ints(run({"QLinearConv", 10}, {x, one, zero, w, one, zero, floats({}, {1000}), zero}), {1, 1, 1},
              {66});
  const HostTensor x_row = x.reshaped({1, 2}), column = w.reshaped({2, 1});
  expect_ints(run({"QLinearMatMul", 10}, {x_row, one, zero, column, one, zero, floats({}, {1000}), zero}),
              {1, 1}, {66});
}

// Rows (100 - 1) * 10 and (50 - 2) * 20 times columns (3 - 1) * 1 and (5 - 2) * 2, in steps of 100.
TEST(Quantisation, MultipliesRowsAndColumnsOfOtherScales) {
  const auto octets = [](Shape shape, const Ints& values) {
    return HostTensor::from<int64_t>(DType::u8, std::move(shape), values);
  };
  const auto product = [&](const HostTensor& b_scale) {
    return run({"QLinearMatMul", 10},
               {octets({2, 1}, {100, 50}), floats({2}, {10, 20}), octets({2}, {1, 2}), octets({1, 2}, {3, 5}),
                b_scale, octets({2}, {1, 2}), floats({}, {100}), octets({}, {7})});
  };
  expect_ints(product(floats({2}, {1, 2})), {2, 2}, {27, 66, 26, 65});
  expect_ints(product(floats({}, {1})), {2, 2}, {27, 37, 26, 36});
  expect_refused({"QLinearMatMul", 10},
                 {octets({2, 1}, {100, 50}), floats({}, {10}), octets({}, {1}), octets({1, 2}, {3, 5}),
                  floats({3}, {1, 1, 1}), octets({}, {1}), floats({}, {100}), octets({}, {7})},
                 "b_scale", ErrorCode::unsupported);
}

TEST(Quantisation, TakesTheScaleFromTheValues) {
  const OptionalTensors x{floats({3}, {-55, 200, 0.4f})};
  const auto made = run_all(*make({"DynamicQuantizeLinear", 11, {}, 3}, x), x);
  expect_ints(made[0], {3}, {0, 255, 55});
  expect_floats(made[1], {}, {1});
  expect_ints(made[2], {}, {55});
}

TEST(MaxUnpool, PutsMaximaBack) {
  const Spec spec{"MaxUnpool", 11, {{"kernel_shape", Ints{2}}, {"strides", Ints{2}}}};
  expect_floats(run(spec, {floats({1, 1, 2}, {5, 6}), ints({1, 1, 2}, {1, 2})}), {1, 1, 4}, {0, 5, 6, 0});
  expect_refused(spec, {floats({1, 1, 2}, {5, 6}), ints({1, 1, 2}, {1, 4})}, "I holds 4");
}

TEST(OldOperatorSets, AreReadWhereTheyMeanTheSame) {
  expect_floats(run({"Add", 6, {{"broadcast", int64_t{1}}}}, {counting({2, 2}), floats({2}, {10, 20})}),
                {2, 2}, {10, 21, 12, 23});
  expect_floats(run({"Reshape", 4, {{"shape", Ints{-1}}}}, {counting({2, 1})}), {2}, {0, 1});
  expect_floats(run({"Relu", 1, {{"consumed_inputs", Ints{0}}}}, {floats({1}, {-1})}), {1}, {0});
  expect_floats(run({"PRelu", 6}, {floats({2}, {-1, 1}), floats({1}, {3})}), {2}, {-3, 1});
}

TEST(OldOperatorSets, AreRefusedWhereTheyMeanSomethingElse) {
  const HostTensor x = counting({1, 2, 2});
  expect_refused({"Add", 6, {{"broadcast", int64_t{1}}, {"axis", int64_t{1}}}}, {x, counting({2})},
                 "'axis' of Add", ErrorCode::unsupported);
  expect_refused({"PRelu", 6}, {x, counting({2})}, "a slope per channel", ErrorCode::unsupported);
  expect_refused({"Dropout", 6}, {x}, "is_test=0", ErrorCode::unsupported);
  expect_refused({"Cast", 1, {{"to", std::string("FLOAT")}}}, {x}, "by name", ErrorCode::unsupported);
}

}  // namespace
}  // namespace vellum::testing
