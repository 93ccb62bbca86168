// Quantised TFLite tensors, whose values are rounded to those that their integers represent, as in an integer
// runtime. The range clips them, too: older converters leave out a ReLU or ReLU6 that the range implies.
// DEQUANTIZE reads what an operator computes, so that it is no output that is quantised itself. The results
// are those of the same operator with a wide range, clipped here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "import/import.hpp"
#include "passes/passes.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"
#include "support/tflite_builder.hpp"

namespace vellum::test {
namespace {

using Options = tfl::BuiltinOptions;
using Ids = std::vector<int32_t>;

struct Grid {
  float scale = 1.0f;
  int64_t zero = 0;
};

// uint8, or int8.
struct Scheme {
  tfl::TensorType type;
  DType dtype;
  int64_t least;
};
const Scheme kUnsigned{tfl::TensorType::uint8, DType::u8, 0}, kSigned{tfl::TensorType::int8, DType::i8, -128};

// 256 steps from about `low` to about `high`, with 0 among them.
Grid grid_of(const Scheme& scheme, float low, float high) {
  const float scale = (high - low) / 255.0f;
  return {scale, scheme.least + std::lround(-low / scale)};
}

// How an operator computes the tensor y from x (1, 4, 5, 4), of -3 to 3, and z like it.
struct RangeCase {
  const char* name;
  Ids shape;   // of y
  float room;  // that contains its results, on both sides of 0
  std::function<void(TfliteModel& m, const Scheme& scheme, const Ids& xz, int32_t y)> emit;
  int outputs = 1;
};

int32_t add_weights(TfliteModel& m, const Scheme& scheme, const Ids& shape) {
  int64_t count = 1;
  for (const int32_t dim : shape) count *= dim;
  std::vector<int8_t> stored;
  for (const float value : random_tensor({count}, 5, -100.0f, 100.0f).to_floats())
    stored.push_back(static_cast<int8_t>(value));
  m.quantise_next({0.01f}, {scheme.least + 128});
  if (scheme.dtype == DType::i8) return m.constant<int8_t>("w", shape, stored, scheme.type);
  std::vector<uint8_t> unsigned_ones;
  for (const int8_t value : stored) unsigned_ones.push_back(static_cast<uint8_t>(value + 128));
  return m.constant<uint8_t>("w", shape, unsigned_ones, scheme.type);
}

const std::vector<RangeCase>& range_cases() {
  constexpr auto kSame = tfl::Padding::same;
  static const std::vector<RangeCase> list{
      {"conv",
       {1, 4, 5, 3},
       60,
       [](auto& m, auto& s, auto& xz, int32_t y) {
         m.op(3, {xz[0], add_weights(m, s, {3, 3, 3, 4})}, {y}, Options::Conv2DOptions,
              tfl::CreateConv2DOptions(m.builder(), kSame, 1, 1).Union());
       }},
      {"conv_relu",
       {1, 4, 5, 3},
       60,
       [](auto& m, auto& s, auto& xz, int32_t y) {
         m.op(3, {xz[0], add_weights(m, s, {3, 3, 3, 4})}, {y}, Options::Conv2DOptions,
              tfl::CreateConv2DOptions(m.builder(), kSame, 1, 1, tfl::FusedActivation::relu).Union());
       }},
      {"depthwise",
       {1, 4, 5, 4},
       30,
       [](auto& m, auto& s, auto& xz, int32_t y) {
         m.op(4, {xz[0], add_weights(m, s, {1, 3, 3, 4})}, {y}, Options::DepthwiseConv2DOptions,
              tfl::CreateDepthwiseConv2DOptions(m.builder(), kSame, 1, 1).Union());
       }},
      {"fully_connected",
       {1, 6},
       120,
       [](auto& m, auto& s, auto& xz, int32_t y) {
         m.op(9, {xz[0], add_weights(m, s, {6, 80})}, {y}, Options::FullyConnectedOptions,
              tfl::CreateFullyConnectedOptions(m.builder()).Union());
       }},
      {"add", {1, 4, 5, 4}, 8, [](auto& m, auto&, auto& xz, int32_t y) { m.op(0, xz, {y}); }},
      {"sub", {1, 4, 5, 4}, 8, [](auto& m, auto&, auto& xz, int32_t y) { m.op(41, xz, {y}); }},
      {"mul", {1, 4, 5, 4}, 12, [](auto& m, auto&, auto& xz, int32_t y) { m.op(18, xz, {y}); }},
      {"maximum", {1, 4, 5, 4}, 4, [](auto& m, auto&, auto& xz, int32_t y) { m.op(55, xz, {y}); }},
      {"mean",
       {1, 4},
       4,
       [](auto& m, auto&, auto& xz, int32_t y) {
         m.op(40, {xz[0], m.ints("axes", {1, 2})}, {y});
       }},
      {"average_pool",
       {1, 4, 5, 4},
       4,
       [](auto& m, auto&, auto& xz, int32_t y) {
         m.op(1, {xz[0]}, {y}, Options::Pool2DOptions,
              tfl::CreatePool2DOptions(m.builder(), kSame, 1, 1, 2, 2).Union());
       }},
      {"max_pool",
       {1, 4, 5, 4},
       4,
       [](auto& m, auto&, auto& xz, int32_t y) {
         m.op(17, {xz[0]}, {y}, Options::Pool2DOptions,
              tfl::CreatePool2DOptions(m.builder(), kSame, 1, 1, 2, 2).Union());
       }},
      {"resize",
       {1, 8, 10, 4},
       4,
       [](auto& m, auto&, auto& xz, int32_t y) {
         m.op(23, {xz[0], m.ints("size", {8, 10})}, {y});
       }},
      {"concatenation",
       {1, 4, 5, 8},
       4,
       [](auto& m, auto&, auto& xz, int32_t y) {
         m.op(2, xz, {y}, Options::ConcatenationOptions,
              tfl::CreateConcatenationOptions(m.builder(), 3).Union());
       }},
      {"reshape",
       {4, 20},
       4,
       [](auto& m, auto&, auto& xz, int32_t y) {
         m.op(22, {xz[0], m.ints("shape", {4, 20})}, {y});
       }},
      {"leaky_relu",
       {1, 4, 5, 4},
       4,
       [](auto& m, auto&, auto& xz, int32_t y) {
         m.op(98, {xz[0]}, {y}, Options::LeakyReluOptions,
              tfl::CreateLeakyReluOptions(m.builder(), 0.5f).Union());
       }},
      {"hard_swish", {1, 4, 5, 4}, 4, [](auto& m, auto&, auto& xz, int32_t y) { m.op(117, {xz[0]}, {y}); }},
      {"quantize", {1, 4, 5, 4}, 4, [](auto& m, auto&, auto& xz, int32_t y) { m.op(114, {xz[0]}, {y}); }}};
  return list;
}

Graph graph_of(const RangeCase& which, const Scheme& scheme, const Grid& grid) {
  TfliteModel m;
  Ids xz;
  const Grid x = grid_of(scheme, -3.0f, 3.0f);
  for (const char* name : {"x", "z"}) {
    m.quantise_next({x.scale}, {x.zero});
    xz.push_back(m.tensor(name, {1, 4, 5, 4}, scheme.type));
  }
  m.quantise_next({grid.scale}, {grid.zero});
  const int32_t y = m.tensor("y", which.shape, scheme.type), real = m.tensor("real", which.shape);
  which.emit(m, scheme, xz, y);
  m.op(6, {y}, {real});
  return optimise(import_model(as_bytes(m.finish(xz, {real}))), {});
}

std::vector<float> results(const Graph& graph, const Scheme& scheme) {
  std::vector<HostTensor> inputs;
  for (uint32_t seed = 0; seed < 2; ++seed) {
    HostTensor stored = random_tensor({1, 4, 5, 4}, seed, -0.49f, 255.49f);
    for (float& value : stored.mutable_as<float>())
      value = std::nearbyint(value) + static_cast<float>(scheme.least);
    inputs.push_back(cast(stored, scheme.dtype));
  }
  return evaluate(graph, inputs)[0].to_floats();
}

TEST(TfliteRange, RoundsAndClips) {
  int cut = 0;
  for (const Scheme& scheme : {kUnsigned, kSigned}) {
    for (const RangeCase& which : range_cases()) {
      const Grid wide_grid = grid_of(scheme, -which.room, which.room);
      const auto wide = results(graph_of(which, scheme, wide_grid), scheme);
      const float low = *std::min_element(wide.begin(), wide.end());
      const float high = *std::max_element(wide.begin(), wide.end());
      for (const auto& [from, to] :
           {std::pair{low, high / 3}, {std::min(0.0f, low / 3), high}, {std::min(0.0f, low / 3), high / 3}}) {
        SCOPED_TRACE(std::string(which.name) + " of " + std::string(name(scheme.dtype)) + ", " +
                     std::to_string(from) + " to " + std::to_string(to));
        const Grid grid = grid_of(scheme, std::min(from, 0.0f), to);
        const float least = static_cast<float>(scheme.least - grid.zero) * grid.scale;
        const float most = least + 255 * grid.scale;
        const auto clipped = results(graph_of(which, scheme, grid), scheme);
        ASSERT_EQ(clipped.size(), wide.size());
        for (size_t i = 0; i < wide.size(); ++i) {
          EXPECT_NEAR(clipped[i], std::clamp(wide[i], least, most), 0.52f * (grid.scale + wide_grid.scale));
          const float steps = clipped[i] / grid.scale;
          EXPECT_NEAR(steps, std::nearbyint(steps), 1e-3f);
          cut += wide[i] < least - 2 * grid.scale || wide[i] > most + 2 * grid.scale;
        }
      }
    }
  }
  EXPECT_GT(cut, 1000);
}

// Rounding is a part of what computes the tensor, where a kernel rounds its results. What only moves elements
// of the same grid needs none.
TEST(TfliteRange, RoundsWithoutAnOperator) {
  for (const RangeCase& which : range_cases()) {
    const std::string name = which.name;
    const bool moves = name == "max_pool" || name == "concatenation" || name == "reshape";
    const Grid grid = moves ? grid_of(kSigned, -3.0f, 3.0f) : grid_of(kSigned, 0.0f, which.room / 20);
    size_t roundings = 0;
    for (const Node& node : graph_of(which, kSigned, grid).nodes)
      roundings += node.op->type() == "FakeQuantize";
    const bool apart = name == "mean" || name == "resize" || name == "maximum";
    EXPECT_EQ(roundings, apart ? 1u : 0u) << name;
  }
}

// A layer's sum is rounded before the residual is added, in one operator.
TEST(TfliteRange, RoundsASumBeforeItsResidual) {
  TfliteModel m;
  const Grid x = grid_of(kSigned, -3.0f, 3.0f), narrow = grid_of(kSigned, -1.0f, 1.0f);
  m.quantise_next({x.scale}, {x.zero});
  const int32_t given = m.tensor("x", {1, 4, 5, 4}, kSigned.type);
  m.quantise_next({narrow.scale}, {narrow.zero});
  const int32_t sum = m.tensor("sum", {1, 4, 5, 4}, kSigned.type);
  m.quantise_next({x.scale}, {x.zero});
  const int32_t y = m.tensor("y", {1, 4, 5, 4}, kSigned.type), real = m.tensor("real", {1, 4, 5, 4});
  m.op(3, {given, add_weights(m, kSigned, {4, 3, 3, 4})}, {sum}, Options::Conv2DOptions,
       tfl::CreateConv2DOptions(m.builder(), tfl::Padding::same, 1, 1).Union());
  m.op(0, {sum, given}, {y});
  m.op(6, {y}, {real});
  const std::string bytes = m.finish({given}, {real});
  const Graph apart = import_model(as_bytes(bytes)), fused = optimise(apart, {});
  size_t additions = 0;
  for (const Node& node : fused.nodes)
    additions += node.op->type() == "Add" || node.op->type() == "FakeQuantize";
  EXPECT_EQ(additions, 0u);
  const HostTensor stored = cast(random_tensor({1, 4, 5, 4}, 7, -128.0f, 127.0f), DType::i8);
  const auto want =
      evaluate(optimise(apart, {}, std::vector<std::string>{"fuse_residual"}), std::array{stored});
  const auto got = evaluate(fused, std::array{stored});
  const auto a = got[0].to_floats(), b = want[0].to_floats();
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5f);
}

// QUANTIZE of a constant: LiteRT stores the nearest integers.
TEST(TfliteRange, ClipsConstants) {
  TfliteModel m;
  const int32_t x = m.tensor("x", {1, 3}), constant = m.floats("c", {1, 3}, {-9, 0.3f, 9});
  m.quantise_next({0.5f}, {0});
  const int32_t stored = m.tensor("stored", {1, 3}, tfl::TensorType::uint8);
  const int32_t real = m.tensor("real", {1, 3}), y = m.tensor("y", {1, 3});
  m.op(114, {constant}, {stored});
  m.op(6, {stored}, {real});
  m.op(0, {x, real}, {y});
  const auto graph = optimise(import_model(as_bytes(m.finish({x}, {y}))), {});
  const auto got = evaluate(graph, std::array{HostTensor::f32({1, 3}, std::array{1.0f, 1.0f, 1.0f})});
  EXPECT_EQ(got[0].to_floats(), (std::vector<float>{1.0f, 1.5f, 10.0f}));
}

}  // namespace
}  // namespace vellum::test
