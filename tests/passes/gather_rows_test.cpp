// Rows of tokens that several operators move about become one Gather.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "passes/pass_harness.hpp"
#include "support/small_tensors.hpp"

namespace vellum::test {
namespace {

using Ints = Attributes::Ints;

void add_slice(OnnxModel& model, const std::string& from, const std::string& to, int64_t axis, int64_t begin,
               int64_t end, int64_t step = 1) {
  const Ints parameters[] = {{begin}, {end}, {axis}, {step}};
  std::vector<std::string> inputs{from};
  for (size_t i = 0; i < 4; ++i) {
    inputs.push_back(to + "/" + std::to_string(i));
    model.initializer(inputs.back(), ints(parameters[i]));
  }
  model.node("Slice", inputs, {to});
}

// `from` as `to`, `by` rows of dimension `axis`, which has 6, further.
void add_roll(OnnxModel& model, const std::string& from, const std::string& to, int64_t axis, int64_t by) {
  add_slice(model, from, to + "/end", axis, 6 - by, 6);
  add_slice(model, from, to + "/begin", axis, 0, 6 - by);
  model.node("Concat", {to + "/end", to + "/begin"}, {to}, attributes({{"axis", axis}}));
}

void add_reshape(OnnxModel& model, const std::string& from, const std::string& to, const Ints& shape) {
  model.initializer(to + "/shape", ints(shape)).node("Reshape", {from, to + "/shape"}, {to});
}

// 2 images of 6 x 6 tokens of `width` elements as `n`, normalised.
OnnxModel tokens(int64_t width) {
  OnnxModel model;
  model.input("x", {2, 6, 6, width})
      .initializer("scale", random_tensor({width}, 1))
      .initializer("matrix", random_tensor({width, 8}, 2))
      .node("LayerNormalization", {"x", "scale"}, {"n"});
  return model;
}

// Shifted windows of 3 x 3 of them as `w`, (8, 9, width).
void add_windows(OnnxModel& model, int64_t width) {
  add_roll(model, "n", "down", 1, 2);
  add_roll(model, "down", "right", 2, 1);
  add_reshape(model, "right", "parted", {2, 2, 3, 2, 3, width});
  model.node("Transpose", {"parted"}, {"windows"}, attributes({{"perm", Ints{0, 1, 3, 2, 4, 5}}}));
  add_reshape(model, "windows", "w", {8, 9, width});
}

TEST(GatherRows, ShiftedWindows) {
  OnnxModel model = tokens(12);
  add_windows(model, 12);
  model.node("MatMul", {"w", "matrix"}, {"y"}).output("y");
  const Graph graph = after(gather_rows, model);
  ASSERT_EQ(types(graph), "LayerNormalization Reshape Gather Reshape MatMul");
  const std::vector<int64_t> rows = graph.constant(graph.nodes[2].inputs[1])->to_ints();
  EXPECT_EQ(Ints(rows.begin(), rows.begin() + 4), (Ints{29, 24, 25, 35}));
}

TEST(GatherRows, WindowsAndBack) {
  OnnxModel model = tokens(8);
  add_windows(model, 8);
  model.node("MatMul", {"w", "matrix"}, {"product"});
  add_reshape(model, "product", "parted again", {2, 2, 2, 3, 3, 8});
  model.node("Transpose", {"parted again"}, {"lines"}, attributes({{"perm", Ints{0, 1, 3, 2, 4, 5}}}));
  add_reshape(model, "lines", "shifted", {2, 6, 6, 8});
  add_roll(model, "shifted", "left", 2, 5);
  add_roll(model, "left", "up", 1, 4);
  model.node("Add", {"x", "up"}, {"y"}).output("y");
  EXPECT_EQ(types(after(gather_rows, model)),
            "LayerNormalization Reshape Gather Reshape MatMul Reshape Gather Reshape Add");
}

// Each second token of each second line, and its three neighbours, side by side.
void add_merged(OnnxModel& model, const std::string& from, const std::string& to, int64_t axis) {
  std::vector<std::string> parts;
  for (const int64_t column : {0, 1}) {
    for (const int64_t line : {0, 1}) {
      const std::string part = to + std::to_string(line) + std::to_string(column);
      add_slice(model, from, part + "/line", 1, line, 6, 2);
      add_slice(model, part + "/line", part, 2, column, 6, 2);
      parts.push_back(part);
    }
  }
  model.node("Concat", parts, {to}, attributes({{"axis", axis}}));
}

TEST(GatherRows, MergedPatches) {
  OnnxModel model = tokens(8);
  model.initializer("wide", random_tensor({32}, 3));
  add_merged(model, "x", "m", -1);
  model.node("LayerNormalization", {"m", "wide"}, {"y"}).output("y");
  EXPECT_EQ(types(after(gather_rows, model)), "Reshape Gather Reshape LayerNormalization");
}

TEST(GatherRows, WhatIsReadInBetweenIsNoGain) {
  OnnxModel model = tokens(8);
  add_roll(model, "n", "r", 1, 2);
  model.node("Neg", {"r/end"}, {"e"}).node("Neg", {"r/begin"}, {"b"});
  model.output("e").output("b").node("MatMul", {"r", "matrix"}, {"y"}).output("y");
  EXPECT_EQ(types(after(gather_rows, model)), "LayerNormalization Slice Slice Concat Neg Neg MatMul");
}

// However long a model makes them: neither stack nor time grows without bounds.
TEST(GatherRows, LongChainsStay) {
  OnnxModel model = tokens(8);
  std::string last = "n";
  const Attributes swap = attributes({{"perm", Ints{0, 2, 1, 3}}});
  for (int i = 0; i < 60000; ++i) {
    const std::string next = "t" + std::to_string(i);
    model.node("Transpose", {last}, {next}, swap);
    last = next;
  }
  model.node("MatMul", {last, "matrix"}, {"y"}).output("y");
  const size_t nodes = after(gather_rows, model).nodes.size();
  EXPECT_GT(nodes, 50000u);
}

// A model may claim any shapes; who only looks at it is not to need memory for them.
TEST(GatherRows, NotOfMoreRowsThanMemoryIsGivenFor) {
  OnnxModel model = tokens(8);
  std::string last = "n";
  for (int i = 0; i < 20; ++i) {
    const std::string twice = last + "+";
    model.node("Concat", {last, last}, {twice}, attributes({{"axis", int64_t{0}}}));
    last = twice;
  }
  Graph graph = model.node("MatMul", {last, "matrix"}, {"y"}).output("y").graph();
  infer_shapes_and_fold(graph, {});
  gather_rows(graph);
  for (const Value& value : graph.values)
    EXPECT_TRUE(!value.constant || value.constant->elements() <= int64_t{1} << 20) << value.name;
}

TEST(GatherRows, OthersStay) {
  OnnxModel once = tokens(8);  // one copy for another
  once.node("Transpose", {"n"}, {"t"}, attributes({{"perm", Ints{0, 2, 1, 3}}}));
  once.node("MatMul", {"t", "matrix"}, {"y"}).output("y");
  EXPECT_EQ(types(after(gather_rows, once)), "LayerNormalization Transpose MatMul");

  OnnxModel parts = tokens(8);  // less than whole rows
  add_slice(parts, "n", "a", 3, 0, 4);
  add_slice(parts, "n", "b", 3, 4, 8);
  parts.node("Concat", {"b", "a"}, {"c"}, attributes({{"axis", int64_t{3}}}));
  parts.node("MatMul", {"c", "matrix"}, {"y"}).output("y");
  EXPECT_EQ(types(after(gather_rows, parts)), "LayerNormalization Slice Slice Concat MatMul");

  OnnxModel odd = tokens(10);  // no whole texels
  add_roll(odd, "n", "r", 1, 2);
  odd.node("MatMul", {"r", "matrix"}, {"y"}).output("y");
  EXPECT_EQ(types(after(gather_rows, odd)), "LayerNormalization Slice Slice Concat MatMul");

  OnnxModel planes;  // channels of an image
  planes.input("x", {2, 6, 4, 8}).node("Neg", {"x"}, {"n"});
  add_roll(planes, "n", "r", 1, 2);
  planes.node("Relu", {"r"}, {"y"}).output("y");
  EXPECT_EQ(types(after(gather_rows, planes)), "Neg Slice Slice Concat Relu");

  OnnxModel two = tokens(8);  // of two tensors
  two.node("Neg", {"n"}, {"m"});
  add_slice(two, "n", "a", 1, 0, 3);
  add_slice(two, "m", "b", 1, 3, 6);
  two.node("Concat", {"b", "a"}, {"c"}, attributes({{"axis", int64_t{1}}}));
  two.node("MatMul", {"c", "matrix"}, {"y"}).output("y");
  EXPECT_EQ(types(after(gather_rows, two)), "LayerNormalization Neg Slice Slice Concat MatMul");
}

}  // namespace
}  // namespace vellum::test
