// TFLite operators that cut out, reverse, sort, count and scatter: values computed by hand.
#include <gtest/gtest.h>

#include "import/import.hpp"
#include "passes/passes.hpp"
#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"
#include "support/tflite_builder.hpp"
#include "vellum/error.hpp"

namespace vellum::test {
namespace {

using Dims = std::vector<int32_t>;

HostTensor filled(const Shape& shape, const std::vector<float>& elements) {
  return HostTensor::f32(shape, elements);
}
HostTensor numbers(DType dtype, const Shape& shape, const std::vector<int64_t>& elements) {
  return HostTensor::from<int64_t>(dtype, shape, elements);
}

std::vector<HostTensor> outputs_of(const std::string& bytes, const std::vector<HostTensor>& inputs) {
  return evaluate(optimise(import_model(as_bytes(bytes)), {}), inputs);
}

struct Masks {
  int32_t begin = 0, end = 0, ellipsis = 0, new_axis = 0, shrink = 0;
  bool ends_are_lengths = false;
};

// STRIDED_SLICE of 0 ... 23 as 2x3x4, with strides of 1.
HostTensor cut(const Dims& begin, const Dims& end, const Masks& masks, const Dims& result) {
  TfliteModel m;
  const auto x = m.tensor("x", {2, 3, 4}), y = m.tensor("y", result);
  const Dims steps(begin.size(), 1);
  m.op(45, {x, m.ints("begin", begin), m.ints("end", end), m.ints("steps", steps)}, {y},
       tfl::BuiltinOptions::StridedSliceOptions,
       tfl::CreateStridedSliceOptions(m.builder(), masks.begin, masks.end, masks.ellipsis, masks.new_axis,
                                      masks.shrink, masks.ends_are_lengths)
           .Union());
  return outputs_of(m.finish({x}, {y}), {counting({2, 3, 4})})[0];
}

TEST(TfliteSelect, EllipsisStandsForDimensionsThatAreNotNamed) {
  // x[..., 1:3] and x[1, ..., 2]
  const HostTensor columns = cut({0, 1}, {0, 3}, {.ellipsis = 1}, {2, 3, 2});
  EXPECT_TRUE(close(columns, filled({2, 3, 2}, {1, 2, 5, 6, 9, 10, 13, 14, 17, 18, 21, 22}), 0.0));
  const HostTensor column = cut({1, 0, 2}, {2, 0, 3}, {.ellipsis = 2, .shrink = 5}, {3});
  EXPECT_TRUE(close(column, filled({3}, {14, 18, 22}), 0.0));
}

TEST(TfliteSelect, NewDimensions) {
  // x[newaxis, 1] and x[0, ..., newaxis, 3]
  const HostTensor in_front = cut({0, 1}, {0, 2}, {.new_axis = 1, .shrink = 2}, {1, 3, 4});
  EXPECT_EQ(in_front.shape(), (Shape{1, 3, 4}));
  EXPECT_EQ(in_front.to_floats()[0], 12.0f);
  const HostTensor behind =
      cut({0, 0, 0, 3}, {1, 0, 0, 4}, {.ellipsis = 2, .new_axis = 4, .shrink = 9}, {3, 1});
  EXPECT_TRUE(close(behind, filled({3, 1}, {3, 7, 11}), 0.0));
}

TEST(TfliteSelect, EndsThatAreLengths) {
  // x[:, 1:3, 2:4], from the end in the last dimension
  const HostTensor part = cut({0, 1, -2}, {2, 2, 2}, {.ends_are_lengths = true}, {2, 2, 2});
  EXPECT_TRUE(close(part, filled({2, 2, 2}, {6, 7, 10, 11, 18, 19, 22, 23}), 0.0));
}

// x[1, :rows, columns - 4:], where y has `rows` rows and `columns` columns.
TEST(TfliteSelect, BoundsThatAreComputedFromShapes) {
  TfliteModel m;
  const auto x = m.tensor("x", {2, 3, 4}), y = m.tensor("y", {2, 5}), z = m.tensor("z", {2, 3});
  const auto shape = m.tensor("shape", {2}, tfl::TensorType::int32), one = m.ints("one", {1}),
             two = m.ints("two", {2});
  const auto join = [&](const std::vector<int32_t>& parts, const char* name) {
    const auto all = m.tensor(name, {3}, tfl::TensorType::int32);
    m.op(2, parts, {all}, tfl::BuiltinOptions::ConcatenationOptions,
         tfl::CreateConcatenationOptions(m.builder()).Union());
    return all;
  };
  const auto less = m.tensor("less", {2}, tfl::TensorType::int32), four = m.ints("four", {4, 4});
  m.op(77, {y}, {shape});
  m.op(41, {shape, four}, {less});
  const auto begin = join({one, less}, "begin"), end = join({two, shape}, "end");
  m.op(45, {x, begin, end, m.ints("steps", {1, 1, 1})}, {z}, tfl::BuiltinOptions::StridedSliceOptions,
       tfl::CreateStridedSliceOptions(m.builder(), 2, 4, 0, 0, 1).Union());
  const auto result = outputs_of(m.finish({x, y}, {z}), {counting({2, 3, 4}), counting({2, 5})});
  EXPECT_TRUE(close(result[0], filled({2, 3}, {13, 14, 15, 17, 18, 19}), 0.0));
}

TEST(TfliteSelect, BoundsOfOtherLengthsThanTheStridesAreRefused) {
  EXPECT_THROW(cut({0, 0}, {1}, {}, {1, 1, 4}), Error);
}

TEST(TfliteSelect, TooManyDimensionsAreRefused) {
  EXPECT_THROW(cut({0, 0, 0, 0}, {1, 1, 1, 1}, {}, {1, 1, 1, 1}), Error);
  EXPECT_THROW(cut({0, 0}, {1, 1}, {.ellipsis = 3}, {2, 3, 4}), Error);
}

TEST(TfliteSelect, MirrorPadRepeatsTheEdgeOrNot) {
  for (const auto mode : {tfl::MirrorPadMode::reflect, tfl::MirrorPadMode::symmetric}) {
    TfliteModel m;
    const auto x = m.tensor("x", {2, 3}), y = m.tensor("y", {3, 6});
    const auto pads = m.constant<int32_t>("pads", {2, 2}, {0, 1, 2, 1}, tfl::TensorType::int32);
    m.op(100, {x, pads}, {y}, tfl::BuiltinOptions::MirrorPadOptions,
         tfl::CreateMirrorPadOptions(m.builder(), mode).Union());
    const bool reflect = mode == tfl::MirrorPadMode::reflect;
    const HostTensor expected = reflect
                                    ? filled({3, 6}, {2, 1, 0, 1, 2, 1, 5, 4, 3, 4, 5, 4, 2, 1, 0, 1, 2, 1})
                                    : filled({3, 6}, {1, 0, 0, 1, 2, 2, 4, 3, 3, 4, 5, 5, 4, 3, 3, 4, 5, 5});
    EXPECT_TRUE(close(outputs_of(m.finish({x}, {y}), {counting({2, 3})})[0], expected, 0.0));
  }
}

TEST(TfliteSelect, Reverse) {
  TfliteModel m;
  const auto x = m.tensor("x", {2, 3}), y = m.tensor("y", {2, 3});
  m.op(105, {x, m.ints("axes", {-1})}, {y});
  EXPECT_TRUE(
      close(outputs_of(m.finish({x}, {y}), {counting({2, 3})})[0], filled({2, 3}, {2, 1, 0, 5, 4, 3}), 0.0));
}

TEST(TfliteSelect, TopK) {
  TfliteModel m;
  const auto x = m.tensor("x", {1, 4}), values = m.tensor("values", {1, 2});
  const auto at = m.tensor("at", {1, 2}, tfl::TensorType::int32);
  m.op(48, {x, m.constant<int32_t>("k", {}, {2}, tfl::TensorType::int32)}, {values, at});
  const auto result = outputs_of(m.finish({x}, {values, at}), {filled({1, 4}, {3, 7, 1, 5})});
  EXPECT_TRUE(close(result[0], filled({1, 2}, {7, 5}), 0.0));
  EXPECT_EQ(result[1].dtype(), DType::i32);
  EXPECT_EQ(result[1].to_ints(), (std::vector<int64_t>{1, 3}));
}

// Indices below 0 name no value.
TEST(TfliteSelect, OneHot) {
  TfliteModel m;
  const auto x = m.tensor("x", {4}, tfl::TensorType::int32), y = m.tensor("y", {4, 3});
  const auto depth = m.constant<int32_t>("depth", {}, {3}, tfl::TensorType::int32);
  m.op(85, {x, depth, m.floats("on", {}, {5}), m.floats("off", {}, {-1})}, {y},
       tfl::BuiltinOptions::OneHotOptions, tfl::CreateOneHotOptions(m.builder(), -1).Union());
  EXPECT_TRUE(close(outputs_of(m.finish({x}, {y}), {numbers(DType::i32, {4}, {2, 0, -1, 3})})[0],
                    filled({4, 3}, {-1, -1, 5, 5, -1, -1, -1, -1, -1, -1, -1, -1}), 0.0));
}

TEST(TfliteSelect, ScatterAddsWhatMeets) {
  TfliteModel m;
  const auto x = m.tensor("x", {3}), y = m.tensor("y", {4});
  const auto at = m.constant<int32_t>("at", {3, 1}, {2, 0, 2}, tfl::TensorType::int32);
  m.op(122, {at, x, m.ints("shape", {4})}, {y});
  EXPECT_TRUE(
      close(outputs_of(m.finish({x}, {y}), {filled({3}, {1, 2, 3})})[0], filled({4}, {2, 0, 4, 0}), 0.0));
}

// Indices may be one, a list or rows of tuples; one value may be for all of them.
TEST(TfliteSelect, SparseToDense) {
  struct Case {
    Dims places;
    std::vector<int32_t> indices;
    Dims shape;
    std::vector<float> values, expected;
  };
  const std::vector<Case> cases{{{}, {2}, {4}, {7}, {-1, -1, 7, -1}},
                                {{3}, {0, 3, 1}, {4}, {5, 6, 7}, {5, 7, -1, 6}},
                                {{3}, {0, 3, 1}, {4}, {7}, {7, 7, -1, 7}},
                                {{2, 2}, {0, 1, 1, 0}, {2, 2}, {5, 6}, {-1, 5, 6, -1}}};
  for (const Case& c : cases)
    for (const bool known : {false, true}) {
      TfliteModel m;
      const auto at = known ? m.constant<int32_t>("at", c.places, c.indices, tfl::TensorType::int32)
                            : m.tensor("at", c.places, tfl::TensorType::int32);
      const Dims value_dims = c.values.size() == 1 ? Dims{} : Dims{static_cast<int32_t>(c.values.size())};
      const auto values = m.tensor("values", value_dims), y = m.tensor("y", c.shape);
      m.op(68, {at, m.ints("shape", c.shape), values, m.floats("elsewhere", {}, {-1})}, {y});
      std::vector<HostTensor> inputs{filled(Shape(value_dims.begin(), value_dims.end()), c.values)};
      if (!known)
        inputs.push_back(numbers(DType::i32, Shape(c.places.begin(), c.places.end()),
                                 {c.indices.begin(), c.indices.end()}));
      const std::string file = known ? m.finish({values}, {y}) : m.finish({values, at}, {y});
      EXPECT_TRUE(
          close(outputs_of(file, inputs)[0], filled(Shape(c.shape.begin(), c.shape.end()), c.expected), 0.0));
    }
}

// Devices keep any of the values.
TEST(TfliteSelect, SparseToDenseOfRepeatedIndicesIsRefused) {
  TfliteModel m;
  const auto at = m.constant<int32_t>("at", {3, 2}, {0, 1, 1, 1, 0, 1}, tfl::TensorType::int32);
  const auto values = m.tensor("values", {3}), y = m.tensor("y", {2, 2});
  m.op(68, {at, m.ints("shape", {2, 2}), values, m.floats("elsewhere", {}, {0})}, {y});
  EXPECT_VELLUM_ERROR(import_model(as_bytes(m.finish({values}, {y}))), ErrorCode::unsupported,
                      "SPARSE_TO_DENSE", "repeated");
}

// In the order of their first occurrence.
TEST(TfliteSelect, Unique) {
  for (const auto type : {tfl::TensorType::int32, tfl::TensorType::int64}) {
    TfliteModel m;
    const auto x = m.tensor("x", {5}), y = m.tensor("y", {0}), at = m.tensor("at", {5}, type);
    m.op(103, {x}, {y, at});
    const auto got = outputs_of(m.finish({x}, {y, at}), {filled({5}, {3, 1, 3, 7, 1})});
    EXPECT_TRUE(close(got[0], filled({3}, {3, 1, 7}), 0.0));
    EXPECT_EQ(got[1].dtype(), type == tfl::TensorType::int32 ? DType::i32 : DType::i64);
    EXPECT_EQ(got[1].to_ints(), (std::vector<int64_t>{0, 1, 0, 2, 1}));
  }
}

TEST(TfliteSelect, SegmentSum) {
  const auto file = [](const std::vector<int32_t>& segments, int32_t sums) {
    TfliteModel m;
    const auto x = m.tensor("x", {4, 2}), y = m.tensor("y", {sums, 2});
    m.op(125, {x, m.ints("segments", segments)}, {y});
    return m.finish({x}, {y});
  };
  EXPECT_TRUE(close(outputs_of(file({0, 0, 1, 2}, 3), {counting({4, 2})})[0],
                    filled({3, 2}, {2, 4, 4, 5, 6, 7}), 0.0));
  for (const std::vector<int32_t>& wrong :
       {Dims{0, 1, 0, 1}, Dims{0, 0, 2, 2}, Dims{1, 1, 1, 1}, Dims{0, 0, 1}})
    EXPECT_VELLUM_ERROR(import_model(as_bytes(file(wrong, 3))), ErrorCode::corrupt_model, "SEGMENT_SUM",
                        "segment");
}

// Where the update does not fit it moves.
TEST(TfliteSelect, DynamicUpdateSlice) {
  const std::vector<float> in_front{9, 8, 2, 3, 4, 5}, behind{0, 1, 2, 3, 9, 8}, within{0, 9, 8, 3, 4, 5};
  const std::vector<std::pair<std::vector<int64_t>, std::vector<float>>> cases{
      {{0, 0}, in_front}, {{-5, 0}, in_front}, {{7, 7}, behind}, {{0, 1}, within}};
  for (const bool known : {false, true})
    for (const auto& [begin, expected] : cases) {
      TfliteModel m;
      const auto x = m.tensor("x", {2, 3}), part = m.tensor("part", {1, 2}), y = m.tensor("y", {2, 3});
      const auto at =
          known ? m.ints("at", {begin.begin(), begin.end()}) : m.tensor("at", {2}, tfl::TensorType::int32);
      m.op(151, {x, part, at}, {y});
      std::vector<HostTensor> inputs{counting({2, 3}), filled({1, 2}, {9, 8})};
      if (!known) inputs.push_back(numbers(DType::i32, {2}, begin));
      const std::string file = known ? m.finish({x, part}, {y}) : m.finish({x, part, at}, {y});
      EXPECT_TRUE(close(outputs_of(file, inputs)[0], filled({2, 3}, expected), 0.0)) << begin[0] << begin[1];
    }
}

TEST(TfliteSelect, EmbeddingLookup) {
  TfliteModel m;
  const auto rows = m.tensor("rows", {2}, tfl::TensorType::int32), y = m.tensor("y", {2, 2});
  m.op(7, {rows, m.floats("table", {3, 2}, {1, 2, 3, 4, 5, 6})}, {y});
  EXPECT_TRUE(close(outputs_of(m.finish({rows}, {y}), {numbers(DType::i32, {2}, {2, 0})})[0],
                    filled({2, 2}, {5, 6, 1, 2}), 0.0));
}

TEST(TfliteSelect, CumulativeSum) {
  TfliteModel m;
  const auto x = m.tensor("x", {1, 3}), y = m.tensor("y", {1, 3});
  m.op(128, {x, m.constant<int32_t>("axis", {}, {1}, tfl::TensorType::int32)}, {y},
       tfl::BuiltinOptions::CumsumOptions, tfl::CreateCumsumOptions(m.builder(), true, false).Union());
  EXPECT_TRUE(
      close(outputs_of(m.finish({x}, {y}), {filled({1, 3}, {1, 2, 4})})[0], filled({1, 3}, {0, 1, 3}), 0.0));
}

TEST(TfliteSelect, SignsSumsAndRemainders) {
  TfliteModel m;
  const auto x = m.tensor("x", {1, 4}), sign = m.tensor("sign", {1, 4}), unit = m.tensor("unit", {1, 4});
  const auto sum = m.tensor("sum", {1, 4}), rest = m.tensor("rest", {1, 4});
  m.op(158, {x}, {sign});
  m.op(152, {x}, {unit});
  m.op(106, {x, sign, unit}, {sum});
  m.op(95, {x, m.floats("three", {1}, {3})}, {rest});
  const auto result = outputs_of(m.finish({x}, {sign, unit, sum, rest}), {filled({1, 4}, {-4, 0, 0.5f, 7})});
  EXPECT_TRUE(close(result[0], filled({1, 4}, {-1, 0, 1, 1}), 0.0));
  EXPECT_TRUE(close(result[1], filled({1, 4}, {0, 0, 0.5f, 1}), 0.0));
  EXPECT_TRUE(close(result[2], filled({1, 4}, {-5, 0, 2, 9}), 0.0));
  EXPECT_TRUE(close(result[3], filled({1, 4}, {2, 0, 0.5f, 1}), 0.0));
}

// Each element by the squares of its neighbours along the channels.
TEST(TfliteSelect, LocalResponseNormalization) {
  TfliteModel m;
  const auto x = m.tensor("x", {1, 1, 1, 3}), y = m.tensor("y", {1, 1, 1, 3});
  m.op(13, {x}, {y}, tfl::BuiltinOptions::LocalResponseNormalizationOptions,
       tfl::CreateLocalResponseNormalizationOptions(m.builder(), 1, 1.0f, 0.5f, 1.0f).Union());
  EXPECT_TRUE(close(outputs_of(m.finish({x}, {y}), {filled({1, 1, 1, 3}, {1, 2, 3})})[0],
                    filled({1, 1, 1, 3}, {1 / 3.5f, 2 / 8.0f, 3 / 7.5f}), 1e-6));
}

}  // namespace
}  // namespace vellum::test
