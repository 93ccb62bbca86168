// Matrices of integers of 4 and 8 bits stay integers in products and tables.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "passes/pass_harness.hpp"

namespace vellum::test {
namespace {

constexpr int64_t kPackedDepth = 64, kPackedColumns = 36;

// Integers from `low` to `high`.
HostTensor random_integers(DType dtype, const Shape& shape, int64_t low, int64_t high, uint32_t seed = 1) {
  std::vector<int64_t> values;
  for (const float value : random_tensor(shape, seed).to_floats())
    values.push_back(std::clamp(
        low + static_cast<int64_t>((value + 1) / 2 * static_cast<float>(high - low + 1)), low, high));
  return HostTensor::from<int64_t>(dtype, shape, values);
}

HostTensor small_scales(const Shape& shape) {
  std::vector<float> values = random_tensor(shape, 5).to_floats();
  for (float& value : values) value = 0.01f + 0.005f * value;
  return HostTensor::f32(shape, values);
}

struct IntegerWeights {
  DType dtype = DType::i8;
  int64_t low = -8, high = 7;
  Shape shape{kPackedDepth, kPackedColumns};
  Shape scales;  // empty: one
  int64_t axis = 0, block = 0;
  bool zero_points = false;
};

// Adds the matrix `w` in floats.
void add_integer_weights(OnnxModel& model, const IntegerWeights& w) {
  model.initializer("q", random_integers(w.dtype, w.shape, w.low, w.high))
      .initializer("s", small_scales(w.scales));
  std::vector<std::string> inputs{"q", "s"};
  if (w.zero_points) {
    model.initializer("z", random_integers(w.dtype, w.scales, w.low, w.high, 9));
    inputs.push_back("z");
  }
  model.node("DequantizeLinear", inputs, {"w"}, attributes({{"axis", w.axis}, {"block_size", w.block}}));
}

Graph with_packed(const OnnxModel& model) {
  return after(
      [&](Graph& graph) {
        graph = model.graph();
        infer_shapes_and_fold(graph, {}, {}, DequantizedMatrices::keep);
        fuse_packed_weights(graph);
      },
      model);
}

OnnxModel packed_product(const IntegerWeights& weights, int64_t rows = 2) {
  OnnxModel model(21);
  model.input("x", {rows, kPackedDepth});
  add_integer_weights(model, weights);
  model.node("MatMul", {"x", "w"}, {"y"}).output("y");
  return model;
}

const IntegerWeights kPackedBlocks{.scales = {kPackedDepth / 16, kPackedColumns}, .block = 16};

TEST(FusePackedWeights, ProductsReadIntegersOf4Bits) {
  for (const bool zero_points : {false, true})
    for (const bool is_signed : {true, false})
      for (IntegerWeights weights :
           {IntegerWeights{}, IntegerWeights{.scales = {kPackedColumns}, .axis = 1}, kPackedBlocks}) {
        weights.zero_points = zero_points;
        if (!is_signed) weights.dtype = DType::u8, weights.low = 0, weights.high = 15;
        const Graph graph = with_packed(packed_product(weights));
        EXPECT_EQ(types(graph), "BlockProduct");
        EXPECT_EQ(graph.values[graph.nodes[0].inputs[1]].type.shape,
                  (Shape{kPackedColumns, kPackedDepth / 2}));
      }
}

// Products with one scale for each column have other kernels for 8 bits, which have one zero point.
TEST(FusePackedWeights, ProductsOf8BitsReadBlocks) {
  IntegerWeights blocks = kPackedBlocks;
  blocks.low = -128, blocks.high = 127;
  EXPECT_EQ(types(with_packed(packed_product(blocks))), "BlockProduct");
  IntegerWeights columns{.low = -128, .high = 127, .scales = {kPackedColumns}, .axis = 1};
  EXPECT_EQ(types(with_packed(packed_product(columns))), "MatMul");
  columns.zero_points = true;
  EXPECT_EQ(types(with_packed(packed_product(columns))), "BlockProduct");
}

// Kernels of ordinary products find the integers in floats again.
TEST(FusePackedWeights, ProductsOfManyRowsStayOrdinary) {
  for (const IntegerWeights& weights : {IntegerWeights{}, kPackedBlocks}) {
    const Graph graph = with_packed(packed_product(weights, 3));
    EXPECT_EQ(types(graph), "MatMul");
    EXPECT_TRUE(graph.has_integer_weights);
  }
  // Longer blocks than kernels of ordinary products have.
  IntegerWeights long_blocks{.shape = {1024, kPackedColumns}, .scales = {2, kPackedColumns}, .block = 512};
  OnnxModel model(21);
  model.input("x", {3, 1024});
  add_integer_weights(model, long_blocks);
  model.node("MatMul", {"x", "w"}, {"y"}).output("y");
  EXPECT_EQ(types(with_packed(model)), "BlockProduct");
}

TEST(FusePackedWeights, OtherScalesBecomeFloats) {
  EXPECT_EQ(types(with_packed(packed_product({.scales = {kPackedDepth}, .axis = 0}))), "MatMul");
  EXPECT_EQ(types(with_packed(packed_product({.scales = {kPackedDepth, 3}, .axis = 1, .block = 12}))),
            "MatMul");
  EXPECT_EQ(types(with_packed(
                packed_product({.scales = {kPackedDepth / 8, kPackedColumns}, .axis = 0, .block = 8}))),
            "MatMul");
  OnnxModel rounded(21);
  rounded.input("x", {3, kPackedDepth}).initializer("step", HostTensor::f32({}, std::vector<float>{0.1f}));
  add_integer_weights(rounded, {});
  rounded.node("QuantizeLinear", {"x", "step"}, {"n"}).node("DequantizeLinear", {"n", "step"}, {"r"});
  rounded.node("MatMul", {"r", "w"}, {"y"}).output("y");
  EXPECT_EQ(types(with_packed(rounded)), "QuantizeLinear DequantizeLinear MatMul");
}

TEST(FusePackedWeights, ABiasIsAdded) {
  OnnxModel model = packed_product(kPackedBlocks);
  model.initializer("b", random_tensor({kPackedColumns}, 3)).node("Add", {"y", "b"}, {"sum"});
  model.node("Relu", {"sum"}, {"z"}).output("z");
  EXPECT_EQ(types(with_packed(model)), "BlockProduct Add Relu");  // y is an output
  OnnxModel inner(21);
  inner.input("x", {2, 1, kPackedDepth}).initializer("b", random_tensor({1, 1, kPackedColumns}, 3));
  add_integer_weights(inner, kPackedBlocks);
  inner.node("MatMul", {"x", "w"}, {"y"}).node("Add", {"b", "y"}, {"z"}).output("z");
  EXPECT_EQ(types(with_packed(inner)), "BlockProduct");
}

TEST(FusePackedWeights, GemmInEveryForm) {
  for (const bool a : {false, true})
    for (const bool b : {false, true}) {
      OnnxModel model(21);
      model.input("x", a ? Shape{kPackedDepth, 2} : Shape{2, kPackedDepth})
          .initializer("c", random_tensor({1, kPackedColumns}, 3));
      IntegerWeights weights = kPackedBlocks;
      if (b)
        weights = {.shape = {kPackedColumns, kPackedDepth},
                   .scales = {kPackedColumns, kPackedDepth / 16},
                   .axis = 1,
                   .block = 16};
      add_integer_weights(model, weights);
      model.node(
          "Gemm", {"x", "w", "c"}, {"y"},
          attributes({{"transA", int64_t{a}}, {"transB", int64_t{b}}, {"alpha", 0.5f}, {"beta", 2.0f}}));
      model.output("y");
      EXPECT_EQ(types(with_packed(model)), a ? "Transpose BlockProduct" : "BlockProduct");
    }
}

OnnxModel packed_table(const IntegerWeights& weights) {
  OnnxModel model(21);
  model.input("x", {2, 5}).node("Cast", {"x"}, {"i"}, attributes({{"to", int64_t{7}}}));  // to int64
  add_integer_weights(model, weights);
  model.node("Gather", {"w", "i"}, {"tokens"});
  return model;
}

TEST(FusePackedWeights, RowsOfTablesAreGatheredAsIntegers) {
  for (const int64_t columns : {int64_t{64}, int64_t{33}})
    for (const bool zero_points : {false, true})
      for (const int64_t high : {7, 127})
        for (const IntegerWeights& form :
             {IntegerWeights{}, IntegerWeights{.scales = {kPackedColumns}},
              IntegerWeights{.scales = {kPackedColumns, (columns + 19) / 20}, .block = 20}}) {
          IntegerWeights weights = form;
          weights.shape = {kPackedColumns, columns};
          weights.axis = form.block == 0 ? 0 : 1;
          weights.high = high, weights.low = -high - 1;
          weights.zero_points = zero_points;
          OnnxModel model = packed_table(weights);
          model.output("tokens");
          EXPECT_EQ(types(with_packed(model)), "Cast BlockGather") << columns << " columns";
        }
  OnnxModel columns =
      packed_table({.shape = {kPackedColumns, kPackedDepth}, .scales = {kPackedDepth}, .axis = 1});
  columns.output("tokens");
  EXPECT_EQ(types(with_packed(columns)), "Cast Gather");
}

// The embedding of a language model that is its last layer, too. Blocks would not divide rows of 224.
TEST(FusePackedWeights, AProductReadsTheIntegersOfATable) {
  for (const int64_t high : {7, 127})
    for (const int64_t depth : {kPackedDepth, int64_t{224}}) {
      OnnxModel model = packed_table(
          {.low = -high - 1, .high = high, .shape = {kPackedColumns, depth}, .scales = {kPackedColumns}});
      model.node("Transpose", {"w"}, {"turned"}, attributes({{"perm", Ints{1, 0}}}));
      model.node("MatMul", {"tokens", "turned"}, {"y"}).output("y");
      const Graph graph = with_packed(model);
      EXPECT_EQ(types(graph), "Cast BlockGather BlockProduct");
      EXPECT_EQ(graph.nodes[1].inputs[0], graph.nodes[2].inputs[1]);
      EXPECT_EQ(graph.values[graph.nodes[2].inputs[1]].type.shape,
                (Shape{kPackedColumns, depth * (high == 7 ? 4 : 8) / 8}));
    }
}

}  // namespace
}  // namespace vellum::test
