// TFLite files whose objects are shared, so that a small file would become a large graph: each is refused, or
// read in a time that grows with the graph.
#include <gtest/gtest.h>

#include <limits>

#include "import/import.hpp"
#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/tflite_builder.hpp"

namespace vellum::test {
namespace {

constexpr int kConcatCode = 2, kReluCode = 19;
constexpr size_t kMany = 50000;

// y = relu(x), with what the caller adds.
struct Base {
  Base() { m.op(kReluCode, {x}, {y}); }

  std::string finish() { return m.finish({x}, {y}); }
  void expect_refused() {
    EXPECT_VELLUM_ERROR(import_model(as_bytes(finish())), ErrorCode::unsupported, "many times the file");
  }

  TfliteModel m;
  int32_t x = m.tensor("x", {4}), y = m.tensor("y", {4});
};

TEST(TfliteSharing, TensorsOfOneNameAreNumbered) {
  Base base;
  base.m.tensor("t", {4});
  base.m.repeat_tensor(kMany);
  EXPECT_EQ(import_model(as_bytes(base.finish())).nodes.size(), 1u);
}

TEST(TfliteSharing, ManyTensorsOfOneBufferAreRefused) {
  Base base;
  base.m.floats("c", {1 << 14}, std::vector<float>(1 << 14));
  base.m.repeat_tensor(kMany);
  base.expect_refused();
}

TEST(TfliteSharing, ManyTensorsOfOneLongNameAreRefused) {
  Base base;
  base.m.tensor(std::string(1 << 16, 'n'), {4});
  base.m.repeat_tensor(kMany);
  base.expect_refused();
}

TEST(TfliteSharing, ManyOperatorsOfOneListOfInputsAreRefused) {
  Base base;
  const auto z = base.m.tensor("z", {4});
  base.m.op(kConcatCode, std::vector<int32_t>(10000, base.x), {z}, tfl::BuiltinOptions::ConcatenationOptions,
            tfl::CreateConcatenationOptions(base.m.builder()).Union());
  base.m.repeat_operator(kMany);
  base.expect_refused();
}

TEST(TfliteSharing, ManyInitialValuesOfOneVariableAreRefused) {
  Base base;
  call_once(base.m, 1);
  base.m.repeat_operator(1000);
  base.m.end_graph({base.x}, {base.y});
  assign_variable(base.m, variable(base.m, "v"), base.m.floats("c", {1 << 14}, std::vector<float>(1 << 14)));
  base.m.repeat_operator(1000);
  EXPECT_VELLUM_ERROR(import_model(as_bytes(base.m.finish({}, {}))), ErrorCode::unsupported,
                      "many times the file");
}

TEST(TfliteSharing, AVariableOfGigabytesIsRefused) {
  TfliteModel m;
  const auto x = m.tensor("x", {1 << 30});
  read_variable(m, variable(m, "v"), x);
  EXPECT_VELLUM_ERROR(import_model(as_bytes(m.finish({}, {x}))), ErrorCode::unsupported,
                      "many times the file");
}

TEST(TfliteSharing, AVariableOfALongNameIsRefused) {
  TfliteModel m;
  const auto x = m.tensor("x", {2});
  read_variable(m, variable(m, std::string(1 << 16, 'v').c_str()), x);
  EXPECT_VELLUM_ERROR(import_model(as_bytes(m.finish({}, {x}))), ErrorCode::unsupported, "65536 bytes");
}

TEST(TfliteSharing, ManySignaturesOfOneTensorAreRead) {
  Base base;
  TfliteModel::Names inputs;
  for (size_t i = 0; i < kMany; ++i) inputs.emplace_back("name" + std::to_string(i), base.x);
  base.m.signature("s", 0, inputs, {{"out", base.y}});
  const Graph graph = import_model(as_bytes(base.finish()));
  EXPECT_EQ(graph.values[graph.inputs[0]].signature_name, "name" + std::to_string(kMany - 1));
}

// The walk over its dense dimensions would not end.
TEST(TfliteSharing, ASparseTensorOfNoElementsIsRead) {
  Base base;
  constexpr int32_t kLarge = std::numeric_limits<int32_t>::max();
  auto& builder = base.m.builder();
  std::vector<flatbuffers::Offset<tfl::Dimension>> dimensions;
  for (const int32_t size : {kLarge, kLarge, 0})
    dimensions.push_back(tfl::CreateDimension(builder, tfl::DimensionFormat::dense, size));
  const std::vector<int32_t> order{0, 1, 2};
  const auto sparsity = tfl::CreateSparsityDirect(builder, &order, nullptr, &dimensions);
  base.m.constant<uint8_t>("c", {kLarge, kLarge, 0}, {1}, tfl::TensorType::uint8, sparsity);
  EXPECT_VELLUM_ERROR(import_model(as_bytes(base.finish())), ErrorCode::corrupt_model, "more elements");
}

TEST(TfliteSharing, AShapeOfThousandsOfDimensionsIsRefused) {
  for (const bool by_input : {true, false}) {
    TfliteModel m;
    const auto x = m.tensor("x", {1}), y = m.tensor("y", {1});
    const std::vector<int32_t> shape(1000, 1);
    if (by_input)
      m.op(22, {x, m.ints("shape", shape)}, {y});
    else
      m.op(22, {x}, {y}, tfl::BuiltinOptions::ReshapeOptions,
           tfl::CreateReshapeOptionsDirect(m.builder(), &shape).Union());
    EXPECT_VELLUM_ERROR(import_model(as_bytes(m.finish({x}, {y}))), ErrorCode::corrupt_model,
                        "1000 dimensions");
  }
}

}  // namespace
}  // namespace vellum::test
