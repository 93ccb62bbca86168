// Operators that do nothing, reshapes and transpositions that cancel, constants that are equal.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "passes/pass_harness.hpp"
#include "support/small_tensors.hpp"

namespace vellum::test {
namespace {

HostTensor vector_of(const std::vector<float>& values) {
  return HostTensor::f32({static_cast<int64_t>(values.size())}, values);
}
// Neg -> node -> Neg, so that the node is neither at an input nor at an output.
OnnxModel between(const std::string& type, const std::vector<std::pair<std::string, HostTensor>>& constants,
                  const Attributes& attrs = {}) {
  OnnxModel model;
  model.input("x", {1, 4, 3, 2}).node("Neg", {"x"}, {"a"});
  std::vector<std::string> inputs = {"a"};
  for (const auto& [name, value] : constants) {
    if (!name.empty()) model.initializer(name, value);
    inputs.push_back(name);
  }
  model.node(type, inputs, {"b"}, attrs).node("Neg", {"b"}, {"y"}).output("y");
  return model;
}

TEST(RemoveIdentities, NodesThatDoNothing) {
  const auto none = HostTensor(DType::f32, {0});
  std::vector<std::pair<std::string, OnnxModel>> cases;
  cases.emplace_back("Identity", between("Identity", {}));
  cases.emplace_back("Dropout", between("Dropout", {}));
  cases.emplace_back("Cast", between("Cast", {}, attributes({{"to", int64_t{1}}})));
  cases.emplace_back("Transpose", between("Transpose", {}, perm({0, 1, 2, 3})));
  cases.emplace_back("Reshape", between("Reshape", {{"shape", ints({0, -1, 3, 2})}}));
  cases.emplace_back("Pad", between("Pad", {{"pads", ints({0, 0, 0, 0, 0, 0, 0, 0})}}));
  cases.emplace_back(
      "Slice", between("Slice", {{"starts", ints({0, 0})}, {"ends", ints({4, 99})}, {"axes", ints({1, 2})}}));
  cases.emplace_back("Resize", between("Resize", {{"roi", none}, {"scales", vector_of({1, 1, 1, 1})}},
                                       attributes({{"mode", std::string("linear")}})));
  cases.emplace_back("Expand", between("Expand", {{"shape", ints({4, 1, 1})}}));
  cases.emplace_back("Tile", between("Tile", {{"repeats", ints({1, 1, 1, 1})}}));
  cases.emplace_back("Concat", between("Concat", {}, attributes({{"axis", int64_t{1}}})));
  cases.emplace_back("Add", between("Add", {{"c", vector_of({0, 0})}}));
  cases.emplace_back("Mul", between("Mul", {{"c", vector_of({1})}}));
  cases.emplace_back("Sub", between("Sub", {{"c", vector_of({0})}}));
  cases.emplace_back("Div", between("Div", {{"c", vector_of({1})}}));
  for (const auto& [name, model] : cases)
    EXPECT_EQ(types(after(remove_identities, model)), "Neg Neg") << name;
}

TEST(RemoveIdentities, NodesThatDoSomethingStay) {
  std::vector<std::pair<std::string, OnnxModel>> cases;
  cases.emplace_back("Transpose", between("Transpose", {}, perm({0, 2, 1, 3})));
  cases.emplace_back("Reshape", between("Reshape", {{"shape", ints({4, 6})}}));
  cases.emplace_back("Pad", between("Pad", {{"pads", ints({0, 0, 1, 0, 0, 0, -1, 0})}}));
  cases.emplace_back(
      "Slice",
      between("Slice",
              {{"starts", ints({-1})}, {"ends", ints({-99})}, {"axes", ints({1})}, {"steps", ints({-1})}}));
  // Rounds down to the same size, and still reads between the pixels.
  cases.emplace_back("Resize", between("Resize", {{"", {}}, {"scales", vector_of({1, 1, 1.3f, 1.4f})}},
                                       attributes({{"mode", std::string("linear")}})));
  cases.emplace_back("Add", between("Add", {{"c", vector_of({0, 1})}}));
  for (const auto& [name, model] : cases) {
    EXPECT_EQ(types(after(remove_identities, model)), "Neg " + name + " Neg") << name;
  }
  OnnxModel reversed;
  reversed.input("x", {2}).initializer("zero", vector_of({0})).initializer("one", vector_of({1}));
  reversed.node("Sub", {"zero", "x"}, {"y"}).node("Div", {"one", "x"}, {"z"}).output("y").output("z");
  EXPECT_EQ(types(after(remove_identities, reversed)), "Sub Div");
  OnnxModel wider;  // broadcasting by a neutral constant still repeats the data
  wider.input("x", {1, 2}).initializer("ones", HostTensor::f32({3, 1}, std::vector<float>{1, 1, 1}));
  wider.node("Mul", {"x", "ones"}, {"y"}).output("y");
  EXPECT_EQ(types(after(remove_identities, wider)), "Mul");
}

TEST(RemoveIdentities, GraphOutputsKeepTheirNames) {
  OnnxModel model;
  model.input("x", {2}).node("Neg", {"x"}, {"a"}).node("Identity", {"a"}, {"y"}).node("Abs", {"a"}, {"z"});
  model.output("y").output("z");
  const Graph graph = after(remove_identities, model);
  EXPECT_EQ(types(graph), "Neg Abs");
  EXPECT_EQ(graph.values[graph.nodes[0].outputs[0]].name, "y");
}

TEST(RemoveIdentities, CopyOfAnInputOrOfAnotherOutputStays) {
  OnnxModel input;
  input.input("x", {2}).node("Identity", {"x"}, {"y"}).output("y");
  EXPECT_EQ(types(after(remove_identities, input)), "Identity");
  OnnxModel outputs;
  outputs.input("x", {2}).node("Neg", {"x"}, {"y"}).node("Identity", {"y"}, {"z"}).output("y").output("z");
  EXPECT_EQ(types(after(remove_identities, outputs)), "Neg Identity");
}

TEST(RemoveIdentities, ChainsVanish) {
  OnnxModel model;
  model.input("x", {2})
      .node("Neg", {"x"}, {"a"})
      .node("Identity", {"a"}, {"b"})
      .node("Dropout", {"b"}, {"c"});
  model.node("Identity", {"c"}, {"y"}).output("y");
  EXPECT_EQ(types(after(remove_identities, model)), "Neg");
}

TEST(RemoveIdentities, DropoutWhoseMaskIsReadStays) {
  OnnxModel model;
  model.input("x", {2})
      .node("Dropout", {"x"}, {"a", "mask"})
      .node("Neg", {"a"}, {"y"})
      .output("y")
      .output("mask");
  EXPECT_EQ(types(after(remove_identities, model)), "Dropout Neg");
}

TEST(MergeReshapes, TransposesThatCancel) {
  OnnxModel model;
  model.input("x", {2, 3, 4, 5}).node("Transpose", {"x"}, {"a"}, perm({0, 2, 3, 1}));
  model.node("Transpose", {"a"}, {"b"}, perm({0, 3, 1, 2})).node("Neg", {"b"}, {"y"}).output("y");
  const auto passes = [](Graph& graph) {
    merge_reshapes(graph);
    remove_identities(graph);
  };
  EXPECT_EQ(types(after(passes, model)), "Neg");
}

TEST(MergeReshapes, TransposesThatDoNotCancelBecomeOne) {
  OnnxModel model;
  model.input("x", {2, 3, 4, 5}).node("Transpose", {"x"}, {"a"}, perm({0, 2, 3, 1}));
  model.node("Transpose", {"a"}, {"b"}, perm({1, 0, 3, 2}))
      .node("Transpose", {"b"}, {"y"}, perm({3, 0, 1, 2}))
      .output("y");
  EXPECT_EQ(types(after(merge_reshapes, model)), "Transpose");
}

TEST(MergeReshapes, TransposeOfSinglesIsAReshape) {
  OnnxModel model;
  model.input("x", {1, 1, 4, 5}).node("Transpose", {"x"}, {"y"}, perm({0, 2, 3, 1})).output("y");
  EXPECT_EQ(types(after(merge_reshapes, model)), "Reshape");
}

TEST(MergeReshapes, ChainsOfReshapesBecomeOne) {
  OnnxModel model;
  model.input("x", {2, 3, 4}).initializer("s", ints({0, -1})).initializer("axes", ints({0, 3}));
  model.node("Flatten", {"x"}, {"a"}, attributes({{"axis", int64_t{2}}})).node("Reshape", {"a", "s"}, {"b"});
  model.node("Unsqueeze", {"b", "axes"}, {"c"}).node("Squeeze", {"c"}, {"y"}).output("y");
  EXPECT_EQ(types(after(merge_reshapes, model)), "Reshape");
}

TEST(MergeReshapes, ValuesReadElsewhereStay) {
  OnnxModel model;
  model.input("x", {2, 3, 4})
      .node("Flatten", {"x"}, {"a"})
      .node("Squeeze", {"a"}, {"y"})
      .node("Neg", {"a"}, {"z"});
  model.output("y").output("z");
  EXPECT_EQ(types(after(merge_reshapes, model)), "Flatten Reshape Neg");
}

TEST(ShareConstants, EqualOnesBecomeOne) {
  OnnxModel model;
  model.input("x", {2, 3})
      .initializer("a", random_tensor({2, 3}, 1))
      .initializer("b", random_tensor({2, 3}, 1));
  model.initializer("row", random_tensor({6}, 1))
      .initializer("other", random_tensor({2, 3}, 2))
      .initializer("shape", ints({2, 3}));
  model.node("Add", {"x", "a"}, {"p"})
      .node("Mul", {"p", "b"}, {"q"})
      .node("Add", {"q", "other"}, {"y"})
      .output("y")
      .output("row");
  const Graph graph = after(share_constants, model);
  size_t constants = 0;
  for (const Value& value : graph.values) constants += value.constant.has_value();
  EXPECT_EQ(constants, 3u) << "a and b, other, and row, which has the same bytes in another shape";
}

TEST(Passes, ConstantsThatAreGraphOutputsKeepTheirNames) {
  OnnxModel model;
  model.initializer("a", random_tensor({2}, 1))
      .initializer("b", random_tensor({2}, 1))
      .output("a")
      .output("b");
  const Graph graph = after(share_constants, model);
  EXPECT_EQ(graph.values[graph.outputs[1]].name, "b");
}

}  // namespace
}  // namespace vellum::test
