#include "bench/kernels/cases.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "support/tensors.hpp"

namespace vellum::bench {
namespace {

using Ints = Attributes::Ints;
using test::OperatorCase;
using test::random_tensor;

OperatorCase operator_on(std::string type, std::vector<std::optional<HostTensor>> inputs,
                         std::set<size_t> constants = {}, int opset = 13) {
  OperatorCase op;
  op.type = std::move(type);
  op.inputs = std::move(inputs);
  op.constants = std::move(constants);
  op.opset = opset;
  return op;
}

// The inputs stay row-major, as token tensors are in networks.
OperatorCase row_major(OperatorCase op) {
  op.sweep.channels4_inputs = false;
  return op;
}

// Elements that sum to about 1 over `terms` products, so that errors compare across sizes.
HostTensor weights(const Shape& shape, int64_t terms) {
  const float scale = 2.0f / std::sqrt(static_cast<float>(terms));
  return random_tensor(shape, 2, -scale, scale);
}

struct Window {
  int64_t stride = 1, pad = 0, group = 1, dilation = 1;
};

OperatorCase convolution(const Shape& x, const Shape& w, const Window& window, const char* type = "Conv") {
  const bool transposed = std::string(type) == "ConvTranspose";
  const int64_t outputs = transposed ? w[1] : w[0];
  OperatorCase op = operator_on(type, {random_tensor(x, 1), weights(w, element_count(w) / outputs)}, {1});
  op.attributes.set("strides", Ints{window.stride, window.stride});
  op.attributes.set("pads", Ints{window.pad, window.pad, window.pad, window.pad});
  op.attributes.set("dilations", Ints{window.dilation, window.dilation});
  op.attributes.set("group", window.group);
  return op;
}

void add_convolutions(std::vector<KernelCase>& cases) {
  const auto add = [&](std::string name, const Shape& x, const Shape& w, const Window& window = {},
                       bool quick = false) {
    cases.push_back({"conv " + std::move(name), convolution(x, w, window), quick});
  };
  add("1x1 24>28 64x64", {1, 24, 64, 64}, {28, 24, 1, 1});
  add("1x1 96>96 16x16", {1, 96, 16, 16}, {96, 96, 1, 1}, {}, true);
  add("1x1 256>256 40x40", {1, 256, 40, 40}, {256, 256, 1, 1}, {}, true);
  add("1x1 2048>512 7x7", {1, 2048, 7, 7}, {512, 2048, 1, 1});
  add("3x3 64>64 56x56", {1, 64, 56, 56}, {64, 64, 3, 3}, {.pad = 1}, true);
  add("3x3 128>128 28x28", {1, 128, 28, 28}, {128, 128, 3, 3}, {.pad = 1});
  add("3x3 512>512 7x7", {1, 512, 7, 7}, {512, 512, 3, 3}, {.pad = 1});
  add("3x3 64>64 dilation 5", {1, 64, 40, 40}, {64, 64, 3, 3}, {.pad = 5, .dilation = 5});
  add("3x3/2 32>64 80x80", {1, 32, 80, 80}, {64, 32, 3, 3}, {.stride = 2, .pad = 1});
  add("7x7/2 3>64 224x224", {1, 3, 224, 224}, {64, 3, 7, 7}, {.stride = 2, .pad = 3});
  add("3x3/2 3>32 224x224", {1, 3, 224, 224}, {32, 3, 3, 3}, {.stride = 2, .pad = 1});
  add("3x3 groups of 8", {1, 64, 40, 40}, {64, 8, 3, 3}, {.pad = 1, .group = 8});
  add("3x3 groups of 3", {1, 48, 40, 40}, {48, 3, 3, 3}, {.pad = 1, .group = 16});
  add("3x3 groups of 2", {1, 64, 40, 40}, {64, 2, 3, 3}, {.pad = 1, .group = 32});
  add("3x3/2 groups of 6", {1, 48, 80, 80}, {48, 6, 3, 3}, {.stride = 2, .pad = 1, .group = 8});
  add("3x3 groups of 10", {1, 120, 28, 28}, {120, 10, 3, 3}, {.pad = 1, .group = 12});
  add("3x3 groups of 18", {1, 144, 28, 28}, {144, 18, 3, 3}, {.pad = 1, .group = 8});
  add("1x1 groups of 6", {1, 48, 80, 80}, {48, 6, 1, 1}, {.group = 8});
  add("depthwise 3x3 48>96 40x40", {1, 48, 40, 40}, {96, 1, 3, 3}, {.pad = 1, .group = 48});
  add("depthwise 3x3 96 64x64", {1, 96, 64, 64}, {96, 1, 3, 3}, {.pad = 1, .group = 96}, true);
  add("depthwise 3x3/2 96 64x64", {1, 96, 64, 64}, {96, 1, 3, 3}, {.stride = 2, .pad = 1, .group = 96});
  add("depthwise 5x5 96 64x64", {1, 96, 64, 64}, {96, 1, 5, 5}, {.pad = 2, .group = 96});
  cases.push_back({"transposed 2x2/2 64>32 40x40",
                   convolution({1, 64, 40, 40}, {64, 32, 2, 2}, {.stride = 2}, "ConvTranspose")});
  cases.push_back({"transposed 4x4/2 64>32 40x40",
                   convolution({1, 64, 40, 40}, {64, 32, 4, 4}, {.stride = 2, .pad = 1}, "ConvTranspose")});
}

void add_products(std::vector<KernelCase>& cases) {
  const auto add = [&](std::string name, const char* type, const Shape& a, const Shape& b, bool constant,
                       bool quick = false) {
    OperatorCase op = operator_on(type, {random_tensor(a, 1), weights(b, b[b.size() - 2])});
    if (constant) op.constants = {1};
    cases.push_back({std::move(name), row_major(std::move(op)), quick});
  };
  add("gemm 1x1280>1000", "Gemm", {1, 1280}, {1280, 1000}, true, true);
  add("gemm 512^3", "Gemm", {512, 512}, {512, 512}, true);
  add("matmul 197x192 192x576", "MatMul", {4, 197, 192}, {192, 576}, true);
  add("matmul of inputs 512^3", "MatMul", {512, 512}, {512, 512}, false, true);
  add("matmul of inputs 197^2x64", "MatMul", {12, 197, 64}, {12, 64, 197}, false);
  const Shape heads{1, 12, 197, 64};
  cases.push_back(
      {"attention 12 heads 197x64",
       row_major(operator_on("Attention",
                             {random_tensor(heads, 1), random_tensor(heads, 2), random_tensor(heads, 3)}, {},
                             23))});
}

OperatorCase pool(const char* type, const Shape& x, int64_t side, int64_t stride, int64_t pad) {
  OperatorCase op = operator_on(type, {random_tensor(x, 1)});
  op.attributes.set("kernel_shape", Ints{side, side});
  op.attributes.set("strides", Ints{stride, stride});
  op.attributes.set("pads", Ints{pad, pad, pad, pad});
  return op;
}

OperatorCase over_axes(OperatorCase op, const char* name, Attributes::Value axes) {
  op.attributes.set(name, std::move(axes));
  return op;
}

HostTensor scales(float rows, float columns) {
  HostTensor tensor(DType::f32, {4});
  const float values[] = {1, 1, rows, columns};
  std::copy(std::begin(values), std::end(values), tensor.mutable_as<float>().begin());
  return tensor;
}

void add_others(std::vector<KernelCase>& cases) {
  const Shape map{1, 96, 56, 56}, rows{1, 12, 197, 197}, tokens{1, 197, 768};
  cases.push_back({"max pool 3x3/2 64 112x112", pool("MaxPool", {1, 64, 112, 112}, 3, 2, 1)});
  cases.push_back({"average pool 3x3 64 56x56", pool("AveragePool", {1, 64, 56, 56}, 3, 1, 1)});
  cases.push_back({"global average pool 512 14x14",
                   operator_on("GlobalAveragePool", {random_tensor({1, 512, 14, 14}, 1)})});
  OperatorCase linear =
      operator_on("Resize", {random_tensor({1, 64, 40, 40}, 1), std::nullopt, scales(2, 2)}, {2});
  linear.attributes.set("mode", std::string("linear"));
  cases.push_back({"resize linear 64 40x40 x2", linear});
  OperatorCase nearest = linear;
  nearest.attributes.set("mode", std::string("nearest"));
  cases.push_back({"resize nearest 64 40x40 x2", nearest});
  cases.push_back({"add 96 56x56", operator_on("Add", {random_tensor(map, 1), random_tensor(map, 2)}), true});
  cases.push_back({"multiply by channels 96 56x56",
                   operator_on("Mul", {random_tensor(map, 1), random_tensor({1, 96, 1, 1}, 2)})});
  cases.push_back({"hard-swish 96 56x56", operator_on("HardSwish", {random_tensor(map, 1)}, {}, 14)});
  cases.push_back({"transpose 96 56x56",
                   over_axes(operator_on("Transpose", {random_tensor(map, 1)}), "perm", Ints{0, 2, 3, 1})});
  cases.push_back({"reduce mean over channels 96 56x56",
                   over_axes(operator_on("ReduceMean", {random_tensor(map, 1)}), "axes", Ints{1})});
  cases.push_back({"softmax 12x197x197", row_major(over_axes(operator_on("Softmax", {random_tensor(rows, 1)}),
                                                             "axis", int64_t{-1}))});
  cases.push_back(
      {"layer norm 197x768",
       row_major(operator_on("LayerNormalization",
                             {random_tensor(tokens, 1), random_tensor({768}, 2), random_tensor({768}, 3)},
                             {1, 2}, 17))});
}

}  // namespace

std::vector<KernelCase> kernel_cases() {
  std::vector<KernelCase> cases;
  add_convolutions(cases);
  add_products(cases);
  add_others(cases);
  return cases;
}

}  // namespace vellum::bench
