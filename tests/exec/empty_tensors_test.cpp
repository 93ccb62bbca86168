// Every operator with dimensions of 0 and 1: each dimension of each operator's inputs may be either, and of
// the outputs any may be unread.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "exec/executor.hpp"
#include "kernels/framework/lowering.hpp"
#include "passes/passes.hpp"
#include "support/gpu_test.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"
#include "vellum/error.hpp"

namespace vellum::test {
namespace {

using Ints = Attributes::Ints;

// An input: dimensions by name or size ("n c h 2"), of float32 unless a type stands before them ("i64: n c"),
// computed at run time; or a constant.
struct Input {
  Input(const char* text) : dims(text) {}
  Input(HostTensor tensor) : constant(std::move(tensor)) {}

  std::string dims;
  std::optional<HostTensor> constant;
};

struct Case {
  std::string type;
  std::vector<Input> inputs;
  Attributes attributes = {};
  size_t outputs = 1;
  int opset = 22;
};

HostTensor ints(const std::vector<int64_t>& values) {
  return HostTensor::i64({static_cast<int64_t>(values.size())}, values);
}
HostTensor one(int64_t value) { return HostTensor::i64({}, std::vector<int64_t>{value}); }
HostTensor floats(const std::vector<float>& values) {
  return HostTensor::f32({static_cast<int64_t>(values.size())}, values);
}
HostTensor one(float value) { return HostTensor::f32({}, std::vector<float>{value}); }
HostTensor tenths(Shape shape) {
  const std::vector<float> values(static_cast<size_t>(element_count(shape)), 0.1f);
  return HostTensor::f32(std::move(shape), values);
}
HostTensor byte(int64_t value) {
  return HostTensor::from<int64_t>(DType::u8, {}, std::vector<int64_t>{value});
}

std::vector<Case> elementwise_cases() {
  std::vector<Case> cases;
  for (const char* type : {"Relu",  "LeakyRelu", "Sigmoid", "Tanh",     "HardSigmoid", "HardSwish",
                           "Elu",   "Selu",      "Celu",    "Softplus", "Softsign",    "ThresholdedRelu",
                           "Mish",  "Erf",       "Gelu",    "Clip",     "Abs",         "Neg",
                           "Sign",  "Exp",       "Log",     "Sqrt",     "Reciprocal",  "Floor",
                           "Ceil",  "Round",     "Sin",     "Cos",      "Tan",         "Asin",
                           "Acos",  "Atan",      "Sinh",    "Cosh",     "Asinh",       "Acosh",
                           "Atanh", "IsNaN",     "IsInf",   "Shrink",   "Identity",    "Dropout"})
    cases.push_back({type, {"n c"}});
  cases.push_back({"Not", {"bool: n c"}});
  cases.push_back({"BitwiseNot", {"i32: n c"}});
  for (const float alpha : {1.0f, 2.0f}) cases.push_back({"Swish", {"n c"}, attributes({{"alpha", alpha}})});
  cases.push_back({"SwiGLU", {"n c", "n c"}});
  for (const char* type : {"BitwiseAnd", "BitwiseOr", "BitwiseXor"})
    cases.push_back({type, {"i32: n c", "i32: c"}});
  for (const char* type : {"Add", "Sub", "Mul", "Div", "Pow", "Equal", "Greater", "Less", "GreaterOrEqual",
                           "LessOrEqual", "PRelu"})
    cases.push_back({type, {"n c h w", "c 1 1"}});
  cases.push_back({"Mod", {"n c", "c"}, attributes({{"fmod", int64_t{1}}})});
  for (const char* type : {"And", "Or", "Xor"}) cases.push_back({type, {"bool: n c", "bool: c"}});
  cases.push_back({"BitShift", {"u8: n c", "u8: c"}, attributes({{"direction", std::string("LEFT")}})});
  for (const char* type : {"Min", "Max", "Sum", "Mean"}) cases.push_back({type, {"n c", "c", "n c"}});
  cases.push_back({"Where", {"bool: n c", "n c", "c"}});
  cases.push_back({"Cast", {"n c"}, attributes({{"to", int64_t{7}}})});
  cases.push_back({"CastLike", {"n c", "i64: 2"}});
  return cases;
}

std::vector<Case> movement_cases() {
  const auto axis = [](int64_t value) { return attributes({{"axis", value}}); };
  const auto block = attributes({{"blocksize", int64_t{2}}});
  return {
      {"Reshape", {"n c h", ints({0, -1})}},
      {"Reshape", {"n c h", ints({-1, 2})}},
      {"Reshape", {"n c h", ints({0, 0, 4})}},
      {"Reshape", {"n c", ints({0, 3})}, attributes({{"allowzero", int64_t{1}}})},
      {"Flatten", {"n c h"}},
      {"Squeeze", {"n 1 c", ints({1})}},
      {"Unsqueeze", {"n c", ints({1})}},
      {"Transpose", {"n c h w"}},
      {"Concat", {"n c", "m c", "k c"}, axis(0)},
      {"Concat", {"n c h w", "n d h w"}, axis(1)},
      {"Split", {"n 4 h", ints({0, 3, 0, 1})}, axis(1), 4},
      {"Split", {"n 4 h w", ints({0, 4})}, axis(1), 2},
      {"Split", {"n c"}, attributes({{"axis", int64_t{1}}, {"num_outputs", int64_t{2}}}), 2},
      {"Slice", {"n c", ints({1}), ints({3}), ints({1})}},
      {"Slice", {"n c", ints({2}), ints({2}), ints({0})}},
      {"Pad", {"n c h w", ints({0, 0, 1, 1, 0, 0, 1, 2})}},
      {"Pad", {"n c", ints({0, 1, 0, 0})}, attributes({{"mode", std::string("reflect")}})},
      {"CenterCropPad", {"n c", ints({2, 1})}},
      {"Col2Im", {"n 4 2", ints({1, 3}), ints({1, 2})}},
      {"AffineGrid", {"n 2 3", ints({1, 1, 2, 2})}},
      {"TensorScatter", {"n 3 c", "n 2 c"}},
      {"DepthToSpace", {"n c h w"}, block},
      {"SpaceToDepth", {"n c h w"}, block},
      {"Expand", {"n 1", ints({1, 3})}},
      {"Expand", {"n 1", ints({1, 0})}},
      {"Tile", {"n c", ints({2, 3})}},
      {"Tile", {"n c", ints({2, 0})}},
      {"Gather", {"n c", "i64: k"}, axis(1)},
      {"GatherElements", {"n c", "i64: n k"}, axis(1)},
      {"GatherND", {"n c h", "i64: k 2"}},
      {"ScatterElements", {"n c", "i64: n k", "n k"}, axis(1)},
      {"ScatterND", {"n c", "i64: k 1", "k c"}},
      {"TopK", {"n c", ints({0})}, {}, 2},
      {"TopK", {"n c", ints({3})}, axis(0), 2},
      {"TopK", {"n c h", ints({1})}, axis(1), 2},
      {"NonZero", {"n c"}},
      {"Unique", {"n"}, {}, 4},
      {"Compress", {"n c", "bool: n"}, axis(0)},
      {"OneHot", {"i64: n c", one(int64_t{3}), floats({0, 1})}},
      {"OneHot", {"i64: n c", one(int64_t{0}), floats({0, 1})}},
      {"Trilu", {"b n c"}},
      {"CumSum", {"n c h", one(int64_t{1})}},
      {"CumProd", {"n c h", one(int64_t{1})}},
      {"BitCast", {"n c"}, attributes({{"to", int64_t{6}}})},
      {"DFT", {"n 4 1", "", one(int64_t{1})}},
      {"STFT", {"n 8 1", one(int64_t{2}), "", one(int64_t{4})}},
      {"HannWindow", {one(int64_t{3})}},
      {"HammingWindow", {one(int64_t{3})}},
      {"BlackmanWindow", {one(int64_t{0})}},
      {"MelWeightMatrix", {one(int64_t{2}), one(int64_t{16}), one(int64_t{8192}), one(0.0f), one(4096.0f)}},
      {"RandomUniform", {}, attributes({{"shape", Ints{2, 0}}, {"seed", 1.0f}})},
      {"RandomNormal", {}, attributes({{"shape", Ints{1, 3}}, {"seed", 1.0f}})},
      {"RandomUniformLike", {"n c"}, attributes({{"seed", 1.0f}})},
      {"RandomNormalLike", {"n c"}, attributes({{"seed", 1.0f}})},
      {"Bernoulli", {"n c"}, attributes({{"seed", 1.0f}})},
      {"OptionalHasElement", {"n c"}},
      {"OptionalGetElement", {"n c"}},
      {"ReverseSequence", {"t n c", "i64: n"}},
      {"Shape", {"n c"}},
      {"Size", {"n c"}},
      {"ConstantOfShape", {ints({0, 3})}},
      {"Range", {one(1.0f), one(1.0f), one(1.0f)}},
      {"EyeLike", {"n c"}},
      {"Resize", {"n c h w", "", floats({1, 1, 2, 2})}},
      {"Upsample", {"n c h w", floats({1, 1, 2, 2})}, {}, 1, 10},
  };
}

std::vector<Case> reduction_cases() {
  std::vector<Case> cases;
  for (const char* type : {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1",
                           "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"}) {
    cases.push_back({type, {"n c h w", ints({2, 3})}});
    cases.push_back({type, {"n c"}});
  }
  for (const char* type : {"ReduceMax", "ReduceMin", "ReduceMean"}) {
    cases.push_back({type, {"i32: n c", ints({1})}});
    cases.push_back({type, {"u8: n c", ints({1})}});
  }
  for (const char* type : {"ReduceMax", "ReduceMin"}) cases.push_back({type, {"bool: n c", ints({1})}});
  for (const char* type : {"ArgMax", "ArgMin"})
    cases.push_back({type, {"n c h"}, attributes({{"axis", int64_t{1}}})});
  for (const char* type : {"Softmax", "LogSoftmax", "Hardmax"}) {
    cases.push_back({type, {"n c h"}});
    cases.push_back({type, {"n c h"}, {}, 1, 11});
  }
  for (const char* type : {"GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"})
    cases.push_back({type, {"n c h w"}});
  for (const char* type : {"MaxPool", "AveragePool", "LpPool"})
    cases.push_back({type, {"n c h w"}, attributes({{"kernel_shape", Ints{2, 2}}})});
  cases.push_back({"MaxPool", {"n c h w"}, attributes({{"kernel_shape", Ints{2, 2}}}), 2});
  const auto lrn = attributes({{"size", int64_t{3}}});
  const auto groups = attributes({{"num_groups", int64_t{2}}});
  cases.insert(cases.end(), {{"BatchNormalization", {"n c h w", "c", "c", "c", "c"}},
                             {"InstanceNormalization", {"n c h w", "c", "c"}},
                             {"LayerNormalization", {"n m c", "c", "c"}, {}, 3},
                             {"RMSNormalization", {"n m c", "c"}, {}, 1, 23},
                             {"LayerNormalization", {"n m c", "m c"}, attributes({{"axis", int64_t{1}}})},
                             {"GroupNormalization", {"n 4 h w", "4", "4"}, groups},
                             {"MeanVarianceNormalization", {"n c h w"}},
                             {"LpNormalization", {"n c"}},
                             {"LRN", {"n c h w"}, lrn}});
  return cases;
}

std::vector<Case> product_cases() {
  const auto equation = [](const char* text) { return attributes({{"equation", std::string(text)}}); };
  const HostTensor scale = one(0.5f), zero = byte(3);
  return {
      {"MatMul", {"m k", "k p"}},
      {"MatMul", {"b m k", "k p"}},
      {"MatMul", {"b m k", "b k p"}},
      {"MatMul", {"k", "k p"}},
      {"MatMul", {"i64: m k", "i64: k p"}},
      {"Gemm", {"m k", "k p"}},
      {"Gemm", {"m k", "k p", "p"}},
      {"Gemm", {"m k", "k p", "m p"}, attributes({{"beta", 0.5f}})},
      {"Conv", {"n c h w", "m c 2 2"}},
      {"Conv", {"n c h w", "m c 2 2", "m"}},
      {"ConvTranspose", {"n c h w", "c m 2 2", "m"}},
      {"DeformConv", {"n c 4 5", "m c 1 1", "n 2 4 5"}},
      {"CausalConvWithState", {"n c k", "c 1 2"}, {}, 2},
      {"RNN", {"t b i", "1 h i", "1 h h"}, {}, 2},
      {"RNN", {"t b i", "1 2 i", tenths({1, 2, 2})}, {}, 2},
      {"GRU", {"t b i", "1 6 i", tenths({1, 6, 2})}, {}, 2},
      {"LSTM", {"t b i", "1 8 i", tenths({1, 8, 2})}, {}, 3},
      {"RotaryEmbedding", {"n m k 4", "n k 2", "n k 2"}},
      {"Attention", {"n h q d", "n h k d", "n h k e"}},
      {"LinearAttention",
       {"n m 4", "n m 4", "n m 4"},
       attributes({{"q_num_heads", int64_t{2}},
                   {"kv_num_heads", int64_t{2}},
                   {"update_rule", std::string("linear")}}),
       2,
       27},
      {"FlexAttentionScores", {"n 4 q d", "n 2 k d"}},
      {"FlexAttentionValues", {"n 4 q k", "n 2 k d"}},
      {"Det", {"n c c"}},
      {"Einsum", {"i k", "k j"}, equation("ik,kj->ij")},
      {"Einsum", {"i j", "k"}, equation("ij,k->k")},
      {"Einsum", {"i j"}, equation("ij->j")},
      {"GridSample", {"n c h w", "n p q 2"}},
      {"RoiAlign", {"n c h w", "r 4", "i64: r"}},
      {"NonMaxSuppression", {"n b 4", "n c b", one(int64_t{2})}},
      {"MaxUnpool", {"n c h w", "i64: n c h w"}, attributes({{"kernel_shape", Ints{2, 2}}})},
      {"QuantizeLinear", {"n c", scale, zero}},
      {"DequantizeLinear", {"u8: n c", scale, zero}},
      {"DynamicQuantizeLinear", {"n c"}, {}, 3},
      {"ConvInteger", {"u8: n c h w", "u8: m c 2 2", zero}},
      {"QLinearConv", {"u8: n c h w", scale, zero, "u8: m c 2 2", scale, zero, scale, zero}},
      {"MatMulInteger", {"u8: m k", "u8: k p", zero}},
      {"QLinearMatMul", {"u8: m k", scale, zero, "u8: k p", scale, zero, scale, zero}},
  };
}

struct Parsed {
  DType dtype = DType::f32;
  std::vector<std::string> dims;
};

Parsed parse(const std::string& text) {
  const std::map<std::string, DType> types = {
      {"i64:", DType::i64}, {"i32:", DType::i32}, {"u8:", DType::u8}, {"bool:", DType::boolean}};
  Parsed parsed;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (const auto found = types.find(word); found != types.end())
      parsed.dtype = found->second;
    else
      parsed.dims.push_back(word);
  }
  return parsed;
}

bool is_name(const std::string& dim) { return dim[0] > '9'; }

std::set<std::string> dimension_names(const Case& test) {
  std::set<std::string> names;
  for (const Input& input : test.inputs)
    for (const std::string& dim : parse(input.dims).dims)
      if (is_name(dim)) names.insert(dim);
  return names;
}

// A dimension of another size than 4.
struct Other {
  std::string name;  // empty: none
  int64_t size = 0;
};

constexpr size_t kAllOutputs = SIZE_MAX;

// The operator with one dimension of another size. What has no elements is cut out of a graph input that has
// some. `read`: a bit for each output that the model has.
OnnxModel model_of(const Case& test, const Other& other, size_t read = kAllOutputs) {
  OnnxModel model(test.opset);
  model.initializer("zero", ints({0}));
  std::vector<std::string> inputs;
  for (const Input& input : test.inputs) {
    const std::string name = "x" + std::to_string(inputs.size());
    inputs.push_back(name);
    if (input.constant) {
      model.initializer(name, *input.constant);
      continue;
    }
    if (input.dims.empty()) {
      inputs.back() = "";
      continue;
    }
    const Parsed parsed = parse(input.dims);
    Shape shape;
    std::string last = name + "_whole";
    for (const std::string& dim : parsed.dims)
      shape.push_back(!is_name(dim) ? std::stoll(dim) : dim == other.name && other.size > 0 ? other.size : 4);
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (parsed.dims[axis] != other.name || other.size > 0) continue;
      const std::string at = name + "_axis" + std::to_string(axis);
      const std::string next = name + "_" + std::to_string(axis + 1);
      model.initializer(at, ints({static_cast<int64_t>(axis)}));
      model.node("Slice", {last, "zero", "zero", at}, {next});
      last = next;
    }
    model.input(name + "_whole", shape, parsed.dtype);
    inputs.back() = last;
  }
  std::vector<std::string> outputs;
  for (size_t i = 0; i < test.outputs; ++i) {
    outputs.push_back("y" + std::to_string(i));
    if (read >> std::min<size_t>(i, 63) & 1) model.output(outputs.back());
  }
  return std::move(model.node(test.type, inputs, outputs, test.attributes, "under_test"));
}

// Integers are small and in range as indices, and `least` keeps floats in the domains of most functions.
std::vector<HostTensor> inputs_of(const Graph& graph, float least) {
  std::vector<HostTensor> inputs;
  for (const ValueId id : graph.inputs) {
    const TensorType& type = graph.values[id].type;
    const bool real = type.dtype == DType::f32;
    inputs.push_back(
        cast(random_tensor(type.shape, id, real ? least : 0.0f, least > 0 ? 0.9f : 1.9f), type.dtype));
  }
  return inputs;
}

template <typename Work>
std::optional<Error> error_of(Work&& work) {
  try {
    work();
    return std::nullopt;
  } catch (const Error& error) {
    return error;
  }
}

std::vector<HostTensor> run_on_device(const Graph& graph, const std::vector<HostTensor>& inputs) {
  Executor executor(test_context(),
                    compile_program(test_context(), lower(optimise(graph, {}), test_context()->caps(), {})));
  for (size_t i = 0; i < inputs.size(); ++i) executor.set_input(i, inputs[i]);
  executor.run();
  std::vector<HostTensor> outputs;
  for (size_t i = 0; i < executor.program().outputs.size(); ++i) outputs.push_back(executor.output(i));
  return outputs;
}

// A mean of nothing is not a number; where a function is not defined, devices may differ.
void expect_close(const HostTensor& got, const HostTensor& want, bool has_elements) {
  ASSERT_EQ(got.type(), want.type());
  const double tolerance = has_elements ? 1e-3 : 1e-5;
  const std::vector<float> a = got.to_floats(), b = want.to_floats();
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(b[i]) ? has_elements || std::isnan(a[i]) : a[i] == b[i]) continue;
    ASSERT_NEAR(a[i], b[i], tolerance * std::max(1.0f, std::abs(b[i]))) << "element " << i;
  }
}

// The device computes what the host computes, and refuses what the host refuses.
void check(const Case& test, const Other& other, size_t read = kAllOutputs) {
  SCOPED_TRACE(test.type + " with " +
               (other.name.empty() ? "no other dimension" : other.name + " = " + std::to_string(other.size)) +
               (read == kAllOutputs ? "" : ", outputs " + std::to_string(read)));
  const Graph graph = model_of(test, other, read).graph();
  const bool has_elements = !other.name.empty() && other.size > 0;
  const std::vector<HostTensor> inputs = inputs_of(graph, has_elements ? 0.1f : -1.0f);
  std::vector<HostTensor> want, got;
  const auto refused = error_of([&] { want = evaluate(graph, inputs); });
  const auto failed = error_of([&] { got = run_on_device(graph, inputs); });
  ASSERT_EQ(failed.has_value(), refused.has_value()) << (failed ? failed : refused)->what();
  if (failed) {
    EXPECT_NE(std::string(failed->what()).find(test.type), std::string::npos) << failed->what();
    EXPECT_NE(failed->code(), ErrorCode::internal) << failed->what();
  }
  for (size_t i = 0; i < want.size(); ++i) {
    SCOPED_TRACE("output " + std::to_string(i));
    expect_close(got[i], want[i], has_elements);
  }
}

// With each subset of the outputs.
void check_outputs(const Case& test, const Other& other) {
  for (size_t read = 1; read < (size_t{1} << test.outputs); ++read) check(test, other, read);
}

void check_all(const std::vector<Case>& cases) {
  for (const Case& test : cases) {
    const std::set<std::string> names = dimension_names(test);
    if (names.empty()) check(test, {});
    for (const std::string& name : names)
      for (const int64_t size : {0, 1}) check_outputs(test, {name, size});
  }
}

TEST(EmptyTensors, Elementwise) { check_all(elementwise_cases()); }
TEST(EmptyTensors, Movement) { check_all(movement_cases()); }
TEST(EmptyTensors, Reductions) { check_all(reduction_cases()); }
TEST(EmptyTensors, Products) { check_all(product_cases()); }

// Every operator of ONNX that has a row in the table is in one of the lists.
TEST(EmptyTensors, ListsAreComplete) {
  std::set<std::string> listed = {"Constant",       "Silu",
                                  "PickChannels",   "SqueezeExcite",
                                  "Scatter",        "ChannelNormalization",
                                  "Frame",          "Recurrence",
                                  "Picture",        "SeparableConv",
                                  "FakeQuantize",   "StackFrames",
                                  "RotateChannels", "ConvSqueezeExcite",
                                  "ExpandConv",     "ConvMean",
                                  "PoolConv"};
  for (const auto& cases : {elementwise_cases(), movement_cases(), reduction_cases(), product_cases()})
    for (const Case& test : cases) listed.insert(test.type);
  for (const std::string_view type : operator_types()) {
    if (type.starts_with("com.microsoft.")) continue;                               // made of the others
    if (type.find("Sequence") != type.npos && type != "ReverseSequence") continue;  // resolved before kernels
    EXPECT_TRUE(listed.contains(std::string(type))) << type;
  }
}

TEST(EmptyTensors, ReductionsOverNothingGiveTheirIdentity) {
  const auto reduced = [](const std::string& type, const std::string& dtype) {
    const std::string input = dtype + ": n c";
    const Graph graph = optimise(model_of({type, {input.c_str(), ints({1})}}, {"c", 0}).graph(), {});
    return graph.constant(graph.outputs[0])->to_ints()[0];
  };
  EXPECT_EQ(reduced("ReduceMax", "i32"), INT32_MIN);
  EXPECT_EQ(reduced("ReduceMin", "i32"), INT32_MAX);
  EXPECT_EQ(reduced("ReduceMax", "u8"), 0);
  EXPECT_EQ(reduced("ReduceMin", "u8"), 255);
  EXPECT_EQ(reduced("ReduceMax", "bool"), 0);
  EXPECT_EQ(reduced("ReduceMin", "bool"), 1);
  EXPECT_EQ(reduced("ReduceSum", "i64"), 0);
  EXPECT_EQ(reduced("ReduceProd", "i64"), 1);
}

}  // namespace
}  // namespace vellum::test
