// Random networks of the blocks whose layers GPUs compute together, compiled as for a GPU, against the host
// reference: the kernels in sequence, with the memory and the barriers that they have in a session, and
// several runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "compile/compile.hpp"
#include "exec/executor.hpp"
#include "kernels/gpu_named.hpp"
#include "support/environment.hpp"
#include "support/gpu_test.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

class RandomNetwork {
 public:
  explicit RandomNetwork(uint32_t seed) : random_(seed), channels_(3) {
    shape_ = {1, 3, number(20, 44), number(20, 44)};
    model_.input("x", shape_);
    value_ = conv("x", number(4, 20), 3, number(1, 2), 1);
    value_ = activated(value_);
    const int64_t blocks = number(2, 5);
    for (int64_t block = 0; block < blocks; ++block) switch (number(0, 3)) {
        case 0:
        case 1:
          add_inverted_residual();
          break;
        case 2:
          add_fire_module();
          break;
        default:
          add_pool();
      }
    value_ = activated(conv(value_, number(5, 40), 1, 1, 1));
    node("GlobalAveragePool", {value_});
    model_.output(value_);
  }

  const OnnxModel& model() const { return model_; }
  const Shape& input_shape() const { return shape_; }

 private:
  int64_t number(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random_);
  }
  std::string fresh() { return "v" + std::to_string(values_++); }

  std::string node(const std::string& type, const std::vector<std::string>& inputs,
                   const Attributes& given = {}) {
    value_ = fresh();
    model_.node(type, inputs, {value_}, given, value_ + "/" + type);
    return value_;
  }

  // A convolution of `channels_` channels; these are `filters` afterwards.
  std::string conv(const std::string& x, int64_t filters, int64_t kernel, int64_t stride, int64_t groups) {
    const std::string w = fresh(), b = fresh();
    const auto scale = 1.5f / std::sqrt(static_cast<float>(channels_ / groups * kernel * kernel));
    model_.initializer(w,
                       random_tensor({filters, channels_ / groups, kernel, kernel}, values_, -scale, scale));
    model_.initializer(b, random_tensor({filters}, values_, -0.3f, 0.3f));
    channels_ = filters;
    const int64_t pad = kernel / 2;
    return node("Conv", {x, w, b},
                attributes({{"group", groups},
                            {"strides", std::vector<int64_t>{stride, stride}},
                            {"pads", std::vector<int64_t>{pad, pad, pad, pad}}}));
  }

  std::string activated(const std::string& x) {
    switch (number(0, 2)) {
      case 0:
        return node("Relu", {x});
      case 1:
        return node("HardSigmoid", {x});
      default: {
        const std::string gate = node("Sigmoid", {x});
        return node("Mul", {x, gate});
      }
    }
  }

  void add_inverted_residual() {
    const int64_t narrow = channels_, wide = number(6, 60);
    const std::string begin = value_;
    std::string x = activated(conv(begin, wide, 1, 1, 1));
    const int64_t stride = number(1, 3) == 3 ? 2 : 1;
    x = activated(conv(x, wide, number(0, 1) ? 5 : 3, stride, wide));
    if (number(0, 1)) {
      std::string gates = node("Relu", {conv(node("GlobalAveragePool", {x}), number(1, 9), 1, 1, 1)});
      gates = node("Sigmoid", {conv(gates, wide, 1, 1, 1)});
      x = node("Mul", {x, gates});
    }
    const bool adds = stride == 1 && number(0, 1);
    x = conv(x, adds ? narrow : number(4, 24), 1, 1, 1);
    value_ = adds ? node("Add", {x, begin}) : x;
  }

  void add_fire_module() {
    const std::string x = node("Relu", {conv(value_, number(4, 12), 1, 1, 1)});
    const int64_t squeezed = channels_, narrow = 16 * number(1, 2);
    const std::string a = node("Relu", {conv(x, narrow, 1, 1, 1)});
    channels_ = squeezed;
    const std::string b = node("Relu", {conv(x, number(5, 33), 3, 1, 1)});
    channels_ += narrow;
    value_ = node("Concat", {a, b}, attributes({{"axis", int64_t{1}}}));
  }

  void add_pool() {
    const std::string x = node("MaxPool", {value_},
                               attributes({{"kernel_shape", std::vector<int64_t>{3, 3}},
                                           {"strides", std::vector<int64_t>{1, 1}},
                                           {"pads", std::vector<int64_t>{1, 1, 1, 1}}}));
    value_ = activated(conv(x, number(4, 24), 1, 1, 1));
  }

  std::mt19937 random_;
  OnnxModel model_;
  Shape shape_;
  int64_t channels_;
  uint32_t values_ = 0;
  std::string value_;
};

// Whose default is a mixture.
DeviceCaps adreno_with_images(const char* name) {
  DeviceCaps caps = adreno_named(name);
  caps.prefers_images = true;
  return caps;
}
std::vector<StorageChoice> storages_of(bool adreno) {
  if (adreno) return {StorageChoice::buffer, StorageChoice::automatic};
  return {StorageChoice::buffer, StorageChoice::image2d};
}

TEST(FusedLayers, OfRandomNetworks) {
  const char* limits = std::getenv("VELLUM_TEST_LIMITS");
  if (limits && std::string_view(limits) == "as_gpu") GTEST_SKIP() << "the same GPUs as without";
  const char* asked = std::getenv("VELLUM_FUSED_NETWORKS");  // how many
  const uint32_t all = asked ? static_cast<uint32_t>(std::stoul(asked)) : in_full() ? 8 : 4;
  const uint32_t networks = on_swiftshader() && !asked && !in_full() ? 1 : all;
  std::map<std::string, int> operators;
  for (uint32_t seed = 1; seed <= networks; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomNetwork network(seed);
    const Graph graph = network.model().graph();
    const std::vector<HostTensor> inputs{random_tensor(network.input_shape(), seed)};
    const HostTensor want = evaluate(graph, inputs)[0];
    for (const Precision precision : {Precision::fp32, Precision::fp16})
      for (const bool adreno : {false, true})
        for (const StorageChoice storage : storages_of(adreno)) {
          // Half of the combinations have all pairs of these values, the other half those of the next
          // network.
          const bool in_buffers = storage == StorageChoice::buffer;
          if (!in_full() && !asked && ((precision == Precision::fp16) + adreno + in_buffers + seed) % 2 != 0)
            continue;
          CompileOptions options{.precision = precision, .storage = storage};
          options.plan.mode = seed % 2 ? MemoryMode::offsets : MemoryMode::shared_objects;
          const DeviceCaps caps =
              adreno ? adreno_with_images(kAdrenos[seed % 3]) : gpu_named(seed % 3 ? "NAVI31" : "RTX 3090");
          const auto compiled = std::make_shared<const CompiledModel>(compile(graph, caps, options));
          for (const Node& node : compiled->graph.nodes) ++operators[std::string(node.op->type())];
          Executor executor(test_context(), compiled);
          for (int run = 0; run < 2; ++run) {
            executor.set_input(0, inputs[0]);
            executor.run();
            EXPECT_LE(distance_of_sums(executor.output(0), want), precision == Precision::fp16 ? 2e-2 : 1e-4);
          }
        }
  }
  if (networks < all) return;
  for (const char* type : {"ExpandConv", "PoolConv", "ConvMean"}) EXPECT_GT(operators[type], 0) << type;
}

}  // namespace
}  // namespace vellum::test
