// Concatenations of what other concatenations hold already.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/operators/movement/concat.hpp"
#include "passes/pass_harness.hpp"

namespace vellum::test {
namespace {

struct Join {
  std::vector<std::string> inputs;
  int64_t axis = 1;
};

// Four inputs of equal shape; each join gives an output: y0, y1, ...
OnnxModel joins(const std::vector<Join>& list) {
  OnnxModel model;
  for (const char* name : {"a", "b", "c", "d"}) model.input(name, {1, 4, 3, 3});
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string output = "y" + std::to_string(i);
    model.node("Concat", list[i].inputs, {output}, attributes({{"axis", list[i].axis}})).output(output);
  }
  return model;
}

// "a+b y0+c": what each Concat joins.
std::string joined(const Graph& graph) {
  std::string text;
  for (const Node& node : graph.nodes) {
    text += text.empty() ? "" : " ";
    for (size_t i = 0; i < node.inputs.size(); ++i)
      text += (i ? "+" : "") + graph.values[node.inputs[i]].name;
  }
  return text;
}

std::string nested(const std::vector<Join>& list) { return joined(after(nest_concats, joins(list))); }

TEST(NestConcats, DenseBlock) {
  EXPECT_EQ(nested({{{"a", "b"}}, {{"a", "b", "c"}}, {{"a", "b", "c", "d"}}}), "a+b y0+c y1+d");
}

TEST(NestConcats, TakesTheLongestStart) {
  EXPECT_EQ(nested({{{"a", "b", "c"}}, {{"a", "b"}}, {{"a", "b", "c", "d", "a"}}}), "a+b+c a+b y0+d+a");
}

TEST(NestConcats, AxesCountFromEitherEnd) {
  EXPECT_EQ(nested({{{"a", "b"}, -3}, {{"a", "b", "c"}, 1}}), "a+b y0+c");
}

TEST(NestConcats, OthersStay) {
  EXPECT_EQ(nested({{{"a", "b"}, 2}, {{"a", "b", "c"}, 1}}), "a+b a+b+c");  // another axis
  EXPECT_EQ(nested({{{"b", "c"}}, {{"a", "b", "c"}}}), "b+c a+b+c");        // not the start
  EXPECT_EQ(nested({{{"a", "c"}}, {{"a", "b", "c"}}}), "a+c a+b+c");        // not all of it
  EXPECT_EQ(nested({{{"a", "b", "c"}}, {{"a", "b"}}}), "a+b+c a+b");        // computed later
  EXPECT_EQ(nested({{{"a", "b"}}, {{"a", "b"}}}), "a+b a+b");               // nothing is left to join
}

}  // namespace
}  // namespace vellum::test
