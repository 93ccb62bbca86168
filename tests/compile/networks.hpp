// Networks of the blocks whose layers devices compute together, with the shapes of the published ones.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {

// Adds layers one after the other; each reads what the last one computed.
class NetworkBuilder {
 public:
  explicit NetworkBuilder(const Shape& input) : channels_(input[1]) { model_.input("x", input); }

  NetworkBuilder& conv(int64_t filters, int64_t kernel, int64_t stride = 1, int64_t groups = 1) {
    const std::string name = next(groups > 1 ? "depthwise" : kernel == 1 ? "product" : "conv");
    const int64_t pad = kernel / 2;
    model_.initializer(name + ".w", random_tensor({filters, channels_ / groups, kernel, kernel}, ++seed_))
        .initializer(name + ".b", random_tensor({filters}, 7))
        .node("Conv", {value_, name + ".w", name + ".b"}, {name},
              attributes({{"group", groups},
                          {"strides", std::vector<int64_t>{stride, stride}},
                          {"pads", std::vector<int64_t>{pad, pad, pad, pad}}}),
              name);
    channels_ = filters;
    return at(name);
  }
  NetworkBuilder& depthwise(int64_t kernel, int64_t stride = 1) {
    return conv(channels_, kernel, stride, channels_);
  }
  NetworkBuilder& relu() { return unary("Relu"); }
  // Rounds to bytes, as quantised models do with every tensor.
  NetworkBuilder& round() {
    const std::string name = next("round");
    model_.initializer(name + ".step", HostTensor::f32({}, std::vector<float>{1.0f / 16}))
        .initializer(name + ".zero", HostTensor::from<int64_t>(DType::u8, {}, std::vector<int64_t>{100}))
        .node("QuantizeLinear", {value_, name + ".step", name + ".zero"}, {name + ".bytes"})
        .node("DequantizeLinear", {name + ".bytes", name + ".step", name + ".zero"}, {name}, {}, name);
    return at(name);
  }
  NetworkBuilder& relu6() {
    const std::string name = next("relu6");
    model_.initializer(name + ".low", HostTensor::f32({}, std::vector<float>{0}))
        .initializer(name + ".high", HostTensor::f32({}, std::vector<float>{6}))
        .node("Clip", {value_, name + ".low", name + ".high"}, {name}, {}, name);
    return at(name);
  }
  NetworkBuilder& silu() {
    const std::string x = value_;
    unary("Sigmoid");
    return combine("Mul", x);
  }
  NetworkBuilder& max_pool(int64_t kernel, int64_t stride, int64_t pad = 0) {
    const std::string name = next("pool");
    model_.node("MaxPool", {value_}, {name},
                attributes({{"kernel_shape", std::vector<int64_t>{kernel, kernel}},
                            {"strides", std::vector<int64_t>{stride, stride}},
                            {"pads", std::vector<int64_t>{pad, pad, pad, pad}}}),
                name);
    return at(name);
  }
  NetworkBuilder& squeeze_excite(int64_t hidden) {
    const std::string x = value_;
    const int64_t channels = channels_;
    unary("GlobalAveragePool").conv(hidden, 1).silu().conv(channels, 1).unary("Sigmoid");
    return combine("Mul", x);
  }
  // Inverted residual: `expansion` times as many channels between two 1x1 convolutions.
  NetworkBuilder& inverted_residual(int64_t filters, int64_t kernel, int64_t stride, int64_t expansion,
                                    bool gates) {
    const std::string x = value_;
    const int64_t inputs = channels_;
    const auto activate = [&] { gates ? silu() : relu6(); };
    if (expansion > 1) conv(inputs * expansion, 1), activate();
    depthwise(kernel, stride);
    activate();
    if (gates) squeeze_excite(std::max<int64_t>(1, inputs / 4));
    conv(filters, 1);
    return stride == 1 && filters == inputs ? combine("Add", x) : *this;
  }
  // Fire module: a 1x1 convolution, and a 1x1 and a 3x3 convolution of that side by side.
  NetworkBuilder& fire(int64_t squeezed, int64_t filters) {
    conv(squeezed, 1).relu();
    const std::string x = value_;
    const std::string first = conv(filters, 1).relu().value_;
    at(x).channels_ = squeezed;
    const std::string second = conv(filters, 3).relu().value_;
    const std::string name = next("concat");
    model_.node("Concat", {first, second}, {name}, attributes({{"axis", int64_t{1}}}), name);
    channels_ = 2 * filters;
    return at(name);
  }
  // Atrous spatial pyramid pooling: convolutions of several sizes and the mean of all pixels, `side` x `side`
  // of them, as channels of one tensor.
  NetworkBuilder& pyramid(int64_t filters, int64_t side) {
    const std::string x = value_;
    const int64_t inputs = channels_;
    std::vector<std::string> parts;
    for (const int64_t kernel : {1, 3, 3}) {
      at(x).channels_ = inputs;
      parts.push_back(conv(filters, kernel).relu().value_);
    }
    at(x).channels_ = inputs;
    parts.push_back(unary("GlobalAveragePool").conv(filters, 1).relu().enlarge(side).value_);
    const std::string name = next("concat");
    model_.node("Concat", parts, {name}, attributes({{"axis", int64_t{1}}}), name);
    channels_ = static_cast<int64_t>(parts.size()) * filters;
    return at(name);
  }
  NetworkBuilder& enlarge(int64_t factor) {
    const std::string name = next("resize");
    const auto scale = static_cast<float>(factor);
    model_.initializer(name + ".scales", HostTensor::f32({4}, std::vector<float>{1, 1, scale, scale}))
        .node("Resize", {value_, "", name + ".scales"}, {name}, attributes({{"mode", std::string("linear")}}),
              name);
    return at(name);
  }
  NetworkBuilder& unary(const std::string& type) {
    const std::string name = next(type);
    model_.node(type, {value_}, {name}, {}, name);
    return at(name);
  }
  NetworkBuilder& classify(int64_t classes) {
    const std::string name = next("classes");
    unary("GlobalAveragePool").unary("Flatten");
    model_.initializer(name + ".w", random_tensor({channels_, classes}, ++seed_))
        .node("Gemm", {value_, name + ".w"}, {name}, {}, name);
    return at(name);
  }
  Graph graph() {
    model_.output(value_);
    return model_.graph();
  }

 private:
  std::string next(const std::string& kind) { return kind + std::to_string(++layers_); }
  NetworkBuilder& at(const std::string& value) {
    value_ = value;
    return *this;
  }
  NetworkBuilder& combine(const std::string& type, const std::string& other) {
    const std::string name = next(type);
    model_.node(type, {other, value_}, {name}, {}, name);
    return at(name);
  }

  OnnxModel model_;
  std::string value_ = "x";
  int64_t channels_;
  uint32_t layers_ = 0, seed_ = 0;
};

// Howard et al., MobileNets, arXiv 1704.04861, table 1.
inline Graph mobilenet_v1() {
  NetworkBuilder net({1, 3, 224, 224});
  net.conv(32, 3, 2).relu();
  for (const auto& [filters, stride] :
       {std::pair{64, 1}, {128, 2}, {128, 1}, {256, 2}, {256, 1}, {512, 2}, {512, 1}, {512, 1}, {1024, 2}})
    net.depthwise(3, stride).relu().conv(filters, 1).relu();
  return net.classify(100).graph();
}

// Sandler et al., MobileNetV2, arXiv 1801.04381, table 2, each block once or twice.
inline Graph mobilenet_v2(int64_t side = 224) {
  NetworkBuilder net({1, 3, side, side});
  net.conv(32, 3, 2).relu6().inverted_residual(16, 3, 1, 1, false);
  for (const auto& [filters, stride] : {std::pair{24, 2}, {32, 2}, {64, 2}, {96, 1}, {160, 2}}) {
    net.inverted_residual(filters, 3, stride, 6, false);
    net.inverted_residual(filters, 3, 1, 6, false);
  }
  return net.conv(1280, 1).relu6().classify(100).graph();
}

// Tan and Le, EfficientNet, arXiv 1905.11946, table 1, each block once or twice.
inline Graph efficientnet() {
  NetworkBuilder net({1, 3, 224, 224});
  net.conv(32, 3, 2).silu().inverted_residual(16, 3, 1, 1, true);
  for (const auto& [filters, kernel, stride] :
       {std::tuple{24, 3, 2}, {40, 5, 2}, {80, 3, 2}, {112, 5, 1}, {192, 5, 2}}) {
    net.inverted_residual(filters, kernel, stride, 6, true);
    net.inverted_residual(filters, kernel, 1, 6, true);
  }
  return net.conv(1280, 1).silu().classify(100).graph();
}

// Iandola et al., SqueezeNet, arXiv 1602.07360, version 1.1.
// Layers of tensors and weights in bytes.
inline Graph quantised() {
  NetworkBuilder builder({1, 3, 96, 96});
  builder.round().conv(16, 3, 2).relu().round().depthwise(3).relu().round().conv(32, 1).round();
  builder.conv(64, 3).relu().round().conv(16, 1).round();
  Graph graph = builder.graph();
  for (Value& value : graph.values)
    if (value.constant && value.constant->shape().size() == 4)
      for (float& weight : value.constant->mutable_as<float>()) weight = std::nearbyint(64 * weight) / 64;
  return graph;
}

inline Graph squeezenet() {
  NetworkBuilder net({1, 3, 224, 224});
  net.conv(64, 3, 2).relu().max_pool(3, 2).fire(16, 64).fire(16, 64).max_pool(3, 2);
  net.fire(32, 128).max_pool(3, 2).fire(48, 192).fire(64, 256);
  return net.conv(100, 1).relu().unary("GlobalAveragePool").graph();
}

// Chen et al., DeepLab v3, arXiv 1706.05587, after a MobileNet v2: each pixel's class.
inline Graph deeplab() {
  NetworkBuilder net({1, 3, 256, 256});
  net.conv(32, 3, 2).relu6().inverted_residual(16, 3, 1, 1, false);
  for (const auto& [filters, stride] :
       {std::pair<int64_t, int64_t>{24, 2}, {32, 2}, {64, 2}, {96, 1}, {160, 1}})
    net.inverted_residual(filters, 3, stride, 6, false).inverted_residual(filters, 3, 1, 6, false);
  return net.pyramid(128, 16).conv(128, 1).relu().conv(21, 1).enlarge(16).graph();
}

// 1x1 and depthwise convolutions in turn, pools between them, and a 1x1 convolution whose means alone are
// read: layers that could share a kernel with the one before or with the one after.
inline Graph alternating(int64_t batch, int64_t side, int64_t channels) {
  NetworkBuilder net({batch, channels, side, side});
  for (const int64_t kernel : {3, 5, 7})
    net.conv(4 * channels, 1).relu().depthwise(kernel).relu().conv(channels, 1).depthwise(3, 2).relu();
  net.max_pool(3, 1, 1).conv(2 * channels, 1).depthwise(3).conv(channels, 1).max_pool(5, 2, 2);
  return net.conv(2 * channels, 1).relu().unary("GlobalAveragePool").graph();
}

}  // namespace vellum::test
