// TFLite operators on shapes, MediaPipe's pools with positions of maxima, and dilation that other operators
// express.
#include <gtest/gtest.h>

#include <cstring>

#include "import/import.hpp"
#include "import/run_tflite.hpp"
#include "passes/passes.hpp"
#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"
#include "support/tflite_builder.hpp"
#include "vellum/error.hpp"

namespace vellum::test {
namespace {

// RESHAPE to (the input's first dimension, -1), as exporters write it for an open batch.
TEST(TfliteShape, ReshapeToAShapeThatIsComputedFromAnother) {
  TfliteModel m;
  const auto i32 = tfl::TensorType::int32;
  const auto x = m.tensor("x", {1, 2, 3}), shape = m.tensor("shape", {3}, i32), n = m.tensor("n", {}, i32);
  const auto begin = m.ints("begin", {0}), end = m.ints("end", {1}), one = m.ints("one", {1});
  const auto rest = m.constant<int32_t>("rest", {}, {-1}, i32);
  const auto to = m.tensor("to", {2}, i32), y = m.tensor("y", {1, 6});
  m.op(77, {x}, {shape});
  m.op(45, {shape, begin, end, one}, {n}, tfl::BuiltinOptions::StridedSliceOptions,
       tfl::CreateStridedSliceOptions(m.builder(), 0, 0, 0, 0, 1).Union());
  m.op(83, {n, rest}, {to}, tfl::BuiltinOptions::PackOptions,
       tfl::CreatePackOptions(m.builder(), 2, 0).Union());
  m.op(22, {x, to}, {y});
  const auto bytes = m.finish({x}, {y});
  EXPECT_EQ(run_tflite(bytes, {counting({1, 2, 3})})[0].shape(), (Shape{1, 6}));
  const auto batch = run_tflite(bytes, {counting({4, 2, 3})}, {{"x", {4, 2, 3}}});
  EXPECT_TRUE(close(batch[0], counting({4, 6}), 0.0));
}

// The shape of a scalar is a constant of no elements, and so has no bytes in the file.
TEST(TfliteShape, ReshapeToAScalar) {
  TfliteModel m;
  const auto x = m.tensor("x", {1}), shape = m.tensor("shape", {0}, tfl::TensorType::int32);
  const auto y = m.tensor("y", {});
  m.op(22, {x, shape}, {y});
  const HostTensor result = run_tflite(m.finish({x}, {y}), {HostTensor::f32({1}, std::vector<float>{3})})[0];
  EXPECT_EQ(result.shape(), Shape{});
  EXPECT_EQ(result.to_floats(), std::vector<float>{3});
}

// No Reshape can say which of several open dimensions is which.
TEST(TfliteShape, UnitDimensionsBesideOpenOnes) {
  TfliteModel m;
  const auto x = m.tensor("x", {-1, -1, 2}), longer = m.tensor("longer", {-1, -1, 1, 2}),
             y = m.tensor("y", {-1, -1, 2});
  m.op(70, {x, m.ints("axis", {-2})}, {longer});
  const std::vector<int32_t> axes{2};
  m.op(43, {longer}, {y}, tfl::BuiltinOptions::SqueezeOptions,
       tfl::CreateSqueezeOptionsDirect(m.builder(), &axes).Union());
  const auto results = run_tflite(m.finish({x}, {longer, y}), {counting({3, 4, 2})}, {{"x", {3, 4, 2}}});
  EXPECT_TRUE(close(results[0], counting({3, 4, 1, 2}), 0.0));
  EXPECT_TRUE(close(results[1], counting({3, 4, 2}), 0.0));
  TfliteModel any;
  const auto a = any.tensor("a", {-1, -1, 2}), b = any.tensor("b", {-1, -1});
  any.op(43, {a}, {b});
  EXPECT_VELLUM_ERROR(import_model(as_bytes(any.finish({a}, {b}))), ErrorCode::unsupported, "SQUEEZE",
                      "any of which may be 1");
}

TEST(TfliteShape, ShapeIsInTheFilesOrder) {
  TfliteModel m;
  const auto x = m.tensor("x", {1, 4, 6, 3}), pooled = m.tensor("pooled", {1, 2, 3, 3});
  const auto y = m.tensor("y", {4}, tfl::TensorType::int32);
  m.op(17, {x}, {pooled}, tfl::BuiltinOptions::Pool2DOptions,
       tfl::CreatePool2DOptions(m.builder(), tfl::Padding::valid, 2, 2, 2, 2).Union());
  m.op(77, {pooled}, {y});
  const auto result = run_tflite(m.finish({x}, {y}), {counting({1, 4, 6, 3})});
  EXPECT_EQ(result[0].dtype(), DType::i32);
  EXPECT_EQ(result[0].to_ints(), (std::vector<int64_t>{1, 2, 3, 3}));
}

TEST(TfliteShape, FillAndRange) {
  TfliteModel m;
  const auto x = m.tensor("x", {2, 3}), dims = m.tensor("dims", {2}, tfl::TensorType::int32);
  const auto value = m.floats("value", {}, {2.5f}), filled = m.tensor("filled", {2, 3});
  const auto scalar = [&](const char* name, int32_t number) {
    return m.constant<int32_t>(name, {}, {number}, tfl::TensorType::int32);
  };
  const auto range = m.tensor("range", {3}, tfl::TensorType::int32);
  m.op(77, {x}, {dims});
  m.op(94, {dims, value}, {filled});
  m.op(96, {scalar("start", 1), scalar("limit", 7), scalar("delta", 2)}, {range});
  const auto result = run_tflite(m.finish({x}, {filled, range}), {counting({2, 3})});
  EXPECT_TRUE(close(result[0], tensor({2, 3}, std::vector<float>(6, 2.5f)), 0.0));
  EXPECT_EQ(result[1].to_ints(), (std::vector<int64_t>{1, 3, 5}));
}

std::vector<uint8_t> pool_numbers(const std::vector<int32_t>& numbers) {
  std::vector<uint8_t> bytes(4 * numbers.size());
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

// Same padding: the last windows hang over by a column, and the largest of each is remembered by its number
// there.
TEST(TflitePools, ArgmaxWithinTheWindowAndBack) {
  TfliteModel m;
  const auto options = pool_numbers({1, 2, 2, 2, 2, 0});
  const auto x = m.tensor("x", {1, 2, 3, 1}), y = m.tensor("y", {1, 1, 2, 1}),
             at = m.tensor("at", {1, 1, 2, 1});
  const auto back = m.tensor("back", {1, 2, 4, 1});
  m.op(32, {x}, {y, at}, tfl::BuiltinOptions::NONE, 0, "MaxPoolingWithArgmax2D", options);
  m.op(32, {y, at}, {back}, tfl::BuiltinOptions::NONE, 0, "MaxUnpooling2D", options);
  const auto result = run_tflite(m.finish({x}, {y, at, back}), {tensor({1, 2, 3, 1}, {1, 2, 3, 9, 4, 5})});
  EXPECT_TRUE(close(result[0], tensor({1, 1, 2, 1}, {9, 5}), 0.0));
  EXPECT_TRUE(close(result[1], tensor({1, 1, 2, 1}, {2.1f, 2.1f}), 1e-6));
  EXPECT_TRUE(close(result[2], tensor({1, 2, 4, 1}, {0, 0, 0, 0, 9, 0, 5, 0}), 0.0));
}

TEST(TflitePools, UnpoolingOfSeveralImagesAndChannels) {
  TfliteModel m;
  const auto x = m.tensor("x", {1, 1, 2, 2}), at = m.tensor("at", {1, 1, 2, 2}),
             y = m.tensor("y", {1, 3, 4, 2});
  m.op(32, {x, at}, {y}, tfl::BuiltinOptions::NONE, 0, "MaxUnpooling2D", pool_numbers({2, 1, 2, 2, 3, 0}));
  // Windows of 3 x 2 begin one column apart; in channel 1 the last element of each is meant.
  const auto values = tensor({2, 1, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const auto taps = tensor({2, 1, 2, 2}, {0.1f, 5.1f, 0.1f, 5.1f, 3.1f, 5.1f, 2.1f, 5.1f});
  const auto result =
      run_tflite(m.finish({x, at}, {y}), {values, taps}, {{"x", {2, 1, 2, 2}}, {"at", {2, 1, 2, 2}}})[0];
  HostTensor expected(DType::f32, {2, 3, 4, 2});
  const auto set = [&](size_t n, size_t h, size_t w, size_t c, float value) {
    expected.mutable_as<float>()[((n * 3 + h) * 4 + w) * 2 + c] = value;
  };
  set(0, 0, 0, 0, 1), set(0, 2, 1, 1, 2), set(0, 0, 1, 0, 3), set(0, 2, 2, 1, 4);
  set(1, 1, 1, 0, 5), set(1, 2, 1, 1, 6), set(1, 1, 1, 0, 7), set(1, 2, 2, 1, 8);
  set(1, 1, 1, 0, 7);
  EXPECT_EQ(result.shape(), expected.shape());
  // Two windows meet in one element of the second image: either value may stay.
  auto got = result.to_floats();
  const size_t both = ((1 * 3 + 1) * 4 + 1) * 2;
  EXPECT_TRUE(got[both] == 5 || got[both] == 7);
  got[both] = 7;
  EXPECT_EQ(got, expected.to_floats());
}

TEST(TflitePools, OptionsOfTheWrongKindAreRefused) {
  for (const std::vector<int32_t>& numbers : {std::vector<int32_t>{1, 2, 2},
                                              {0, 2, 2, 2, 2, 0},
                                              {1, 0, 2, 2, 2, 0},
                                              {1, 2, 2, 2, 2, 1},
                                              {1, 3, 2, 2, 2, 0}}) {
    TfliteModel m;
    const auto x = m.tensor("x", {1, 2, 2, 1}), at = m.tensor("at", {1, 2, 2, 1}),
               y = m.tensor("y", {1, 4, 4, 1});
    m.op(32, {x, at}, {y}, tfl::BuiltinOptions::NONE, 0, "MaxUnpooling2D", pool_numbers(numbers));
    const auto bytes = m.finish({x, at}, {y});
    EXPECT_THROW(import_model(as_bytes(bytes)), Error);
  }
}

// SPACE_TO_BATCH_ND, a convolution, BATCH_TO_SPACE_ND: `pads` and `crops` as (h begin, h end, w begin, w
// end).
struct Spelt {
  std::vector<int32_t> pads, crops;
  bool read_twice = false;
};

Graph dilated_graph(const Spelt& spelt, std::string& bytes) {
  TfliteModel m;
  const auto x = m.tensor("x", {1, 6, 8, 2}), blocks = m.ints("blocks", {2, 2});
  const auto pads = m.constant<int32_t>("pads", {2, 2}, spelt.pads, tfl::TensorType::int32);
  const auto crops = m.constant<int32_t>("crops", {2, 2}, spelt.crops, tfl::TensorType::int32);
  std::vector<float> weights(3 * 3 * 3 * 2);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 7) - 3;
  const auto w = m.floats("w", {3, 3, 3, 2}, weights), b = m.floats("b", {3}, {1, 2, 3});
  const int32_t height = 6 + spelt.pads[0] + spelt.pads[1], width = 8 + spelt.pads[2] + spelt.pads[3];
  const auto parts = m.tensor("parts", {4, height / 2, width / 2, 2});
  const auto sums = m.tensor("sums", {4, height / 2 - 2, width / 2 - 2, 3});
  const auto y = m.tensor(
      "y", {1, height - 4 - spelt.crops[0] - spelt.crops[1], width - 4 - spelt.crops[2] - spelt.crops[3], 3});
  m.op(38, {x, blocks, pads}, {parts});
  m.op(3, {parts, w, b}, {sums}, tfl::BuiltinOptions::Conv2DOptions,
       tfl::CreateConv2DOptions(m.builder(), tfl::Padding::valid, 1, 1, tfl::FusedActivation::relu).Union());
  m.op(37, {sums, blocks, crops}, {y});
  bytes = spelt.read_twice ? m.finish({x}, {y, sums}) : m.finish({x}, {y});
  return import_model(as_bytes(bytes));
}

size_t count_of(const Graph& graph, std::string_view type) {
  size_t count = 0;
  for (const Node& node : graph.nodes) count += node.op->type() == type;
  return count;
}

TEST(TfliteDilation, FoldsIntoTheConvolution) {
  for (const Spelt& spelt : {Spelt{{2, 2, 2, 2}, {0, 0, 0, 0}}, Spelt{{2, 4, 1, 3}, {0, 1, 1, 0}}}) {
    std::string bytes;
    const Graph folded = dilated_graph(spelt, bytes);
    EXPECT_EQ(count_of(folded, "SpaceToBatchND"), 0u);
    Spelt twice = spelt;
    twice.read_twice = true;
    const Graph spelt_out = dilated_graph(twice, bytes);
    EXPECT_EQ(count_of(spelt_out, "SpaceToBatchND"), 1u);
    const std::vector<HostTensor> inputs{counting({1, 6, 8, 2})};
    const auto got = evaluate(optimise(folded, {}), inputs), want = evaluate(optimise(spelt_out, {}), inputs);
    EXPECT_EQ(got[0].shape(), want[0].shape());
    EXPECT_TRUE(close(got[0], want[0], 1e-5));
  }
}

// More is cropped than was padded: a convolution has no negative pads.
TEST(TfliteDilation, CropsBeyondThePaddingStaySpeltOut) {
  std::string bytes;
  EXPECT_EQ(count_of(dilated_graph({{0, 0, 2, 2}, {1, 0, 0, 0}}, bytes), "SpaceToBatchND"), 1u);
}

// Blocks of 2 x 2 of any size, with paddings of (size mod 2), as TensorFlow writes a dilation for open
// dimensions.
std::string blocks_of_any_size() {
  TfliteModel m;
  const auto i32 = tfl::TensorType::int32;
  const auto x = m.tensor("x", {1, -1, -1, 1}), shape = m.tensor("shape", {4}, i32),
             size = m.tensor("size", {2}, i32), odd = m.tensor("odd", {2}, i32),
             pads = m.tensor("pads", {2, 2}, i32);
  const auto parts = m.tensor("parts", {4, -1, -1, 1}), y = m.tensor("y", {1, -1, -1, 1});
  const auto blocks = m.ints("blocks", {2, 2}), none = m.ints("none", {0, 0});
  m.op(77, {x}, {shape});
  m.op(45, {shape, m.ints("begin", {1}), m.ints("end", {3}), m.ints("step", {1})}, {size},
       tfl::BuiltinOptions::StridedSliceOptions, tfl::CreateStridedSliceOptions(m.builder()).Union());
  m.op(95, {size, blocks}, {odd});
  m.op(83, {none, odd}, {pads}, tfl::BuiltinOptions::PackOptions,
       tfl::CreatePackOptions(m.builder(), 2, 1).Union());
  m.op(38, {x, blocks, pads}, {parts});
  m.op(37, {parts, blocks, pads}, {y});
  return m.finish({x}, {parts, y});
}

TEST(TfliteShape, BlocksWithComputedPaddings) {
  const HostTensor x = tensor({1, 1, 3, 1}, {1, 2, 3});
  const auto odd = run_tflite(blocks_of_any_size(), {x}, {{"x", {1, 1, 3, 1}}});
  EXPECT_TRUE(close(odd[0], tensor({4, 1, 2, 1}, {1, 3, 2, 0, 0, 0, 0, 0}), 0.0));
  EXPECT_TRUE(close(odd[1], x, 0.0));
  const auto even = run_tflite(blocks_of_any_size(), {counting({1, 2, 2, 1})}, {{"x", {1, 2, 2, 1}}});
  EXPECT_TRUE(close(even[0], counting({4, 1, 1, 1}), 0.0));
}

TEST(TfliteShape, BlocksThatDoNotFitAreRefused) {
  const auto refused = [](const std::vector<int32_t>& blocks, const std::vector<int32_t>& edges,
                          const char* what, int32_t number) {
    TfliteModel m;
    const auto x = m.tensor("x", {1, 3, 3, 1}), y = m.tensor("y", {1, 3, 3, 1});
    m.op(number, {x, m.ints("blocks", blocks), m.ints("edges", edges)}, {y});
    const auto bytes = m.finish({x}, {y});
    EXPECT_VELLUM_ERROR(optimise(import_model(as_bytes(bytes)), {}), ErrorCode::corrupt_model, "'y'", what);
  };
  refused({2, 2}, {0, 0, 0, 0}, "blocks of 2 in 3", 38);
  refused({3, 0}, {0, 0, 0, 0}, "a block size is 0", 38);
  refused({3, 3}, {0, 0, 0, -3}, "a negative value of paddings", 38);
  refused({3, 3}, {0, 0}, "do not fit", 38);
  refused({1, 2}, {0, 0, 0, 0}, "no multiple", 37);
  refused({1, 1}, {2, 2, 0, 0}, "nothing is left", 37);
}

// As TensorFlow writes networks of images of any size: no result has a shape in the file. The image is
// padded, convolved, resized and normalised by its means.
TEST(TfliteShape, TensorsWithoutShapesGetThemFromTheirOperators) {
  TfliteModel m;
  const auto x = m.tensor("x", {1, 2, 2, 2});
  const auto nothing = [&](const char* name, tfl::TensorType type = tfl::TensorType::float32) {
    return m.tensor(name, {}, type);
  };
  const auto padded = nothing("padded"), summed = nothing("summed"),
             shape = nothing("shape", tfl::TensorType::int32), part = nothing("part", tfl::TensorType::int32),
             size = nothing("size", tfl::TensorType::int32), resized = nothing("resized"),
             mean = nothing("mean"), y = nothing("y");
  const auto pads = m.constant<int32_t>("pads", {4, 2}, {0, 0, 1, 0, 0, 0, 0, 0}, tfl::TensorType::int32);
  m.op(34, {x, pads}, {padded});
  m.op(3, {padded, m.floats("w", {1, 2, 1, 2}, {1, 1, 0, 2}), m.floats("b", {1}, {1})}, {summed},
       tfl::BuiltinOptions::Conv2DOptions,
       tfl::CreateConv2DOptions(m.builder(), tfl::Padding::valid, 1, 1).Union());
  m.op(77, {summed}, {shape});
  m.op(45, {shape, m.ints("begin", {1}), m.ints("end", {3}), m.ints("steps", {1})}, {part},
       tfl::BuiltinOptions::StridedSliceOptions, tfl::CreateStridedSliceOptions(m.builder()).Union());
  m.op(18, {part, m.ints("twice", {1, 2})}, {size});
  m.op(97, {summed, size}, {resized});
  m.op(40, {resized, m.ints("axes", {1, 2})}, {mean}, tfl::BuiltinOptions::ReducerOptions,
       tfl::CreateReducerOptions(m.builder(), true).Union());
  m.op(41, {resized, mean}, {y});
  const HostTensor image = HostTensor::f32({1, 2, 2, 2}, std::vector<float>{1, 0, 2, 0, 3, 1, 4, 0});
  const auto got = evaluate(optimise(import_model(as_bytes(m.finish({x}, {y}))), {}), std::vector{image});
  EXPECT_EQ(got[0].shape(), (Shape{1, 2, 4, 1}));
  EXPECT_EQ(got[0].to_floats(),
            (std::vector<float>{-1.25f, -1.25f, -1.25f, -1.25f, 1.75f, 1.75f, 0.75f, 0.75f}));
}

}  // namespace
}  // namespace vellum::test
