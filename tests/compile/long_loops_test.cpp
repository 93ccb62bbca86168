// Layers whose loops are longer than what lavapipe runs in an invocation still run on the device.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "compile/compile.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

using Ints = std::vector<int64_t>;

HostTensor ones(Shape shape) {
  HostTensor tensor(DType::f32, std::move(shape));
  for (float& value : tensor.mutable_as<float>()) value = 1.0f;
  return tensor;
}

// One layer of input x and output y.
struct Layer {
  std::string type;
  Shape shape;
  Attributes attributes = {};
  std::vector<HostTensor> constants = {};

  Graph graph(int opset) const {
    OnnxModel model(opset);
    model.input("x", shape);
    std::vector<std::string> inputs{"x"};
    for (const HostTensor& constant : constants) {
      inputs.push_back("c" + std::to_string(inputs.size()));
      model.initializer(inputs.back(), constant);
    }
    std::vector<std::string> outputs{"y"};
    if (type == "TopK") outputs.push_back("indices");
    model.node(type, inputs, outputs, attributes, "layer");
    for (const std::string& output : outputs) model.output(output);
    return model.graph();
  }
};

HostTensor ints(const Ints& values) { return HostTensor::i64({static_cast<int64_t>(values.size())}, values); }

std::vector<Layer> large_layers() {
  std::vector<Layer> layers;
  for (const char* type : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1",
                           "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"}) {
    layers.push_back({type, {1, 3, 3000, 4000}, {}, {ints({2, 3})}});
    layers.push_back({type, {1, 64, 1250, 1250}, {}, {ints({2, 3})}});
    layers.push_back({type, {1, 3, 3000, 4000}, {}, {ints({0, 1, 2, 3})}});
    layers.push_back({type, {4, 5'000'000}, {}, {ints({1})}});
    layers.push_back({type, {5'000'000, 4}, {}, {ints({0})}});
    layers.push_back({type, {2, 70'000, 1, 2}, {}, {ints({1})}});
  }
  for (const char* type : {"GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"})
    for (const Shape& shape : {Shape{1, 2, 1250, 1250}, {1, 128, 720, 1280}, {1, 4, 6000, 4000}})
      layers.push_back({type, shape});
  for (const Shape& shape : {Shape{1, 128, 160, 160}, {1, 4, 3000, 4000}, {1, 2, 9'000'000}})
    layers.push_back({"InstanceNormalization", shape, {}, {ones({shape[1]}), ones({shape[1]})}});
  layers.push_back({"GroupNormalization",
                    {1, 64, 720, 1280},
                    attributes({{"num_groups", int64_t{8}}}),
                    {ones({64}), ones({64})}});
  for (const int64_t length : {1'600'000, 1'600'001})
    layers.push_back({"LayerNormalization", {2, length}, {}, {ones({length}), ones({length})}});
  layers.push_back({"LpNormalization", {2, 1'600'000}, attributes({{"axis", int64_t{1}}})});
  layers.push_back({"MeanVarianceNormalization", {1, 3, 3000, 4000}});
  for (const char* type : {"Softmax", "LogSoftmax"}) {
    layers.push_back({type, {1, 9'000'000}, attributes({{"axis", int64_t{1}}})});
    layers.push_back({type, {1, 1, 1280, 1280}, attributes({{"axis", int64_t{1}}})});
    layers.push_back({type, {3, 2'000'001}, attributes({{"axis", int64_t{1}}})});
    layers.push_back({type, {2'000'000, 5}, attributes({{"axis", int64_t{0}}})});
    layers.push_back({type, {1, 90'001, 2, 3}, attributes({{"axis", int64_t{1}}})});
  }
  for (const char* type : {"ArgMax", "ArgMin"}) {
    layers.push_back({type, {1, 68, 25'600}, attributes({{"axis", int64_t{2}}})});
    layers.push_back({type, {1, 12'000'000}, attributes({{"axis", int64_t{1}}})});
    layers.push_back({type, {1'000'000, 7}, attributes({{"axis", int64_t{0}}})});
  }
  for (const auto& [length, k] :
       {std::pair<int64_t, int64_t>{33'600, 300}, {10'000, 10'000}, {1'000'000, 5}, {2'000'000, 2'000'000}})
    layers.push_back({"TopK", {1, length}, {}, {ints({k})}});
  for (const char* type : {"MaxPool", "AveragePool", "LpPool"}) {
    layers.push_back({type, {1, 3, 320, 320}, attributes({{"kernel_shape", Ints{320, 320}}})});
    layers.push_back({type, {1, 3, 1250, 1250}, attributes({{"kernel_shape", Ints{1250, 1250}}})});
    layers.push_back({type, {1, 2, 90, 90, 90}, attributes({{"kernel_shape", Ints{80, 80, 80}}})});
  }
  layers.push_back({"CumSum", {2, 5'000'000}, {}, {HostTensor::i64({}, Ints{1})}});
  return layers;
}

void expect_short_loops(const Graph& graph, const DeviceCaps& caps, const CompileOptions& options) {
  const CompiledModel compiled = compile(graph, caps, options, Stage::program);
  for (const Task& task : compiled.program.tasks) {
    ASSERT_TRUE(task.dispatch) << compiled.program.warnings.front();
    EXPECT_LE(task.dispatch->iterations, 65535u) << task.dispatch->shader;
  }
}

TEST(LongLoops, StayOnTheDevice) {
  DeviceCaps caps;
  caps.max_storage_buffer_range = uint64_t{1} << 31;
  caps.max_allocation_bytes = uint64_t{1} << 31;
  DeviceCaps cpu = caps;
  cpu.type = DeviceType::cpu;
  DeviceCaps gpu = caps;
  gpu.type = DeviceType::discrete_gpu;
  gpu.max_loop_iterations = kNoLoopLimit;  // such loops are no better there
  for (const Layer& layer : large_layers()) {
    const Graph graph = layer.graph(layer.type == "GroupNormalization" ? 21 : 18);
    for (const DeviceCaps& device : {cpu, gpu})
      for (const Precision precision : {Precision::fp32, Precision::fp16}) {
        SCOPED_TRACE(layer.type + " " + to_string(layer.shape) +
                     (device.type == DeviceType::cpu ? " on a CPU" : " on a GPU") +
                     (precision == Precision::fp16 ? " fp16" : " fp32"));
        expect_short_loops(graph, device, {.precision = precision});
      }
  }
}

}  // namespace
}  // namespace vellum::test
