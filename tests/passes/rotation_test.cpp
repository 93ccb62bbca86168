// Rotary positions become one operator, however they are written.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "graph/operators/matmul/rotate_channels.hpp"
#include "passes/pass_harness.hpp"

namespace vellum::test {
namespace {

using Lists = std::vector<int64_t>;

const RotateChannels* rotation_of(const Graph& graph) {
  for (const Node& node : graph.nodes)
    if (const auto* op = dynamic_cast<const RotateChannels*>(node.op.get())) return op;
  return nullptr;
}

class Builder {
 public:
  OnnxModel model;

  explicit Builder(const Shape& x) { model.input("x", x); }

  std::string node(const std::string& type, const std::vector<std::string>& inputs,
                   const Attributes& with = {}) {
    const std::string name = "v" + std::to_string(count_++);
    model.node(type, inputs, {name}, with);
    return name;
  }
  std::string constant(const HostTensor& tensor) {
    const std::string name = "c" + std::to_string(count_++);
    model.initializer(name, tensor);
    return name;
  }
  std::string ints(Lists values) {
    const auto count = static_cast<int64_t>(values.size());
    return constant(HostTensor::i64({count}, values));
  }
  std::string slice(const std::string& x, int64_t axis, int64_t begin, int64_t end, int64_t step = 1) {
    return node("Slice", {x, ints({begin}), ints({end}), ints({axis}), ints({step})});
  }
  std::string concat(const std::vector<std::string>& parts, int64_t axis) {
    return node("Concat", parts, attributes({{"axis", axis}}));
  }
  std::string table(const Shape& shape, uint32_t seed) {
    return constant(random_tensor(shape, seed, 0.5f, 1.0f));
  }

  // x * cos + rotated * sin
  std::string turned(const std::string& x, const std::string& rotated, const Shape& table_shape) {
    return node("Add",
                {node("Mul", {x, table(table_shape, 1)}), node("Mul", {table(table_shape, 2), rotated})});
  }

 private:
  int count_ = 0;
};

constexpr int64_t kEnd = 1 << 20;

// (-second half, first half) of the channels.
std::string rotated_halves(Builder& b, const std::string& x, int64_t channels) {
  return b.concat({b.node("Neg", {b.slice(x, 3, channels / 2, kEnd)}), b.slice(x, 3, 0, channels / 2)}, 3);
}

TEST(FuseRotation, HalvesOfChannels) {
  Builder b({2, 3, 5, 8});
  const std::string y = b.turned("x", rotated_halves(b, "x", 8), {5, 8});
  b.model.output(y);
  const Graph graph = after(fuse_rotation, b.model);
  ASSERT_EQ(types(graph), "RotateChannels");
  EXPECT_EQ(rotation_of(graph)->partner, (Ints{4, 5, 6, 7, 0, 1, 2, 3}));
}

// stack([-x[1::2], x[::2]], -1) of heads that are sliced off a product, behind a token that stays.
TEST(FuseRotation, NeighboursBehindATokenThatKeepsItsPlace) {
  Builder b({2, 6, 36});
  const std::string heads = b.node("Transpose", {b.node("Reshape", {"x", b.ints({2, 6, 3, 3, 4})})},
                                   attributes({{"perm", Lists{2, 0, 3, 1, 4}}}));
  const std::string k = b.node("Gather", {heads, b.constant(HostTensor::i64({}, Lists{1}))},
                               attributes({{"axis", int64_t{0}}}));
  const std::string rest = b.slice(k, 2, 1, kEnd);
  const auto last = [&](const std::string& x) { return b.node("Reshape", {x, b.ints({2, 3, 5, 2, 1})}); };
  const std::string pairs =
      b.concat({last(b.node("Neg", {b.slice(rest, 3, 1, kEnd, 2)})), last(b.slice(rest, 3, 0, kEnd, 2))}, 4);
  const std::string rotated = b.node("Reshape", {pairs, b.ints({2, 3, 5, 4})});
  b.model.output(b.concat({b.slice(k, 2, 0, 1), b.turned(rest, rotated, {5, 4})}, 2));
  const Graph graph = after(fuse_rotation, b.model);
  ASSERT_EQ(types(graph), "RotateChannels");
  EXPECT_EQ(rotation_of(graph)->partner, (Ints{1, 0, 3, 2}));
  EXPECT_EQ(rotation_of(graph)->view.offset, 12);
  EXPECT_EQ(graph.values[graph.nodes[0].inputs[1]].type.shape, (Shape{2, 1, 6, 4}));
}

TEST(FuseRotation, RealAndImaginaryPartsOfRotaryEmbedding) {
  for (const int64_t interleaved : {0, 1}) {
    OnnxModel model(23);
    model.input("x", {2, 3, 5, 8}).initializer("cos", random_tensor({5, 4}, 1));
    model.initializer("sin", random_tensor({5, 4}, 2))
        .initializer("at", HostTensor::i64({2, 5}, Lists{0, 1, 2, 3, 4, 0, 1, 2, 3, 4}));
    model
        .node("RotaryEmbedding", {"x", "cos", "sin", "at"}, {"y"}, attributes({{"interleaved", interleaved}}))
        .output("y");
    const Graph graph = after(
        [](Graph& g) {
          decompose(g);
          fuse_rotation(g);
        },
        model);
    EXPECT_EQ(types(graph), "RotateChannels") << interleaved;
  }
}

TEST(FuseRotation, TablesOfHeadsBesideTokens) {
  Builder b({2, 5, 3, 8});  // tokens before heads
  b.model.output(b.turned("x", rotated_halves(b, "x", 8), {5, 1, 8}));
  EXPECT_EQ(types(after(fuse_rotation, b.model)), "RotateChannels");
}

// Queries and keys share the cosines and sines of positions that only a run knows.
TEST(FuseRotation, TablesThatAreComputed) {
  Builder b({1, 3, 5, 8});
  b.model.input("k", {1, 2, 5, 8}).input("angles", {1, 1, 5, 8});
  const std::string cosines = b.node("Cos", {"angles"}), sines = b.node("Sin", {"angles"});
  for (const std::string x : {"x", "k"})
    b.model.output(
        b.node("Add", {b.node("Mul", {x, cosines}), b.node("Mul", {rotated_halves(b, x, 8), sines})}));
  EXPECT_EQ(types(after(fuse_rotation, b.model)), "Cos Sin Mul Concat RotateChannels RotateChannels");
  // Cosines that differ from image to image have no table.
  Builder other({2, 3, 5, 8});
  other.model.input("cosines", {2, 1, 5, 8}).input("sines", {2, 1, 5, 8});
  other.model.output(other.node("Add", {other.node("Mul", {"x", "cosines"}),
                                        other.node("Mul", {rotated_halves(other, "x", 8), "sines"})}));
  EXPECT_EQ(types(after(fuse_rotation, other.model)).find("RotateChannels"), std::string::npos);
}

// RotaryEmbedding of cosines that only a run knows: all heads or some channels of each, before the tokens or
// after them. Two nodes share one table.
TEST(FuseRotation, PairsOfRotaryEmbeddingWithComputedTables) {
  for (const int64_t rotated : {8, 4})
    for (const bool heads_first : {true, false}) {
      OnnxModel model(23);
      const Shape x = heads_first ? Shape{1, 3, 5, 8} : Shape{1, 5, 24};
      model.input("x", x).input("k", x).input("angles", {1, 5, rotated / 2});
      model.node("Cos", {"angles"}, {"cosines"}).node("Sin", {"angles"}, {"sines"});
      for (const std::string name : {"x", "k"})
        model
            .node("RotaryEmbedding", {name, "cosines", "sines"}, {name + ".y"},
                  attributes({{"num_heads", int64_t{3}}, {"rotary_embedding_dim", rotated}}))
            .output(name + ".y");
      const Graph plain = after(decompose, model), graph = after(
                                                       [](Graph&g) {
                                                         decompose(g);
                                                         fuse_rotation(g);
                                                       },
                                                       model);
      const std::string all = types(graph);
      size_t rotations = 0, joins = 0;
      for (const Node& node : graph.nodes) {
        rotations += node.op->type() == "RotateChannels";
        joins += node.op->type() == "Concat";
      }
      EXPECT_EQ(rotations, 2u) << all;
      EXPECT_EQ(joins, 3u) << all;
      EXPECT_EQ(all.find("Slice"), std::string::npos) << all;
      const std::vector<HostTensor> inputs{random_tensor(x, 1), random_tensor(x, 2),
                                           random_tensor({1, 5, rotated / 2}, 3, -3.0f, 3.0f)};
      const auto expected = evaluate(plain, inputs), outputs = evaluate(graph, inputs);
      for (const size_t i : {0u, 1u}) EXPECT_TRUE(close(outputs[i], expected[i], 1e-6));
    }
}

// Each batch has positions of its own, or one half has other sines than the other.
TEST(FuseRotation, PairsOfTwoTablesStay) {
  OnnxModel batches(23);
  batches.input("x", {2, 3, 5, 8}).input("cosines", {2, 5, 4}).input("sines", {2, 5, 4});
  batches.node("RotaryEmbedding", {"x", "cosines", "sines"}, {"y"}).output("y");
  const auto decomposed = [](Graph& g) {
    decompose(g);
    fuse_rotation(g);
  };
  EXPECT_EQ(rotation_of(after(decomposed, batches)), nullptr);
  Builder b({1, 3, 5, 8});
  for (const std::string name : {"cosines", "sines", "other"}) b.model.input(name, {1, 1, 5, 4});
  const std::string first = b.slice("x", 3, 0, 4), second = b.slice("x", 3, 4, kEnd);
  const auto pair = [&](const char* kind, const std::string& left, const std::string& right) {
    return b.node(kind, {b.node("Mul", {left, first}), b.node("Mul", {right, second})});
  };
  b.model.output(b.concat({pair("Sub", "cosines", "sines"), pair("Add", "other", "cosines")}, 3));
  EXPECT_EQ(rotation_of(after(fuse_rotation, b.model)), nullptr);
}

// The rotation of GPT-J and CodeGen, as exported: neighbours are pairs, cosines and sines have each value
// twice, and the channels of a head from `rotated` on stay. `swapped`: an exchange that makes it no rotation.
struct NeighbourForm {
  int64_t tokens = 5, rotated = 4;
  enum class Swap : uint8_t { none, parts, rest } swapped = Swap::none;
};

std::string rotated_neighbours(Builder& b, const std::string& x, bool swaps) {
  const std::string even = b.slice(x, 3, swaps ? 1 : 0, kEnd, 2), odd = b.slice(x, 3, swaps ? 0 : 1, kEnd, 2);
  const std::string last = b.ints({-1});
  const std::string pairs =
      b.concat({b.node("Unsqueeze", {b.node("Neg", {odd}), last}), b.node("Unsqueeze", {even, last})}, -1);
  return b.node("Reshape", {pairs, b.ints({0, 0, 0, -1})});
}

OnnxModel neighbours(const NeighbourForm& form) {
  using Swap = NeighbourForm::Swap;
  Builder b({1, form.tokens, 3, 24});
  b.model.input("angles", {1, form.tokens, form.rotated / 2});
  const auto twice = [&](const std::string& values) {
    const std::string wide =
        b.node("Tile", {b.node("Unsqueeze", {values, b.ints({2, 4})}), b.ints({1, 1, 1, 1, 2})});
    return b.node("Reshape", {wide, b.ints({1, form.tokens, 1, form.rotated})});
  };
  const std::string cosines = twice(b.node("Cos", {"angles"})), sines = twice(b.node("Sin", {"angles"}));
  for (const int64_t first : {0, 8}) {  // queries and keys of one product
    const std::string heads = b.slice("x", 3, first, first + 8), x = b.slice(heads, 3, 0, form.rotated);
    const std::string other = rotated_neighbours(b, x, form.swapped == Swap::parts);
    const std::string sum = b.node("Add", {b.node("Mul", {x, cosines}), b.node("Mul", {other, sines})});
    const int64_t rest = form.swapped == Swap::rest ? form.rotated - 1 : form.rotated;
    b.model.output(form.rotated == 8 ? sum
                                     : b.concat({sum, b.slice(heads, 3, rest, rest + 8 - form.rotated)}, -1));
  }
  return std::move(b.model);
}

size_t rotations_in(const Graph& graph) {
  return static_cast<size_t>(std::ranges::count_if(
      graph.nodes, [](const Node& node) { return node.op->type() == "RotateChannels"; }));
}

TEST(FuseRotation, NeighboursOfAPartOfEachHeadWithComputedTables) {
  for (const int64_t rotated : {4, 8})
    for (const int64_t tokens : {1, 5}) {
      const OnnxModel model = neighbours({tokens, rotated});
      const Graph graph = after(fuse_rotation, model);
      EXPECT_EQ(rotations_in(graph), 2u) << types(graph);
      EXPECT_EQ(types(graph).find("Neg"), std::string::npos) << types(graph);
      EXPECT_EQ(types(graph).find("Add"), std::string::npos) << types(graph);
      const std::vector<HostTensor> inputs{random_tensor({1, tokens, 3, 24}, 1),
                                           random_tensor({1, tokens, rotated / 2}, 2, -3.0f, 3.0f)};
      const auto expected = evaluate(model.graph(), inputs), outputs = evaluate(graph, inputs);
      for (const size_t i : {0u, 1u}) EXPECT_TRUE(same_bits(outputs[i], expected[i])) << i;
    }
}

TEST(FuseRotation, NeighboursThatAreNoRotationStay) {
  using Swap = NeighbourForm::Swap;
  EXPECT_EQ(rotations_in(after(fuse_rotation, neighbours({5, 4, Swap::parts}))), 0u);
  // The sums alone rotate here: what is joined to them are not the channels that follow.
  const OnnxModel model = neighbours({5, 4, Swap::rest});
  const Graph graph = after(fuse_rotation, model);
  const std::vector<HostTensor> inputs{random_tensor({1, 5, 3, 24}, 1), random_tensor({1, 5, 2}, 2)};
  const auto expected = evaluate(model.graph(), inputs), outputs = evaluate(graph, inputs);
  for (const size_t i : {0u, 1u}) EXPECT_TRUE(same_bits(outputs[i], expected[i])) << i;
}

// Halves of a part of each head, as Phi and GPT-NeoX rotate.
TEST(FuseRotation, HalvesOfAPartOfEachHeadWithComputedTables) {
  Builder b({1, 3, 5, 16});
  b.model.input("angles", {1, 1, 5, 8});
  const std::string x = b.slice("x", 3, 0, 8);
  const std::string sum =
      b.node("Add", {b.node("Mul", {x, b.node("Cos", {"angles"})}),
                     b.node("Mul", {rotated_halves(b, x, 8), b.node("Sin", {"angles"})})});
  b.model.output(b.concat({sum, b.slice("x", 3, 8, kEnd)}, 3));
  const Graph graph = after(fuse_rotation, b.model);
  EXPECT_EQ(types(graph), "Cos Sin Mul Concat Concat Concat RotateChannels");
  const std::vector<HostTensor> inputs{random_tensor({1, 3, 5, 16}, 1),
                                       random_tensor({1, 1, 5, 8}, 2, -3.0f, 3.0f)};
  EXPECT_TRUE(same_bits(evaluate(graph, inputs)[0], evaluate(b.model.graph(), inputs)[0]));
}

TEST(FuseRotation, WhatIsNoRotationStays) {
  Builder reversed({1, 2, 4, 8});  // tokens in another order
  reversed.model.output(reversed.turned("x", reversed.slice("x", 2, -1, -kEnd, -1), {4, 8}));
  EXPECT_EQ(rotation_of(after(fuse_rotation, reversed.model)), nullptr);
  Builder scaled({1, 2, 4, 8});
  scaled.model.output(scaled.turned("x", "x", {4, 8}));
  EXPECT_EQ(rotation_of(after(fuse_rotation, scaled.model)), nullptr);
  Builder odd({1, 2, 4, 6});  // no multiple of four
  odd.model.output(odd.turned("x", rotated_halves(odd, "x", 6), {4, 6}));
  EXPECT_EQ(rotation_of(after(fuse_rotation, odd.model)), nullptr);
  Builder images({2, 2, 4, 8});  // each image has tables of its own
  images.model.output(images.turned("x", rotated_halves(images, "x", 8), {2, 1, 4, 8}));
  EXPECT_EQ(rotation_of(after(fuse_rotation, images.model)), nullptr);
}

TEST(FuseRotation, TwoTensorsAreNoRotation) {
  Builder b({1, 2, 4, 8});
  b.model.input("z", {1, 2, 4, 8});
  b.model.output(b.turned("x", rotated_halves(b, "z", 8), {4, 8}));
  EXPECT_EQ(rotation_of(after(fuse_rotation, b.model)), nullptr);
}

}  // namespace
}  // namespace vellum::test
