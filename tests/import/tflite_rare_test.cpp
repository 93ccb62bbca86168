// TFLite operators that few networks have. Values are computed by hand, or by the functions of <cmath>.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "import/import.hpp"
#include "passes/passes.hpp"
#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"
#include "support/tflite_builder.hpp"

namespace vellum::test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;

HostTensor run_rare(TfliteModel& m, const std::vector<int32_t>& inputs, int32_t output,
                    const std::vector<HostTensor>& values) {
  const std::string file = m.finish(inputs, {output});
  return evaluate(optimise(import_model(as_bytes(file)), {}), values)[0];
}

HostTensor floats_of(Shape shape, const Floats& values) { return HostTensor::f32(std::move(shape), values); }

TEST(TfliteRare, Atan2HasTheAngleOfEveryQuadrant) {
  const Floats y{0, 1, 1, 1, 0, -1, -1, -1, 0, 2, -0.5f, 1e-30f, 3e38f},
      x{1, 1, 0, -1, -1, -1, 0, 1, 0, 0.1f, 8, 1e30f, -3e38f};
  TfliteModel m;
  const auto a = m.tensor("y", {13}), b = m.tensor("x", {13}), angle = m.tensor("angle", {13});
  m.op(156, {a, b}, {angle});
  const Floats found = run_rare(m, {a, b}, angle, {floats_of({13}, y), floats_of({13}, x)}).to_floats();
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], std::atan2(y[i], x[i]), 1e-6f) << i;
}

// Steps of 0.4 from -0.4 to 0.8: the range -0.5 to 0.7 is moved so that 0 is a step.
TEST(TfliteRare, FakeQuantMovesItsRange) {
  TfliteModel m;
  const auto x = m.tensor("x", {6}), y = m.tensor("y", {6});
  m.op(80, {x}, {y}, tfl::BuiltinOptions::FakeQuantOptions,
       tfl::CreateFakeQuantOptions(m.builder(), -0.5f, 0.7f, 2, false).Union());
  const Floats found = run_rare(m, {x}, y, {floats_of({6}, {-9, -0.3f, -0.1f, 0.3f, 0.7f, 9})}).to_floats();
  const Floats wanted{-0.4f, -0.4f, 0, 0.4f, 0.8f, 0.8f};
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-6f) << i;
}

TEST(TfliteRare, L2PoolIsTheRootOfTheMeanOfSquares) {
  TfliteModel m;
  const auto x = m.tensor("x", {1, 2, 2, 1}), y = m.tensor("y", {1, 1, 1, 1});
  m.op(12, {x}, {y}, tfl::BuiltinOptions::Pool2DOptions,
       tfl::CreatePool2DOptions(m.builder(), tfl::Padding::valid, 2, 2, 2, 2).Union());
  EXPECT_FLOAT_EQ(run_rare(m, {x}, y, {floats_of({1, 2, 2, 1}, {1, 1, 3, 5})}).to_floats()[0], 3.0f);
}

TEST(TfliteRare, ReductionsOfBooleans) {
  const HostTensor x = HostTensor::from<int64_t>(DType::boolean, {3, 2}, Ints{0, 0, 1, 0, 1, 1});
  for (const auto& [number, wanted] : {std::pair{91, Ints{0, 1, 1}}, std::pair{140, Ints{0, 0, 1}}}) {
    TfliteModel m;
    const auto given = m.tensor("x", {3, 2}, tfl::TensorType::boolean);
    const auto axis = m.ints("axis", {1}), y = m.tensor("y", {3}, tfl::TensorType::boolean);
    m.op(number, {given, axis}, {y}, tfl::BuiltinOptions::ReducerOptions,
         tfl::CreateReducerOptions(m.builder(), false).Union());
    EXPECT_EQ(run_rare(m, {given}, y, {x}).to_ints(), wanted) << number;
  }
}

TEST(TfliteRare, ZerosAndRanksOfOtherTensors) {
  TfliteModel m;
  const auto x = m.tensor("x", {2, 2}), zeros = m.tensor("zeros", {2, 2}),
             rank = m.tensor("rank", {}, tfl::TensorType::int32);
  const auto wide = m.tensor("wide", {}), y = m.tensor("y", {2, 2});
  m.op(93, {x}, {zeros});
  m.op(110, {x}, {rank});
  m.op(53, {rank}, {wide});
  m.op(0, {zeros, wide}, {y});
  EXPECT_EQ(run_rare(m, {x}, y, {floats_of({2, 2}, {1, NAN, 3, INFINITY})}).to_floats(),
            Floats({2, 2, 2, 2}));
}

// The time is the last of three dimensions, and the batch the second.
TEST(TfliteRare, ReverseSequenceOfAnyDimensions) {
  TfliteModel m;
  const auto x = m.tensor("x", {1, 2, 3}), lengths = m.tensor("lengths", {2}, tfl::TensorType::int32);
  const auto y = m.tensor("y", {1, 2, 3});
  m.op(112, {x, lengths}, {y}, tfl::BuiltinOptions::ReverseSequenceOptions,
       tfl::CreateReverseSequenceOptions(m.builder(), 2, 1).Union());
  const HostTensor counts = HostTensor::from<int64_t>(DType::i32, {2}, Ints{2, 3});
  EXPECT_EQ(run_rare(m, {x, lengths}, y, {floats_of({1, 2, 3}, {1, 2, 3, 4, 5, 6}), counts}).to_floats(),
            Floats({2, 1, 3, 6, 5, 4}));
}

TEST(TfliteRare, BitwiseXor) {
  TfliteModel m;
  const auto a = m.tensor("a", {2}, tfl::TensorType::int32), b = m.tensor("b", {2}, tfl::TensorType::int32);
  const auto y = m.tensor("y", {2}, tfl::TensorType::int32);
  m.op(160, {a, b}, {y});
  EXPECT_EQ(run_rare(m, {a, b}, y,
                     {HostTensor::from<int64_t>(DType::i32, {2}, Ints{6, -1}),
                      HostTensor::from<int64_t>(DType::i32, {2}, Ints{3, 5})})
                .to_ints(),
            Ints({5, -6}));
}

TEST(TfliteRare, CompositesAreTheirGraphs) {
  TfliteModel m;
  const auto x = m.tensor("x", {2}), y = m.tensor("y", {2});
  m.composite("example.doubled", 1, {x}, {y});
  m.end_graph({x}, {y});
  const auto inner = m.tensor("inner", {2}), twice = m.tensor("twice", {2});
  m.op(0, {inner, inner}, {twice});
  EXPECT_EQ(run_rare(m, {inner}, twice, {floats_of({2}, {1.5f, -2})}).to_floats(), Floats({3, -4}));
}

// Bytes 0x2f and 0x08: 2 in the upper half of the first, -1 in its lower half, then -8.
TEST(TfliteRare, WeightsOf4Bits) {
  TfliteModel m;
  const auto x = m.tensor("x", {1, 3});
  m.quantise_next({0.5f}, {0});
  const auto w = m.constant<uint8_t>("w", {1, 3}, {0x2f, 0x08}, tfl::TensorType::int4);
  const auto real = m.tensor("real", {1, 3}), y = m.tensor("y", {1, 1});
  m.op(6, {w}, {real});
  m.op(9, {x, real, -1}, {y}, tfl::BuiltinOptions::FullyConnectedOptions,
       tfl::CreateFullyConnectedOptions(m.builder()).Union());
  EXPECT_EQ(run_rare(m, {x}, y, {floats_of({1, 3}, {1, 10, 100})}).to_floats(), Floats({-0.5f + 10 - 400}));
}

// Two rows of two blocks of two: each block has a scale.
TEST(TfliteRare, WeightsOf4BitsInBlocks) {
  TfliteModel m;
  const auto x = m.tensor("x", {1, 4}), scales = m.floats("scales", {2, 2}, {1, 10, 100, 1000});
  m.quantise_next_in_blocks(scales, 2);
  const auto w = m.constant<uint8_t>("w", {2, 4}, {0x21, 0x43, 0x65, 0x87}, tfl::TensorType::int4);
  const auto y = m.tensor("y", {1, 2});
  m.op(9, {x, w, -1}, {y}, tfl::BuiltinOptions::FullyConnectedOptions,
       tfl::CreateFullyConnectedOptions(m.builder()).Union());
  EXPECT_EQ(run_rare(m, {x}, y, {floats_of({1, 4}, {1, 1, 1, 1})}).to_floats(),
            Floats({1 + 2 + 30 + 40, 500 + 600 + 7000 - 8000}));
}

TEST(TfliteRare, BlocksWithoutAScaleEachAreRefused) {
  TfliteModel m;
  const auto x = m.tensor("x", {1, 4}), scales = m.floats("scales", {3}, {1, 10, 100});
  m.quantise_next_in_blocks(scales, 2);
  const auto w = m.constant<uint8_t>("w", {2, 4}, {0x21, 0x43, 0x65, 0x87}, tfl::TensorType::int4);
  const auto y = m.tensor("y", {1, 2});
  m.op(9, {x, w, -1}, {y}, tfl::BuiltinOptions::FullyConnectedOptions,
       tfl::CreateFullyConnectedOptions(m.builder()).Union());
  const std::string file = m.finish({x}, {y});
  EXPECT_VELLUM_ERROR(import_model(as_bytes(file)), ErrorCode::corrupt_model, "one scale");
}

// The size of another input, doubled.
TEST(TfliteRare, ResizesToComputedSizes) {
  TfliteModel m;
  const auto x = m.tensor("x", {1, 2, 1, 1}), shape = m.tensor("shape", {4}, tfl::TensorType::int32);
  const auto begin = m.ints("begin", {1}), length = m.ints("length", {2}), two = m.ints("two", {2});
  const auto part = m.tensor("part", {2}, tfl::TensorType::int32),
             size = m.tensor("size", {2}, tfl::TensorType::int32);
  const auto y = m.tensor("y", {1, 4, 2, 1});
  m.op(77, {x}, {shape});
  m.op(65, {shape, begin, length}, {part});
  m.op(18, {part, two}, {size});
  m.op(97, {x, size}, {y});
  EXPECT_EQ(run_rare(m, {x}, y, {floats_of({1, 2, 1, 1}, {3, 5})}).to_floats(),
            Floats({3, 3, 3, 3, 5, 5, 5, 5}));
}

// As Keras writes a Conv2DTranspose of an open number of images: the shape is packed from it and constants.
TEST(TfliteRare, TransposedConvolutionsOfComputedShapes) {
  TfliteModel m;
  const auto x = m.tensor("x", {-1, 1, 2, 1}), shape = m.tensor("shape", {4}, tfl::TensorType::int32);
  const auto begin = m.ints("begin", {0}), length = m.ints("length", {1});
  const auto images = m.tensor("images", {1}, tfl::TensorType::int32), rest = m.ints("rest", {2, 4, 1});
  const auto size = m.tensor("size", {4}, tfl::TensorType::int32);
  const auto w = m.floats("w", {1, 2, 2, 1}, {1, 2, 3, 4}), y = m.tensor("y", {-1, 2, 4, 1});
  m.op(77, {x}, {shape});
  m.op(65, {shape, begin, length}, {images});
  m.op(2, {images, rest}, {size}, tfl::BuiltinOptions::ConcatenationOptions,
       tfl::CreateConcatenationOptions(m.builder()).Union());
  m.op(67, {size, w, x}, {y}, tfl::BuiltinOptions::TransposeConvOptions,
       tfl::CreateTransposeConvOptions(m.builder(), tfl::Padding::same, 2, 2).Union());
  const std::string file = m.finish({x}, {y});
  Graph graph = import_model(as_bytes(file));
  graph.values[graph.inputs[0]].type.shape = {2, 1, 2, 1};
  const std::vector<HostTensor> values{floats_of({2, 1, 2, 1}, {1, 10, 100, 0})};
  EXPECT_EQ(evaluate(optimise(graph, {}), values)[0].to_floats(),
            Floats({1, 2, 10, 20, 3, 4, 30, 40, 100, 200, 0, 0, 300, 400, 0, 0}));
}

// The first row of x, as often as y has rows; all from its second element on.
TEST(TfliteRare, PartsAndRepeatsOfComputedSizes) {
  TfliteModel m;
  const auto x = m.tensor("x", {1, 3}), y = m.tensor("y", {2, 2});
  const auto shape = m.tensor("shape", {2}, tfl::TensorType::int32), one = m.ints("one", {1, 1});
  const auto repeats = m.tensor("repeats", {2}, tfl::TensorType::int32), tiled = m.tensor("tiled", {2, 6});
  const auto begin = m.tensor("begin", {2}, tfl::TensorType::int32), two = m.ints("two", {2, 2});
  const auto all = m.ints("all", {-1, -1}), part = m.tensor("part", {1, 5});
  m.op(77, {y}, {shape});
  m.op(57, {shape, two}, {repeats});
  m.op(69, {x, repeats}, {tiled});
  m.op(41, {shape, one}, {begin});
  m.op(65, {tiled, begin, all}, {part});
  EXPECT_EQ(
      run_rare(m, {x, y}, part, {floats_of({1, 3}, {1, 2, 3}), floats_of({2, 2}, {0, 0, 0, 0})}).to_floats(),
      Floats({2, 3, 1, 2, 3}));
}

TEST(TfliteRare, WeightsOf4BitsThatDoNotFit) {
  TfliteModel m;
  const auto x = m.tensor("x", {1, 3});
  m.quantise_next({0.5f}, {0});
  const auto w = m.constant<uint8_t>("w", {1, 3}, {1}, tfl::TensorType::int4);
  const auto real = m.tensor("real", {1, 3}), y = m.tensor("y", {1, 3});
  m.op(6, {w}, {real});
  m.op(0, {x, real}, {y});
  const std::string file = m.finish({x}, {y});
  EXPECT_VELLUM_ERROR(import_model(as_bytes(file)), ErrorCode::corrupt_model, "4 bits");
}

// Distances below 0 are 0, and those beyond the type shift all but the sign out.
TEST(TfliteRare, RightShiftCopiesTheSign) {
  TfliteModel m;
  const auto x = m.tensor("x", {6}, tfl::TensorType::int8), by = m.tensor("by", {6}, tfl::TensorType::int8),
             y = m.tensor("y", {6}, tfl::TensorType::int8);
  m.op(161, {x, by}, {y});
  const auto bytes = [](const Ints& values) { return HostTensor::from<int64_t>(DType::i8, {6}, values); };
  EXPECT_EQ(
      run_rare(m, {x, by}, y, {bytes({-128, -5, 127, 100, -1, -128}), bytes({3, 1, 6, -3, 40, 8})}).to_ints(),
      Ints({-16, -3, 1, 100, -1, -1}));
}

}  // namespace
}  // namespace vellum::test
