// Decomposed attention.
#include "graph/operators/matmul/attention.hpp"

#include <array>
#include <cmath>

#include "attention_of.hpp"
#include "passes/pass_harness.hpp"
#include "support/small_tensors.hpp"

namespace vellum::test {
namespace {

// q, k, v (2, 3, tokens, 4) and softmax(q k^T / 2) v as y, with `mask` of that shape between where it is
// given.
OnnxModel spelt_out(const std::optional<Shape>& mask = {}, bool scale_last = false) {
  OnnxModel m;
  m.input("q", {2, 3, 5, 4})
      .input("k", {2, 3, 7, 4})
      .input("v", {2, 3, 7, 6})
      .initializer("two", scalar(2.0f));
  m.node("Transpose", {"k"}, {"t"}, attributes({{"perm", Attributes::Ints{0, 1, 3, 2}}}));
  m.node("MatMul", {"q", "t"}, {"s"});
  if (!scale_last) m.node("Div", {"s", "two"}, {"scaled"});
  if (mask)
    m.initializer("mask", random_tensor(*mask, 3)).node("Add", {scale_last ? "s" : "scaled", "mask"}, {"m"});
  const std::string masked = mask ? "m" : scale_last ? "s" : "scaled";
  if (scale_last) m.node("Div", {masked, "two"}, {"last"});
  m.node("Softmax", {scale_last ? "last" : masked}, {"p"}, attributes({{"axis", int64_t{-1}}}));
  m.node("MatMul", {"p", "v"}, {"y"}).output("y");
  return m;
}

TEST(FuseAttention, ScaledProductsOfFourDimensions) {
  const Graph graph = after(fuse_attention, spelt_out());
  EXPECT_EQ(types(graph), "Attention");
  EXPECT_EQ(attention_of(graph).scale, 0.5f);
}

TEST(FuseAttention, MasksThatBroadcast) {
  for (const Shape& mask : {Shape{7}, Shape{5, 7}, Shape{3, 1, 7}, Shape{2, 1, 5, 7}})
    EXPECT_EQ(types(after(fuse_attention, spelt_out(mask))), "Attention") << to_string(mask);
}

TEST(FuseAttention, AMaskThatIsScaledToo) {
  EXPECT_EQ(types(after(fuse_attention, spelt_out({}, true))), "Attention");
  EXPECT_EQ(types(after(fuse_attention, spelt_out(Shape{5, 7}, true))), "Attention");
}

TEST(FuseAttention, MaskKnownAtRunTime) {
  OnnxModel m;
  m.input("q", {2, 3, 5, 4}).input("k", {2, 3, 4, 7}).input("v", {2, 3, 7, 6}).input("mask", {2, 1, 5, 7});
  m.node("MatMul", {"q", "k"}, {"s"}).node("Add", {"s", "mask"}, {"m"});
  m.node("Softmax", {"m"}, {"p"}, attributes({{"axis", int64_t{-1}}}))
      .node("MatMul", {"p", "v"}, {"y"})
      .output("y");
  const Graph graph = after(fuse_attention, m);
  EXPECT_EQ(types(graph), "Attention");
  EXPECT_EQ(graph.nodes[0].inputs.size(), 4u);
}

// q (2, 6, 5, 4), and k3 and v3 of three heads, each of which an Expand repeats.
OnnxModel repeated_heads() {
  OnnxModel m(23);
  m.input("q", {2, 6, 5, 4}).input("k", {2, 3, 7, 4}).input("v", {2, 3, 7, 8});
  m.initializer("axis", ints({2}))
      .initializer("k_heads", ints({2, 3, 2, 7, 4}))
      .initializer("v_heads", ints({2, 3, 2, 7, 8}))
      .initializer("k_all", ints({2, 6, 7, 4}))
      .initializer("v_all", ints({2, 6, 7, 8}));
  for (const std::string x : {"k", "v"})
    m.node("Unsqueeze", {x, "axis"}, {x + "1"})
        .node("Expand", {x + "1", x + "_heads"}, {x + "2"})
        .node("Reshape", {x + "2", x + "_all"}, {x + "3"});
  return m;
}

// The slopes of ALiBi times the positions of keys, added before another mask of `mask` or before a choice.
OnnxModel with_key_bias(int64_t queries, bool chooses, bool is_constant) {
  OnnxModel m;
  m.input("q", {1, 3, queries, 4}).input("k", {1, 3, 4, 7}).input("v", {1, 3, 7, 6});
  if (is_constant)
    m.initializer("bias", random_tensor({3, 1, 7}, 5));
  else
    m.input("bias", {3, 1, 7});
  m.node("MatMul", {"q", "k"}, {"s"}).node("Add", {"bias", "s"}, {"b"});
  if (chooses)
    m.input("x", {1, 1, queries, 7})
        .initializer("zero", scalar(0.0f))
        .initializer("least", scalar(-3e38f))
        .node("Greater", {"x", "zero"}, {"hidden"})
        .node("Where", {"hidden", "least", "b"}, {"m"});
  else
    m.input("mask", {1, 1, queries, 7}).node("Add", {"b", "mask"}, {"m"});
  m.node("Softmax", {"m"}, {"p"}, attributes({{"axis", int64_t{-1}}}));
  m.node("MatMul", {"p", "v"}, {"y"}).output("y");
  return m;
}

TEST(FuseAttention, BiasesOfKeysStayWithoutQueries) {
  for (const bool chooses : {false, true})
    for (const bool is_constant : {false, true}) {
      const Graph graph = after(fuse_attention, with_key_bias(5, chooses, is_constant));
      const Node& attention = graph.nodes.back();
      ASSERT_EQ(attention.inputs.size(), 7u) << types(graph);
      EXPECT_EQ(graph.values[attention.inputs[3]].type.shape, (Shape{1, 1, 5, 7}));
      EXPECT_EQ(graph.values[attention.inputs[6]].type.shape, (Shape{1, 3, 1, 7}));
    }
  // One query has no more elements in the sum.
  EXPECT_EQ(after(fuse_attention, with_key_bias(1, false, false)).nodes.back().inputs.size(), 4u);
}

// torch writes zeros where a mask excludes all keys of a row, and repeats heads of K and V by an Expand.
TEST(FuseAttention, RepeatedHeadsAndRowsWithoutKeys) {
  OnnxModel m = repeated_heads();
  std::vector<float> mask(35, 0.0f);
  std::fill_n(mask.begin() + 7, 9, -INFINITY);
  m.initializer("mask", HostTensor::f32({1, 1, 5, 7}, mask)).initializer("zero", scalar(0.0f));
  m.node("Transpose", {"k3"}, {"t"}, attributes({{"perm", Attributes::Ints{0, 1, 3, 2}}}))
      .node("MatMul", {"q", "t"}, {"s"})
      .node("Add", {"s", "mask"}, {"m"})
      .node("Softmax", {"m"}, {"p"}, attributes({{"axis", int64_t{-1}}}))
      .node("IsNaN", {"p"}, {"empty"})
      .node("Where", {"empty", "zero", "p"}, {"w"})
      .node("MatMul", {"w", "v3"}, {"y"})
      .output("y");
  const Graph graph = after(fuse_attention, m);
  EXPECT_EQ(types(graph), "Attention");
  EXPECT_EQ((*attention_of(graph).views)[1].shape, (Shape{2, 3, 7, 4}));
}

// torch's exporter for opset 23 repeats them before the operator Attention, too.
TEST(FuseAttention, RepeatedHeadsOfTheOperator) {
  OnnxModel m = repeated_heads();
  m.node("Attention", {"q", "k3", "v3"}, {"y"}, attributes({{"scale", 0.3f}, {"is_causal", int64_t{1}}}))
      .output("y");
  const Graph graph = after(fuse_attention, m);
  EXPECT_EQ(types(graph), "Attention");
  EXPECT_EQ((*attention_of(graph).views)[2].shape, (Shape{2, 3, 7, 8}));
  // Heads of which only the keys are repeated stay.
  OnnxModel keys = repeated_heads();
  keys.input("values", {2, 6, 7, 8});
  keys.node("Attention", {"q", "k3", "values"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_attention, keys)), "Unsqueeze Expand Reshape Attention");
}

// BART adds the mask while the scores have a batch, and multiplies without it.
TEST(FuseAttention, MaskKnownAtRunTimeBesideABatchOfOne) {
  OnnxModel m;
  m.input("q", {3, 5, 4}).input("k", {3, 4, 7}).input("v", {3, 7, 6}).input("mask", {1, 1, 5, 7});
  m.initializer("four", ints({1, 3, 5, 7})).initializer("three", ints({3, 5, 7}));
  m.node("MatMul", {"q", "k"}, {"s"})
      .node("Reshape", {"s", "four"}, {"s4"})
      .node("Add", {"s4", "mask"}, {"m"});
  m.node("Reshape", {"m", "three"}, {"m3"})
      .node("Softmax", {"m3"}, {"p"}, attributes({{"axis", int64_t{-1}}}))
      .node("MatMul", {"p", "v"}, {"y"})
      .output("y");
  EXPECT_EQ(types(after(fuse_attention, m)), "Attention");
}

// Attention over pixels, with channels before tokens: YOLO11, VAEs of diffusion models.
TEST(FuseAttention, ValuesWithChannelsBeforeTokens) {
  const Attributes swap = attributes({{"perm", Attributes::Ints{0, 1, 3, 2}}});
  for (const bool scaled : {false, true}) {
    OnnxModel m;
    m.input("q", {2, 3, 4, 5})
        .input("k", {2, 3, 4, 5})
        .input("v", {2, 3, 6, 5})
        .initializer("two", scalar(2.0f));
    m.node("Transpose", {"q"}, {"t"}, swap)
        .node("MatMul", {"t", "k"}, {"s"})
        .node("Div", {"s", "two"}, {"d"});
    m.node("Softmax", {scaled ? "d" : "s"}, {"p"}, attributes({{"axis", int64_t{-1}}}));
    m.node("Transpose", {"p"}, {"pt"}, swap).node("MatMul", {"v", "pt"}, {"y"}).output("y");
    const Graph graph = after(fuse_attention, m);
    EXPECT_EQ(types(graph), "Attention Transpose Reshape");
    EXPECT_EQ(attention_of(graph).scale, scaled ? 0.5f : 1.0f);
  }
  OnnxModel flat;  // of three dimensions, as one head each
  flat.input("q", {2, 5, 4}).input("k", {2, 4, 5}).input("v", {2, 6, 5});
  flat.node("MatMul", {"q", "k"}, {"s"}).node("Softmax", {"s"}, {"p"}, attributes({{"axis", int64_t{-1}}}));
  flat.node("Transpose", {"p"}, {"pt"}, attributes({{"perm", Attributes::Ints{0, 2, 1}}}));
  flat.node("MatMul", {"v", "pt"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_attention, flat)), "Attention Transpose Reshape");
}

TEST(FuseAttention, OtherTranspositionsOfTheWeightsStay) {
  OnnxModel m;
  m.input("q", {3, 3, 5, 4}).input("k", {3, 3, 4, 5}).input("v", {3, 3, 6, 5});
  m.node("MatMul", {"q", "k"}, {"s"}).node("Softmax", {"s"}, {"p"}, attributes({{"axis", int64_t{-1}}}));
  m.node("Transpose", {"p"}, {"pt"}, attributes({{"perm", Attributes::Ints{1, 0, 3, 2}}}));
  m.node("MatMul", {"v", "pt"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_attention, m)), "MatMul Softmax Transpose MatMul");
}

// Swin v2, XCiT: a constant temperature of each head.
TEST(FuseAttention, FactorsOfHeadsScaleQ) {
  const auto model = [](const Shape& factors, bool mask_first) {
    OnnxModel m;
    m.input("q", {2, 3, 5, 4}).input("k", {2, 3, 4, 7}).input("v", {2, 3, 7, 6});
    m.initializer("f", random_tensor(factors, 1, 0.5f, 2.0f))
        .initializer("mask", random_tensor({3, 5, 7}, 2));
    m.node("MatMul", {"q", "k"}, {"s"});
    m.node(mask_first ? "Add" : "Mul", {"s", mask_first ? "mask" : "f"}, {"t"});
    m.node(mask_first ? "Mul" : "Add", {"t", mask_first ? "f" : "mask"}, {"m"});
    m.node("Softmax", {"m"}, {"p"}, attributes({{"axis", int64_t{-1}}}));
    m.node("MatMul", {"p", "v"}, {"y"}).output("y");
    return types(after(fuse_attention, m));
  };
  EXPECT_EQ(model({3, 1, 1}, false), "Mul Attention");
  EXPECT_EQ(model({1, 3, 1, 1}, false), "Mul Attention");
  EXPECT_EQ(model({3, 1, 1}, true), "MatMul Add Mul Softmax MatMul");
  EXPECT_EQ(model({3, 5, 1}, false), "MatMul Mul Add Softmax MatMul");
}

TEST(FuseAttention, ScoresThatSomeoneElseReadsStay) {
  OnnxModel m = spelt_out();
  m.node("Relu", {"scaled"}, {"z"}).output("z");
  EXPECT_EQ(types(after(fuse_attention, m)), "Transpose MatMul Div Softmax MatMul Relu");
}

// (batch, tokens, 3 * heads * channels), as vision transformers make Q, K and V at once.
OnnxModel packed(bool masked_windows) {
  OnnxModel m;
  m.input("x", {4, 5, 36}).initializer("shape", ints({4, 5, 3, 3, 4})).initializer("half", scalar(0.5f));
  m.node("Reshape", {"x", "shape"}, {"r"});
  m.node("Transpose", {"r"}, {"t"}, attributes({{"perm", Attributes::Ints{2, 0, 3, 1, 4}}}));
  for (int i = 0; i < 3; ++i) {
    const std::string name(1, "qkv"[i]);
    m.initializer("i" + name, HostTensor::i64({}, std::vector<int64_t>{i}))
        .node("Gather", {"t", "i" + name}, {name});
  }
  m.node("Mul", {"q", "half"}, {"scaled"});
  m.node("Transpose", {"k"}, {"kt"}, attributes({{"perm", Attributes::Ints{0, 1, 3, 2}}}));
  m.node("MatMul", {"scaled", "kt"}, {"s"});
  m.initializer("relative", random_tensor({1, 3, 5, 5}, 4)).node("Add", {"s", "relative"}, {"a"});
  if (masked_windows) {
    m.initializer("apart", ints({2, 2, 3, 5, 5})).initializer("together", ints({-1, 3, 5, 5}));
    m.initializer("windows", random_tensor({1, 2, 1, 5, 5}, 5));
    m.node("Reshape", {"a", "apart"}, {"w"})
        .node("Add", {"w", "windows"}, {"wm"})
        .node("Reshape", {"wm", "together"}, {"b"});
  }
  m.node("Softmax", {masked_windows ? "b" : "a"}, {"p"}, attributes({{"axis", int64_t{-1}}}));
  m.node("MatMul", {"p", "v"}, {"o"});
  m.node("Transpose", {"o"}, {"ot"}, attributes({{"perm", Attributes::Ints{0, 2, 1, 3}}}));
  m.initializer("joined", ints({4, 5, 12})).node("Reshape", {"ot", "joined"}, {"y"}).output("y");
  return m;
}

TEST(FuseAttention, HeadsOfOneTensorAreViewed) {
  for (const bool masked_windows : {false, true}) {
    const Graph graph = after(fuse_attention, packed(masked_windows));
    EXPECT_EQ(types(graph), "Attention Reshape");
    const Attention& op = attention_of(graph);
    ASSERT_TRUE(op.views.has_value());
    EXPECT_TRUE(op.tokens_first);
    EXPECT_EQ((*op.views)[1], (StridedView{12, {4, 3, 5, 4}, {180, 4, 36, 1}}));
  }
}

// As torch exports MultiheadAttention: its result has the order (token, image, head, channel).
TEST(FuseAttention, HeadsThatMergeBehindTheBatch) {
  const auto types_of = [](int64_t images) {
    OnnxModel m;
    m.input("q", {images, 3, 5, 4}).input("k", {images, 3, 4, 7}).input("v", {images, 3, 7, 6});
    m.node("MatMul", {"q", "k"}, {"s"}).node("Softmax", {"s"}, {"p"}, attributes({{"axis", int64_t{-1}}}));
    m.node("MatMul", {"p", "v"}, {"o"});
    m.node("Transpose", {"o"}, {"ot"}, attributes({{"perm", Attributes::Ints{2, 0, 1, 3}}}));
    m.initializer("joined", ints({5 * images, 18})).node("Reshape", {"ot", "joined"}, {"y"}).output("y");
    return types(after(fuse_attention, m));
  };
  EXPECT_EQ(types_of(1), "Attention Reshape");
  EXPECT_EQ(types_of(2), "Attention Transpose Reshape") << "images are not in front";
}

// As torchvision's maxvit_t: windows and heads in five dimensions, a Split, a scaled K, products by Einsum.
OnnxModel windows_by_einsum() {
  OnnxModel m;
  m.input("x", {1, 4, 5, 36}).initializer("heads", ints({1, 4, 5, 3, 4})).initializer("half", scalar(0.5f));
  m.node("Split", {"x"}, {"qs", "ks", "vs"}, attributes({{"axis", int64_t{3}}}));
  for (const std::string name : {"q", "k", "v"})
    m.node("Reshape", {name + "s", "heads"}, {name + "r"})
        .node("Transpose", {name + "r"}, {name}, attributes({{"perm", Attributes::Ints{0, 1, 3, 2, 4}}}));
  m.node("Mul", {"k", "half"}, {"scaled"});
  m.node("Einsum", {"q", "scaled"}, {"s"}, attributes({{"equation", std::string("BGHID,BGHJD->BGHIJ")}}));
  m.initializer("relative", random_tensor({1, 3, 5, 5}, 4)).node("Add", {"s", "relative"}, {"a"});
  m.node("Softmax", {"a"}, {"p"}, attributes({{"axis", int64_t{-1}}}));
  m.node("Einsum", {"p", "v"}, {"o"}, attributes({{"equation", std::string("BGHIJ,BGHJD->BGHID")}}));
  m.node("Transpose", {"o"}, {"ot"}, attributes({{"perm", Attributes::Ints{0, 1, 3, 2, 4}}}));
  m.initializer("joined", ints({1, 4, 5, 12})).node("Reshape", {"ot", "joined"}, {"y"}).output("y");
  return m;
}

TEST(FuseAttention, WindowsAndHeadsByEinsum) {
  const auto passes = [](Graph& graph) {
    decompose(graph);
    remove_identities(graph);
    merge_reshapes(graph);
    fuse_attention(graph);
  };
  const Graph graph = after(passes, windows_by_einsum());
  EXPECT_EQ(types(graph), "Attention Reshape");
  const Attention& op = attention_of(graph);
  EXPECT_TRUE(op.tokens_first);
  EXPECT_EQ(op.scale, 0.5f);
  ASSERT_TRUE(op.views.has_value());
  EXPECT_EQ((*op.views)[2], (StridedView{24, {4, 3, 5, 4}, {180, 4, 36, 1}}));
}

TEST(FuseAttention, HeadsOfThreeDimensions) {
  OnnxModel m;
  m.input("x", {7, 1, 24}).initializer("heads", ints({7, 2, 4})).initializer("root", scalar(2.0f));
  for (int i = 0; i < 3; ++i) {
    const std::string name(1, "qkv"[i]);
    m.initializer("from" + name, ints({8 * i})).initializer("to" + name, ints({8 * (i + 1)}));
    if (i == 0) m.initializer("axis", ints({2}));
    m.node("Slice", {"x", "from" + name, "to" + name, "axis"}, {name + "s"});
    m.node("Reshape", {name + "s", "heads"}, {name + "r"});
  }
  m.node("Transpose", {"qr"}, {"q"}, attributes({{"perm", Attributes::Ints{1, 0, 2}}}))
      .node("Div", {"q", "root"}, {"qd"});
  m.node("Transpose", {"kr"}, {"k"}, attributes({{"perm", Attributes::Ints{1, 2, 0}}}));
  m.node("Transpose", {"vr"}, {"v"}, attributes({{"perm", Attributes::Ints{1, 0, 2}}}));
  m.node("MatMul", {"qd", "k"}, {"s"}).node("Softmax", {"s"}, {"p"}, attributes({{"axis", int64_t{-1}}}));
  m.node("MatMul", {"p", "v"}, {"o"})
      .node("Transpose", {"o"}, {"y"}, attributes({{"perm", Attributes::Ints{1, 0, 2}}}));
  m.output("y");
  EXPECT_EQ(types(after(fuse_attention, m)), "Attention");
}

TEST(FuseAttention, SoftmaxAlongAnotherAxisStays) {
  OnnxModel m;
  m.input("q", {1, 2, 4, 4}).input("k", {1, 2, 4, 4}).input("v", {1, 2, 4, 4});
  m.node("MatMul", {"q", "k"}, {"s"}).node("Softmax", {"s"}, {"p"}, attributes({{"axis", int64_t{2}}}));
  m.node("MatMul", {"p", "v"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_attention, m)), "MatMul Softmax MatMul");
}

TEST(FuseAttention, WeightsThatAreAnOutputStay) {
  OnnxModel m = spelt_out();
  m.output("p");
  EXPECT_EQ(types(after(fuse_attention, m)), "Transpose MatMul Div Softmax MatMul");
}

}  // namespace
}  // namespace vellum::test
