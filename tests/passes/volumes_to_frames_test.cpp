// Networks of volumes are computed by the operators of pictures.
#include <gtest/gtest.h>

#include "graph/operators/movement/stack_frames.hpp"
#include "passes/pass_harness.hpp"

namespace vellum::test {
namespace {

using Lists = std::vector<int64_t>;

size_t count(const Graph& graph, std::string_view type) {
  size_t found = 0;
  for (const Node& node : graph.nodes) found += node.op->type() == type;
  return found;
}

size_t largest_rank_of_convolutions(const Graph& graph) {
  size_t rank = 0;
  for (const Node& node : graph.nodes)
    if (node.op->type().starts_with("Conv"))
      rank = std::max(rank, graph.values[node.inputs[0]].type.shape.size());
  return rank;
}

OnnxModel convolution(const Shape& x, const Shape& w, const Attributes& attributes, bool bias = true,
                      const std::string& type = "Conv") {
  OnnxModel model;
  model.input("x", x).initializer("w", random_tensor(w, 1));
  const int64_t filters = type == "Conv" ? w[0] : w[1];
  std::vector<std::string> inputs{"x", "w"};
  if (bias) {
    model.initializer("b", random_tensor({filters}, 2));
    inputs.push_back("b");
  }
  model.node(type, inputs, {"y"}, attributes).output("y");
  return model;
}

TEST(VolumesToFrames, ConvolutionsReadThePicturesOfAWindowAsChannels) {
  const Graph graph =
      after(volumes_to_frames,
            convolution({2, 5, 6, 4, 3}, {4, 5, 3, 3, 3},
                        attributes({{"pads", Lists{1, 1, 1, 1, 1, 1}}, {"strides", Lists{2, 1, 2}}})));
  EXPECT_EQ(types(graph), "Transpose Reshape StackFrames Conv Reshape Transpose");
  EXPECT_EQ(largest_rank_of_convolutions(graph), 4u);
}

TEST(VolumesToFrames, WindowsOfAllKinds) {
  struct Case {
    Shape x, w;
    Attributes attributes;
    bool bias = true;
    std::string type = "Conv";
  };
  const Case cases[] = {
      {{1, 3, 5, 4, 4}, {2, 3, 1, 3, 3}, {}},
      {{1, 4, 7, 2, 2}, {2, 4, 3, 1, 1}, attributes({{"dilations", Lists{2, 1, 1}}}), false},
      {{1, 4, 5, 4, 4}, {2, 4, 1, 1, 1}, attributes({{"strides", Lists{2, 2, 2}}})},
      {{1, 4, 5, 4, 4}, {2, 4, 2, 3, 3}, attributes({{"auto_pad", std::string("SAME_UPPER")}})},
      {{2, 4, 5, 4, 4},
       {4, 1, 3, 3, 3},
       attributes({{"group", int64_t{4}}, {"pads", Lists{1, 1, 1, 1, 1, 1}}})},
      {{1, 6, 4, 3, 3}, {4, 3, 2, 1, 1}, attributes({{"group", int64_t{2}}})},
      {{2, 3, 4, 3, 3}, {3, 5, 2, 2, 2}, attributes({{"strides", Lists{2, 2, 2}}}), true, "ConvTranspose"},
      {{1, 3, 4, 3, 3},
       {3, 4, 1, 3, 3},
       attributes({{"strides", Lists{1, 2, 2}}, {"output_padding", Lists{0, 1, 0}}}),
       false,
       "ConvTranspose"}};
  for (const Case& c : cases) {
    const OnnxModel model = convolution(c.x, c.w, c.attributes, c.bias, c.type);
    EXPECT_EQ(largest_rank_of_convolutions(after(volumes_to_frames, model)), 4u);
  }
}

// With pads, more pictures than windows, and several windows over a picture.
TEST(VolumesToFrames, OverlappingTransposedWindows) {
  struct Case {
    int64_t kernel, stride, begin, end, extra;
  };
  for (const Case& c : {Case{4, 2, 1, 1, 0}, Case{3, 2, 1, 1, 1}, Case{3, 1, 1, 1, 0}, Case{5, 2, 2, 1, 0},
                        Case{4, 3, 0, 1, 0}, Case{3, 3, 2, 1, 0}}) {
    const Attributes window = attributes({{"strides", Lists{c.stride, 2, 1}},
                                          {"pads", Lists{c.begin, 0, 1, c.end, 1, 0}},
                                          {"output_padding", Lists{c.extra, 0, 0}}});
    for (const int64_t channels : {3, 4}) {
      const OnnxModel model =
          convolution({2, channels, 4, 3, 3}, {channels, 2, c.kernel, 2, 3}, window, true, "ConvTranspose");
      EXPECT_EQ(largest_rank_of_convolutions(after(volumes_to_frames, model)), 4u) << c.kernel << c.stride;
    }
  }
}

TEST(VolumesToFrames, TransposedWindowsWithGapsStay) {
  const OnnxModel model = convolution({1, 3, 4, 3, 3}, {3, 2, 1, 3, 3},
                                      attributes({{"strides", Lists{2, 2, 2}}}), true, "ConvTranspose");
  EXPECT_EQ(types(after(volumes_to_frames, model)), "ConvTranspose");
}

// A residual block and the head of a video network.
TEST(VolumesToFrames, WhatConnectsConvolutionsFollows) {
  OnnxModel model;
  model.input("x", {2, 4, 3, 4, 4}).initializer("w1", random_tensor({4, 4, 3, 3, 3}, 1));
  model.initializer("w2", random_tensor({4, 4, 1, 1, 1}, 2));
  for (const char* name : {"scale", "shift", "mean", "variance"})
    model.initializer(name, random_tensor({4}, 3, 0.5f, 1.5f));
  model.initializer("factor", random_tensor({4, 1, 1, 1}, 4)).initializer("two", random_tensor({}, 5));
  const Attributes pads = attributes({{"pads", Lists{1, 1, 1, 1, 1, 1}}});
  model.node("Conv", {"x", "w1"}, {"c1"}, pads);
  model.node("BatchNormalization", {"c1", "scale", "shift", "mean", "variance"}, {"n"});
  model.node("Relu", {"n"}, {"r"}).node("Conv", {"r", "w2"}, {"c2"}).node("Add", {"c2", "x"}, {"sum"});
  model.node("Mul", {"sum", "factor"}, {"scaled"}).node("Sub", {"two", "scaled"}, {"less"});
  model.node("Concat", {"less", "r"}, {"joined"}, attributes({{"axis", int64_t{1}}}));
  model.node("MaxPool", {"joined"}, {"pooled"},
             attributes({{"kernel_shape", Lists{1, 2, 2}}, {"strides", Lists{1, 2, 2}}}));
  model.node("GlobalAveragePool", {"pooled"}, {"means"}).output("means");
  const Graph graph = after(volumes_to_frames, model);
  EXPECT_EQ(types(graph),
            "Transpose Reshape StackFrames Conv BatchNormalization Relu Conv Add Mul Sub Concat MaxPool "
            "Reshape ReduceMean Reshape ReduceMean Reshape");
  EXPECT_EQ(count(graph, "Transpose"), 1u);
}

TEST(VolumesToFrames, WhatReadsVolumesStillDoes) {
  OnnxModel model;
  model.input("x", {1, 4, 4, 4, 4}).initializer("w", random_tensor({4, 4, 1, 1, 1}, 1));
  model.node("Conv", {"x", "w"}, {"c"}).node("Relu", {"c"}, {"r"});
  model.node("MaxPool", {"r"}, {"p"}, attributes({{"kernel_shape", Lists{2, 2, 2}}}));
  model.node("Conv", {"p", "w"}, {"y"}).output("y").output("c");
  EXPECT_EQ(types(after(volumes_to_frames, model)),
            "Transpose Reshape Conv Reshape Transpose Relu Reshape Transpose MaxPool Transpose Reshape Conv "
            "Reshape Transpose");
}

TEST(VolumesToFrames, FactorsThatVaryAlongDepthStay) {
  OnnxModel model;
  model.input("x", {1, 4, 3, 2, 2}).initializer("w", random_tensor({4, 4, 1, 1, 1}, 1));
  model.initializer("by_depth", random_tensor({3, 1, 1}, 2));
  model.node("Conv", {"x", "w"}, {"c"}).node("Mul", {"c", "by_depth"}, {"y"}).output("y");
  EXPECT_EQ(types(after(volumes_to_frames, model)), "Transpose Reshape Conv Reshape Transpose Mul");
}

TEST(VolumesToFrames, ComputedWeightsStay) {
  OnnxModel model;
  model.input("x", {1, 2, 3, 2, 2}).input("w", {2, 2, 1, 1, 1});
  model.node("Conv", {"x", "w"}, {"y"}).output("y");
  EXPECT_EQ(types(after(volumes_to_frames, model)), "Conv");
}

TEST(VolumesToFrames, WeightsOfHalvesStayHalves) {
  const HostTensor weights = random_tensor({2, 3, 3, 1, 1}, 1);
  OnnxModel model;
  model.input("x", {1, 3, 3, 2, 2});
  model.initializer("w", HostTensor::from<float>(DType::f16, weights.shape(), weights.to_floats()));
  model.node("Conv", {"x", "w"}, {"y"}, attributes({{"pads", Lists{1, 0, 0, 1, 0, 0}}})).output("y");
  const Graph graph = after(volumes_to_frames, model);
  for (const Node& node : graph.nodes) {
    if (node.op->type() != "Conv") continue;
    EXPECT_EQ(graph.constant(node.inputs[1])->dtype(), DType::f16);
  }
}

}  // namespace
}  // namespace vellum::test
