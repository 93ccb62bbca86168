// Chains of operators that move elements become one.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "graph/operators/movement/as_strided.hpp"
#include "passes/pass_harness.hpp"
#include "passes/patterns/strided_view.hpp"
#include "support/small_tensors.hpp"

namespace vellum::test {
namespace {

using Ints = Attributes::Ints;

class Chain {
 public:
  explicit Chain(Shape shape) { model_.input("x", std::move(shape)).node("Relu", {"x"}, {"v0"}); }

  Chain& reshape(const Ints& shape) {
    const std::string to = next() + "_shape";
    model_.initializer(to, ints(shape)).node("Reshape", {last(), to}, {next()});
    return step();
  }
  Chain& transpose(const Ints& order) {
    model_.node("Transpose", {last()}, {next()}, perm(order));
    return step();
  }
  Chain& slice(int64_t axis, int64_t begin, int64_t end) {
    const Ints parameters[] = {{begin}, {end}, {axis}};
    std::vector<std::string> inputs{last()};
    for (size_t i = 0; i < 3; ++i) {
      inputs.push_back(next() + "_" + std::to_string(i));
      model_.initializer(inputs.back(), ints(parameters[i]));
    }
    model_.node("Slice", inputs, {next()});
    return step();
  }
  // The last of three equal parts.
  Chain& third(int64_t axis) {
    model_.node("Split", {last()}, {next() + "_a", next() + "_b", next()}, attributes({{"axis", axis}}));
    return step();
  }
  Chain& pick(int64_t axis, int64_t index) {
    model_.initializer(next() + "_at", number(index));
    model_.node("Gather", {last(), next() + "_at"}, {next()}, attributes({{"axis", axis}}));
    return step();
  }
  Chain& read(const std::string& output) {
    model_.node("Neg", {last()}, {output}).output(output);
    return *this;
  }
  std::string left() const { return types(after(merge_moves, model_)); }
  OnnxModel& model() { return model_; }
  std::string last() const { return "v" + std::to_string(steps_); }

 private:
  std::string next() const { return "v" + std::to_string(steps_ + 1); }
  Chain& step() {
    ++steps_;
    return *this;
  }

  OnnxModel model_;
  int steps_ = 0;
};

// CoaT's values: heads of tokens without the first one, as channels of a picture.
TEST(MergeMoves, TokensToPictures) {
  Chain chain({31, 36});
  chain.reshape({1, 31, 3, 2, 6}).transpose({2, 0, 3, 1, 4}).third(0).reshape({1, 2, 31, 6});
  chain.slice(2, 1, 31).transpose({0, 1, 3, 2}).reshape({1, 12, 5, 6}).read("y");
  EXPECT_EQ(chain.left(), "Relu AsStrided Neg");
}

TEST(MergeMoves, EachValueThatIsRead) {
  Chain chain({31, 36});
  chain.reshape({1, 31, 3, 2, 6}).transpose({2, 0, 3, 1, 4}).third(0).reshape({1, 2, 31, 6}).read("all");
  chain.slice(2, 1, 31).read("most");
  EXPECT_EQ(chain.left(), "Relu AsStrided Neg AsStrided Neg");
}

TEST(MergeMoves, PicturesToRowsOfProducts) {
  Chain chain({1, 6, 4, 5});
  chain.transpose({0, 2, 3, 1}).reshape({20, 6});
  chain.model().initializer("w", random_tensor({6, 8}, 1)).node("Gemm", {chain.last(), "w"}, {"y"});
  chain.model().output("y");
  EXPECT_EQ(chain.left(), "Relu AsStrided Gemm");
}

TEST(MergeMoves, OneElementAlongAnAxis) {
  Chain chain({4, 6, 5});
  EXPECT_EQ(chain.transpose({2, 0, 1}).pick(1, -1).transpose({1, 0}).read("y").left(), "Relu AsStrided Neg");
}

TEST(MergeMoves, GraphOutputsKeepTheirNames) {
  Chain chain({4, 6, 5});
  chain.transpose({2, 0, 1}).slice(1, 1, 3);
  chain.model().output(chain.last());
  EXPECT_EQ(chain.left(), "Relu AsStrided");
}

TEST(MergeMoves, MovesThatHaveAKernelOfTheirOwnStay) {
  EXPECT_EQ(Chain({1, 6, 4, 5}).transpose({0, 2, 3, 1}).read("y").left(), "Relu Transpose Neg");
  EXPECT_EQ(Chain({1, 6, 4, 5}).transpose({0, 2, 3, 1}).reshape({1, 20, 6}).read("y").left(),
            "Relu Transpose Reshape Neg");
  EXPECT_EQ(Chain({1, 6, 4, 5}).slice(1, 1, 5).slice(2, 1, 3).read("y").left(), "Relu Slice Slice Neg");
  EXPECT_EQ(Chain({6, 4}).reshape({4, 6}).read("y").left(), "Relu Reshape Neg");
}

// Parts of a transposed tensor that are contiguous and aligned become views of its memory.
TEST(MergeMoves, PartsWithoutACopyStay) {
  const auto left = [](int64_t tokens) {
    Chain chain({tokens, 48});
    chain.reshape({tokens, 3, 16}).transpose({1, 0, 2});
    const std::string whole = chain.last();
    chain.third(0).read("third");
    chain.model().node("Neg", {"v3_b"}, {"second"}).output("second");
    return chain.left();
  };
  EXPECT_EQ(left(16), "Relu AsStrided Split Neg Neg");
  EXPECT_EQ(left(17), "Relu AsStrided AsStrided Neg Neg") << "17 x 16 elements are not aligned";
}

// One copy suffices for readers of several shapes.
TEST(MergeMoves, ReshapesOfWhatOthersReadStay) {
  Chain tokens({1, 6, 4, 5});
  tokens.transpose({0, 2, 3, 1}).read("pixels").reshape({20, 6});
  tokens.model().initializer("w", random_tensor({6, 8}, 1)).node("Gemm", {tokens.last(), "w"}, {"y"});
  tokens.model().output("y");
  EXPECT_EQ(tokens.left(), "Relu Transpose Neg Reshape Gemm");
  Chain heads({30, 6});
  heads.reshape({5, 6, 2, 3})
      .transpose({2, 0, 1, 3})
      .slice(1, 1, 5)
      .read("all")
      .reshape({2, 24, 3})
      .read("y");
  EXPECT_EQ(heads.left(), "Relu AsStrided Neg Reshape Neg");
}

// The last two dimensions of the transposed tensor, 6 x 4, cannot be reshaped without a copy.
TEST(MergeMoves, AReshapeThatIsNoViewBeginsTheChain) {
  Chain chain({4, 6, 5});
  chain.transpose({2, 1, 0}).reshape({5, 3, 8}).transpose({1, 0, 2}).slice(0, 1, 3).read("y");
  EXPECT_EQ(chain.left(), "Relu Transpose Reshape AsStrided Neg");
}

TEST(MergeMoves, RandomChains) {
  int merges = 0;
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto upto = [&](size_t most) { return 1 + random() % most; };
    Shape shape{2, 6, 4, 3};
    Chain chain(shape);
    for (size_t steps = 1 + upto(5); steps > 0; --steps) {
      const size_t axis = upto(shape.size()) - 1, kind = upto(4);
      if (kind == 1 && shape[axis] > 1) {
        chain.slice(static_cast<int64_t>(axis), 1, shape[axis]);
        --shape[axis];
      } else if (kind == 2 && shape[axis] % 2 == 0) {
        shape[axis] /= 2;
        shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), 2);
        chain.reshape(shape);
      } else if (kind == 3 && shape[axis] % 3 == 0) {
        shape[axis] /= 3;
        chain.third(static_cast<int64_t>(axis));
      } else {
        Ints order;
        for (size_t i = 0; i < shape.size(); ++i) order.push_back(static_cast<int64_t>(i));
        std::shuffle(order.begin(), order.end(), random);
        Shape moved;
        for (const int64_t from : order) moved.push_back(shape[static_cast<size_t>(from)]);
        shape = moved;
        chain.transpose(order);
      }
      if (upto(3) == 1) chain.read("y" + std::to_string(steps));
    }
    merges += chain.read("y").left().find("AsStrided") != std::string::npos;
  }
  EXPECT_GT(merges, 20);
}

int64_t element_at(const StridedView& view, int64_t index) {
  int64_t at = view.offset;
  for (size_t axis = view.shape.size(); axis-- > 0; index /= view.shape[axis])
    at += index % view.shape[axis] * view.strides[axis];
  return at;
}

// A copy of a tensor of 2 x 3 x 4 x 5 elements in another order, and random parts of the tensor.
TEST(ViewInCopy, HasTheElementsOfThePart) {
  const Shape shape{2, 3, 4, 5};
  const std::vector<int64_t> strides{60, 20, 5, 1};
  int found = 0;
  for (uint32_t seed = 1; seed <= 400; ++seed) {
    std::mt19937 random(seed);
    std::vector<size_t> order{0, 1, 2, 3};
    std::ranges::shuffle(order, random);
    StridedView whole, part;
    for (const size_t axis : order)
      whole.shape.push_back(shape[axis]), whole.strides.push_back(strides[axis]);
    for (const size_t axis : {2, 0, 3}) {
      const auto size = static_cast<int64_t>(1 + random() % static_cast<uint32_t>(shape[axis]));
      const int64_t steps = size == 2 && shape[axis] > 2 ? 2 : 1;
      part.shape.push_back(size), part.strides.push_back(steps * strides[axis]);
      part.offset +=
          strides[axis] * (static_cast<int64_t>(random() % 6) % (shape[axis] - steps * (size - 1)));
    }
    const auto view = view_in_copy(part, whole);
    ASSERT_TRUE(view) << "seed " << seed;
    ++found;
    for (int64_t i = 0; i < element_count(part.shape); ++i)
      ASSERT_EQ(element_at(whole, element_at(*view, i)), element_at(part, i)) << "seed " << seed;
  }
  EXPECT_EQ(found, 400);
}

TEST(ViewInCopy, DimensionsThatTheCopySeparatesAreNone) {
  const StridedView whole{0, {5, 4, 6}, {1, 5, 20}};
  EXPECT_TRUE(view_in_copy({20, {2, 20}, {20, 1}}, {0, {6, 20}, {20, 1}}));
  EXPECT_FALSE(view_in_copy({20, {2, 20}, {20, 1}}, whole)) << "20 elements are in four rows of the copy";
  EXPECT_FALSE(view_in_copy({0, {6}, {-20}}, whole)) << "backwards";
  EXPECT_FALSE(view_in_copy({0, {6}, {20}}, {0, {5, 4, 3}, {1, 5, 20}})) << "half of the tensor";
  EXPECT_FALSE(view_in_copy({0, {6}, {20}}, {0, {5, 4, 6}, {0, 5, 20}})) << "an element five times";
}

// As in Swin V2: queries and keys are normalised copies of the product's columns, values are read as they
// are.
TEST(MergeMoves, AttentionReadsTheCopyThatOthersRead) {
  OnnxModel m(17);
  m.input("x", {128, 24}).initializer("w", random_tensor({24, 48}, 1));
  m.initializer("heads", ints({8, 16, 3, 2, 8}));
  m.node("MatMul", {"x", "w"}, {"qkv"}).node("Reshape", {"qkv", "heads"}, {"h"});
  m.node("Transpose", {"h"}, {"t"}, perm({2, 0, 3, 1, 4}));
  for (const auto& [name, at] : {std::pair{"q", 0}, {"k", 1}, {"v", 2}}) {
    m.initializer(std::string(name) + "_at", number(at));
    m.node("Gather", {"t", std::string(name) + "_at"}, {name}, attributes({{"axis", int64_t{0}}}));
  }
  for (const std::string x : {"q", "k"}) m.node("Sigmoid", {x}, {x + "n"});
  m.node("Transpose", {"kn"}, {"kt"}, perm({0, 1, 3, 2})).node("MatMul", {"qn", "kt"}, {"scores"});
  m.node("Softmax", {"scores"}, {"p"}, attributes({{"axis", int64_t{-1}}})).node("MatMul", {"p", "v"}, {"y"});
  m.output("y");
  const auto merged = [](Graph& graph) { graph = optimise(std::move(graph), {}); };
  const Graph graph = after(merged, m);
  ValueId copy = kNoValue;
  for (const Node& node : graph.nodes)
    if (dynamic_cast<const AsStrided*>(node.op.get()) != nullptr) copy = node.outputs[0];
  ASSERT_NE(copy, kNoValue) << types(graph);
  EXPECT_EQ(graph.nodes.back().inputs[2], copy) << types(graph);
}

// As in MobileNetV5: attention over the pixels of pictures between 1x1 convolutions.
TEST(MergeMoves, AttentionBeforePixelsComputesAMatrix) {
  OnnxModel m(17);
  m.input("x", {1, 16, 4, 5})
      .initializer("heads", ints({1, 2, 8, 20}))
      .initializer("rows", ints({1, 4, 5, 16}));
  for (const std::string x : {"q", "k", "v"}) {
    m.initializer("w" + x, random_tensor({16, 16, 1, 1}, 1)).node("Conv", {"x", "w" + x}, {x + "c"});
    m.node("Reshape", {x + "c", "heads"}, {x + "h"});
  }
  for (const std::string x : {"q", "v"}) m.node("Transpose", {x + "h"}, {x + "t"}, perm({0, 1, 3, 2}));
  m.node("MatMul", {"qt", "kh"}, {"scores"});
  m.node("Softmax", {"scores"}, {"p"}, attributes({{"axis", int64_t{-1}}}))
      .node("MatMul", {"p", "vt"}, {"a"});
  m.node("Transpose", {"a"}, {"tokens"}, perm({0, 2, 1, 3})).node("Reshape", {"tokens", "rows"}, {"r"});
  m.node("Transpose", {"r"}, {"picture"}, perm({0, 3, 1, 2}))
      .initializer("o", random_tensor({8, 16, 1, 1}, 2));
  m.node("Conv", {"picture", "o"}, {"y"}).output("y");
  const Graph graph = after([](Graph& g) { g = optimise(std::move(g), {}); }, m);
  EXPECT_EQ(types(graph), "Conv Conv Conv Attention AsStrided Conv");
  for (const Node& node : graph.nodes)
    if (node.op->type() == "Attention") EXPECT_EQ(graph.values[node.outputs[0]].type.shape, (Shape{20, 16}));
}

}  // namespace
}  // namespace vellum::test
