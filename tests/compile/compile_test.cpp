// A compiled model holds what its stages make one after the other, without a device.
#include "compile/compile.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "caps/vendors.hpp"
#include "cost/device_traits.hpp"
#include "kernels/framework/kernel_id.hpp"
#include "kernels/framework/lowering.hpp"
#include "network.hpp"
#include "passes/split_large_layers.hpp"
#include "support/errors.hpp"

namespace vellum::test {
namespace {

constexpr Stage kStages[] = {Stage::graph, Stage::program, Stage::plan, Stage::barriers};

TEST(Compile, HoldsWhatTheStagesMakeOneAfterTheOther) {
  const Graph imported = network().graph();
  const DeviceCaps caps;
  const CompiledModel model = compile(imported, caps, {});
  const Graph graph = optimise(imported, {});
  EXPECT_EQ(to_text(model, Stage::graph), to_text(graph));
  Program program = lower(graph, caps, {});
  arrange(program, {}, caps.tensor_offset_alignment(), modelled_rules(caps));
  EXPECT_EQ(to_text(model, Stage::program), to_text(program));
  const MemoryPlan plan = plan_memory(program, {}, modelled_rules(caps));
  EXPECT_EQ(to_text(model, Stage::plan), to_text(plan, program));
  EXPECT_EQ(to_text(model, Stage::barriers), to_text(synchronise(program, plan), program));
}

TEST(Compile, StopsAfterTheStageThatWasAskedFor) {
  const Graph imported = network().graph();
  const CompiledModel all = compile(imported, DeviceCaps{}, {});
  const CompiledModel graph = compile(imported, DeviceCaps{}, {}, Stage::graph);
  EXPECT_EQ(to_text(graph, Stage::graph), to_text(all, Stage::graph));
  EXPECT_TRUE(graph.program.tasks.empty());
  const CompiledModel program = compile(imported, DeviceCaps{}, {}, Stage::program);
  EXPECT_EQ(to_text(program, Stage::program), to_text(all, Stage::program));
  EXPECT_TRUE(program.plan.objects.empty());
  const CompiledModel plan = compile(imported, DeviceCaps{}, {}, Stage::plan);
  EXPECT_EQ(to_text(plan, Stage::plan), to_text(all, Stage::plan));
  EXPECT_TRUE(plan.barriers.empty());
  EXPECT_EQ(all.barriers.size(), all.program.tasks.size());
}

// SwiftShader fetches texels through samplers, within the limit of a texel buffer.
TEST(Compile, SamplesTexelBuffersWhereTheDevicePrefersThat) {
  const auto reads = [](uint32_t vendor, uint32_t most_texels) {
    DeviceCaps caps;
    caps.type = DeviceType::cpu;
    caps.vendor_id = vendor;
    caps.max_texel_buffer_elements = most_texels;
    set_default_traits(caps);
    std::pair<bool, bool> found;
    for (const Task& task : compile(network().graph(), caps, {}).program.tasks)
      for (const Binding& binding : task.dispatch->bindings) {
        found.first |= binding.texel_buffer;
        found.second |= binding.sampled;
        EXPECT_TRUE(binding.texel_buffer || !binding.sampled);
      }
    return found;
  };
  EXPECT_EQ(reads(kGoogle, 65536), std::pair(true, true));
  EXPECT_EQ(reads(kGoogle, 0), std::pair(false, false));
  EXPECT_EQ(reads(kMesa, 65536), std::pair(true, false));
}

// Each layer halves width and height and has four times the channels, so that slices fit one object in
// columns only.
Graph narrowing_layers() {
  OnnxModel model;
  model.input("x", {1, 4, 64, 64});
  std::string x = "x";
  for (int64_t channels = 4, layer = 0; layer < 3; ++layer, channels *= 4) {
    const std::string w = "w" + std::to_string(layer), y = "y" + std::to_string(layer);
    model.initializer(w, random_tensor({4 * channels, channels, 2, 2}, 1))
        .node("Conv", {x, w}, {y}, attributes({{"strides", std::vector<int64_t>{2, 2}}}), y);
    x = y;
  }
  model.output(x);
  return model.graph();
}

// Fails the check of a kernel on folded images, so that no image is folded.
std::shared_ptr<const WrongKernels> one_wrong_on_folded_images() {
  return std::make_shared<const WrongKernels>(WrongKernels{{"conv", {.unfolded = "unfolded conv"}}});
}

Program images_of(const Graph& graph, uint32_t vendor, std::shared_ptr<const WrongKernels> wrong) {
  DeviceCaps caps;
  caps.type = DeviceType::integrated_gpu;
  caps.vendor_id = vendor;
  CompileOptions options{.storage = StorageChoice::image2d};
  options.wrong_kernels = std::move(wrong);
  return compile(graph, caps, options).program;
}

TEST(Compile, FoldsImagesWhereCompilersMakeNoScalarLoadsOfWeights) {
  const Graph imported = narrowing_layers();
  const auto folded = [&](uint32_t vendor, std::shared_ptr<const WrongKernels> wrong) {
    return std::ranges::count_if(images_of(imported, vendor, std::move(wrong)).tensors,
                                 [](const VirtualTensor& tensor) { return tensor.desc.fold > 0; });
  };
  EXPECT_GT(folded(kQualcomm, nullptr), 0);
  EXPECT_EQ(folded(kAmd, nullptr), 0);
  EXPECT_EQ(folded(kQualcomm, one_wrong_on_folded_images()), 0);
}

TEST(Compile, KernelsOnFoldedImagesNameThoseOnOthers) {
  const Graph imported = narrowing_layers();
  const Program folded = images_of(imported, kQualcomm, nullptr),
                plain = images_of(imported, kQualcomm, one_wrong_on_folded_images());
  ASSERT_EQ(folded.tasks.size(), plain.tasks.size());
  size_t differ = 0;
  for (size_t i = 0; i < plain.tasks.size(); ++i) {
    const KernelId kernel = kernel_id(*folded.tasks[i].dispatch),
                   on_plain = kernel_id(*plain.tasks[i].dispatch);
    EXPECT_FALSE(on_plain.uses_folded_images());
    EXPECT_EQ(kernel.uses_folded_images() ? kernel.unfolded : kernel.text(), on_plain.text());
    differ += kernel.uses_folded_images();
  }
  EXPECT_GT(differ, 0u);
}

TEST(Compile, PutsTensorsInBuffersWhereImagesLackTheFormat) {
  const Graph imported = network().graph();
  const CompileOptions options{.precision = Precision::fp16, .storage = StorageChoice::image2d};
  const auto images = [&](const DeviceCaps& caps) {
    return std::ranges::count_if(
        compile(imported, caps, options).program.tensors,
        [](const VirtualTensor& tensor) { return tensor.desc.storage != Storage::buffer; });
  };
  DeviceCaps caps;
  EXPECT_GT(images(caps), 0);
  caps.rgba16f_images = false;
  EXPECT_EQ(images(caps), 0);
}

TEST(Compile, SplitsLayersThatAreLargerThanTheBudgetOfWeights) {
  const Graph imported = network().graph();
  const CompileOptions options{.weights_budget = kSplittingBudget};
  const CompiledModel model = compile(imported, DeviceCaps{}, options);
  Graph split = optimise(imported, {});
  split_large_layers(split, {kSplittingBudget, kSplittingBudget / 2}, 4);
  EXPECT_EQ(to_text(model, Stage::graph), to_text(split));
  EXPECT_GT(model.graph.nodes.size(), optimise(imported, {}).nodes.size());
}

// As the first Gemm of AlexNet and VGG on a device with the limits that Vulkan promises.
TEST(Compile, SplitsLayersThatAreLargerThanAStorageBuffer) {
  OnnxModel model;
  model.input("x", {1, 96}).initializer("w", random_tensor({96, 100}, 1));
  const Graph imported = model.node("Gemm", {"x", "w"}, {"y"}, {}, "gemm").output("y").graph();
  DeviceCaps caps;
  caps.max_storage_buffer_range = 16 << 10;
  const auto weights = [&](const CompileOptions& options) {
    std::vector<uint64_t> bytes;
    for (const VirtualTensor& tensor : compile(imported, caps, options).program.tensors)
      if (tensor.role == TensorRole::weight) bytes.push_back(tensor.desc.byte_size());
    return bytes;
  };
  for (const Precision precision : {Precision::fp32, Precision::fp16})
    for (const uint64_t budget : {uint64_t{0}, uint64_t{8} << 10, uint64_t{1} << 20})
      for (const uint64_t bytes : weights({.weights_budget = budget, .precision = precision}))
        EXPECT_LE(bytes, caps.max_storage_buffer_range);
  EXPECT_GE(weights({}).size(), 3u) << "96 * 100 * 4 bytes";
  caps = {};
  EXPECT_EQ(compile(imported, caps, {}).graph.nodes.size(), 1u);
}

TEST(Compile, APreparedGraphAndAProgramGiveTheSameValue) {
  const Graph imported = network().graph();
  const DeviceCaps caps;
  const CompileOptions options{.storage = StorageChoice::image2d, .plan = {.mode = MemoryMode::offsets}};
  const CompiledModel model = compile(imported, caps, options);
  const CompiledModel prepared = compile_prepared(prepare_graph(imported, caps, options), caps, options);
  const CompiledModel program = compile_program(model.program, options.plan, modelled_rules(caps));
  for (const Stage stage : kStages) {
    EXPECT_EQ(to_text(prepared, stage), to_text(model, stage));
    if (stage == Stage::graph) continue;
    EXPECT_EQ(to_text(program, stage), to_text(model, stage));
  }
}

TEST(Compile, PlansByTheMemoryRulesThatItIsGiven) {
  CompileOptions options;
  const auto bytes = [&] { return compile(network().graph(), DeviceCaps{}, options).plan.planned_bytes; };
  const uint64_t modelled = bytes();
  options.memory_rules.need = [](const ObjectDesc&) { return MemoryNeed{uint64_t{1} << 20}; };
  EXPECT_GE(bytes(), uint64_t{1} << 20);
  EXPECT_LT(modelled, uint64_t{1} << 20);
}

TEST(Compile, MakesOneHostPartitionOfWhatDependsOnRunTimeShapes) {
  OnnxModel onnx;
  onnx.input("x", {4})
      .node("Relu", {"x"}, {"positive"}, {}, "relu")
      .node("NonZero", {"positive"}, {"places"}, {}, "nonzero")
      .node("Transpose", {"places"}, {"rows"}, {}, "turn")
      .output("positive")
      .output("rows");
  const CompiledModel model = compile(onnx.graph(), DeviceCaps{}, {});
  const Program& program = model.program;
  ASSERT_TRUE(program.has_run_time_shapes());
  const HostPartition& host = *program.tasks.back().host;
  EXPECT_EQ(host.graph->nodes.size(), 2u);
  ASSERT_EQ(host.inputs.size(), 1u);
  EXPECT_EQ(host.inputs[0].tensor, program.outputs[0].tensor) << "the host reads the output";
  EXPECT_FALSE(program.outputs[0].host_output);
  EXPECT_EQ(program.outputs[1].host_output, 0u);
  EXPECT_NE(to_text(program).find("host NonZero 'nonzero' Transpose 'turn'"), std::string::npos);
  EXPECT_EQ(program.warnings.size(), 1u);
  EXPECT_FALSE(compile(network().graph(), DeviceCaps{}, {}).program.has_run_time_shapes());
}

TEST(Stages, HaveNames) {
  for (const Stage stage : kStages) EXPECT_EQ(stage_from_name(name(stage)), stage);
  EXPECT_VELLUM_ERROR(stage_from_name("segments"), ErrorCode::invalid_argument, "'segments'");
}

// Found by a fuzz target: the bytes of such an input overflowed.
TEST(Compile, RefusesAnInputBeyondAllTensors) {
  OnnxModel model;
  model.input("x", {1, 1, std::numeric_limits<int64_t>::max()}).node("Shape", {"x"}, {"y"}).output("y");
  EXPECT_VELLUM_ERROR(compile(model.graph(), DeviceCaps{}, {}), ErrorCode::unsupported, "input 'x'",
                      "elements");
}

}  // namespace
}  // namespace vellum::test
