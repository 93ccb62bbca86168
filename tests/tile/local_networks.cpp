#include "tile/local_networks.hpp"

#include <array>
#include <cmath>
#include <string>

#include "support/tensors.hpp"

namespace vellum::test {
namespace {

using Ints = Attributes::Ints;

class Layers {
 public:
  explicit Layers(const Shape& input) { model.input("x", input); }

  // 3x3, or another size, with Relu; signals keep their size.
  std::string conv(const std::string& x, int64_t inputs, int64_t outputs, int64_t kernel = 3,
                   bool relu = true) {
    const std::string name = next("conv");
    add_weights(name, {outputs, inputs, kernel, kernel}, inputs * kernel * kernel, outputs);
    const int64_t pad = kernel / 2;
    model.node("Conv", {x, name + ".w", name + ".b"}, {name},
               attributes({{"pads", Ints{pad, pad, pad, pad}}}), name);
    if (!relu) return name;
    model.node("Relu", {name}, {name + ".relu"}, {}, name + ".relu");
    return name + ".relu";
  }

  // Twice as wide and high.
  std::string up(const std::string& x, int64_t inputs, int64_t outputs) {
    const std::string name = next("up");
    add_weights(name, {inputs, outputs, 2, 2}, inputs, outputs);
    model.node("ConvTranspose", {x, name + ".w", name + ".b"}, {name}, attributes({{"strides", Ints{2, 2}}}),
               name);
    return name;
  }

  std::string node(const std::string& type, const std::vector<std::string>& inputs, const Attributes& attrs) {
    const std::string name = next(type);
    model.node(type, inputs, {name}, attrs, name);
    return name;
  }

  OnnxModel model;

 private:
  std::string next(const std::string& what) { return what + std::to_string(count_++); }

  void add_weights(const std::string& name, const Shape& shape, int64_t terms, int64_t outputs) {
    const float bound = std::sqrt(6.0f / static_cast<float>(terms));
    model.initializer(name + ".w", random_tensor(shape, 2 * count_, -bound, bound))
        .initializer(name + ".b", random_tensor({outputs}, 2 * count_ + 1, -0.1f, 0.1f));
  }

  uint32_t count_ = 0;
};

}  // namespace

OnnxModel super_resolution(const Shape& shape, int64_t channels) {
  Layers layers(shape);
  std::string x = layers.conv("x", 3, channels);
  for (int i = 0; i < 4; ++i) x = layers.conv(x, channels, channels);
  x = layers.conv(x, channels, 27, 3, false);
  const std::vector<std::string> copies(9, "x");
  const std::string anchor = layers.node("Concat", copies, attributes({{"axis", int64_t{1}}}));
  x = layers.node("Add", {x, anchor}, {});
  layers.model.node("DepthToSpace", {x}, {"y"},
                    attributes({{"blocksize", int64_t{3}}, {"mode", std::string("DCR")}}), "pixels");
  layers.model.output("y");
  return std::move(layers.model);
}

OnnxModel classifier_of_batch(const Shape& shape) {
  const int64_t images = shape[0], pixels = shape[2] * shape[3];
  Layers layers(shape);
  std::string x = layers.conv("x", 4, 32);
  const std::string mean = layers.node("GlobalAveragePool", {x}, {});
  const std::string gate =
      layers.node("Sigmoid", {layers.conv(layers.conv(mean, 32, 8, 1), 8, 32, 1, false)}, {});
  x = layers.conv(layers.node("Mul", {x, gate}, {}), 32, 16);
  layers.model
      .initializer("shape",
                   HostTensor::from<int64_t>(DType::i64, {3}, std::array{images, int64_t{16}, pixels}))
      .initializer("scale", random_tensor({16}, 1, 0.5f, 1.5f))
      .initializer("product", random_tensor({16, 24}, 2))
      .initializer("classes", random_tensor({24, 10}, 3));
  x = layers.node("Reshape", {x, "shape"}, {});
  x = layers.node("Transpose", {x}, attributes({{"perm", Ints{0, 2, 1}}}));
  x = layers.node("LayerNormalization", {x, "scale"}, {});
  x = layers.node("Softmax", {layers.node("MatMul", {x, "product"}, {})}, attributes({{"axis", int64_t{2}}}));
  x = layers.node("ReduceMean", {x}, attributes({{"axes", Ints{1}}, {"keepdims", int64_t{0}}}));
  layers.model.node("Gemm", {x, "classes"}, {"y"}, {}, "classify").output("y");
  layers.model.node("Softmax", {"y"}, {"z"}, attributes({{"axis", int64_t{0}}}), "over_batch").output("z");
  return std::move(layers.model);
}

OnnxModel unet(const Shape& shape) {
  Layers layers(shape);
  const Attributes pool = attributes({{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  std::vector<std::string> skips;
  std::string x = "x";
  int64_t channels = 3;
  for (const int64_t level : {16, 32, 64}) {
    x = layers.conv(layers.conv(x, channels, level), level, level);
    skips.push_back(x);
    x = layers.node("MaxPool", {x}, pool);
    channels = level;
  }
  x = layers.conv(layers.conv(x, 64, 128), 128, 128);
  for (const int64_t level : {64, 32, 16}) {
    x = layers.up(x, 2 * level, level);
    x = layers.node("Concat", {skips.back(), x}, attributes({{"axis", int64_t{1}}}));
    skips.pop_back();
    x = layers.conv(layers.conv(x, 2 * level, level), level, level);
  }
  x = layers.conv(x, 16, 2, 1, false);
  layers.model.node("Sigmoid", {x}, {"y"}, {}, "mask").output("y");
  return std::move(layers.model);
}

}  // namespace vellum::test
