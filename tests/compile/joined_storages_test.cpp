// Joined and split tensors in buffers, where other tensors are in images: no copies.
#include "compile/joined_storages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "caps/vendors.hpp"
#include "compile/compile.hpp"
#include "cost/device_traits.hpp"
#include "passes/passes.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

using Ints = std::vector<int64_t>;

// Half of the channels go through a convolution of their own, and are joined to all of them.
Graph branches(int64_t images, int64_t channels, int64_t begin) {
  OnnxModel model;
  model.input("x", {images, channels, 20, 20})
      .initializer("w0", random_tensor({channels, channels, 1, 1}, 1))
      .initializer("w1", random_tensor({channels, channels - begin, 3, 3}, 2))
      .initializer("w2", random_tensor({8, 2 * channels, 1, 1}, 3))
      .node("Conv", {"x", "w0"}, {"route"}, {}, "first")
      .initializer("begin", HostTensor::i64({1}, Ints{begin}))
      .initializer("end", HostTensor::i64({1}, Ints{channels}))
      .initializer("axis", HostTensor::i64({1}, Ints{1}))
      .node("Slice", {"route", "begin", "end", "axis"}, {"half"}, {}, "slice")
      .node("Conv", {"half", "w1"}, {"branch"}, attributes({{"pads", Ints{1, 1, 1, 1}}}), "second")
      .node("Concat", {"route", "branch"}, {"joined"}, attributes({{"axis", int64_t{1}}}), "concat")
      .node("Conv", {"joined", "w2"}, {"y"}, {}, "last")
      .output("y");
  return model.graph();
}

std::set<std::string> in_buffers(const Graph& graph) {
  std::set<std::string> names;
  const std::vector<StorageChoice> storages = joined_storages(graph);
  for (ValueId id = 0; id < storages.size(); ++id)
    if (storages[id] == StorageChoice::buffer) names.insert(graph.values[id].name);
  return names;
}

TEST(JoinedStorages, ThoseOfWholeSlicesOfOneImage) {
  EXPECT_EQ(in_buffers(optimise(branches(1, 16, 8), {})),
            (std::set<std::string>{"route", "half", "branch", "joined"}));
  EXPECT_EQ(in_buffers(optimise(branches(1, 16, 6), {})),
            (std::set<std::string>{"route", "branch", "joined"}))
      << "a slice would be in two texels";
  EXPECT_TRUE(joined_storages(optimise(branches(2, 16, 8), {})).empty()) << "images follow one another";
  EXPECT_TRUE(in_buffers(optimise(branches(1, 14, 7), {})).empty());
}

DeviceCaps adreno() {
  DeviceCaps caps;
  caps.type = DeviceType::integrated_gpu;
  caps.vendor_id = kQualcomm;
  caps.name = "Adreno (TM) 660";
  caps.max_storage_buffers_per_stage = 16;
  set_default_traits(caps);
  return caps;
}

TEST(JoinedStorages, TakeNoCopies) {
  const DeviceCaps caps = adreno();
  const auto copies = [&](const CompileOptions& options) {
    const Program program = compile(branches(1, 16, 8), caps, options).program;
    return std::ranges::count_if(program.tasks, [](const Task& task) {
      return task.dispatch &&
             (task.dispatch->shader == "copy_region" || task.dispatch->shader == "concat_texels");
    });
  };
  EXPECT_EQ(copies({}), 0);
  // One of Split, and one of each part: both parts at once would keep both until then
  // (plan/joined_copies.hpp).
  EXPECT_EQ(copies({.storage = StorageChoice::image2d}), 3);
  EXPECT_EQ(copies({.views = false}), 3);
  // Weights stay in images.
  const Program program = compile(branches(1, 16, 8), caps, {}).program;
  for (const VirtualTensor& tensor : program.tensors)
    EXPECT_TRUE(tensor.role != TensorRole::weight || tensor.desc.storage == Storage::image2d) << tensor.name;
}

std::ptrdiff_t count_of(const Program& program, std::string_view shader) {
  return std::ranges::count_if(
      program.tasks, [&](const Task& task) { return task.dispatch && task.dispatch->shader == shader; });
}

Storage storage_of(const Program& program, std::string_view name) {
  for (const VirtualTensor& tensor : program.tensors)
    if (tensor.name == name && tensor.alias_of == kNoTensor) return tensor.desc.storage;
  ADD_FAILURE() << name;
  return Storage::buffer;
}

// The means before a classifier have the same bytes in both layouts.
TEST(JoinedStorages, VectorsAreViews) {
  OnnxModel model;
  model.input("x", {1, 8, 20, 20})
      .initializer("w0", random_tensor({24, 8, 3, 3}, 1))
      .initializer("w1", random_tensor({24, 40}, 2))
      .node("Conv", {"x", "w0"}, {"wide"}, attributes({{"pads", Ints{1, 1, 1, 1}}}), "conv")
      .node("GlobalAveragePool", {"wide"}, {"means"}, {}, "means")
      .node("Flatten", {"means"}, {"vector"}, {}, "flatten")
      .node("Gemm", {"vector", "w1"}, {"y"}, {}, "classifier")
      .output("y");
  const auto conversions = [&](StorageChoice storage) {
    const Program program = compile(model.graph(), adreno(), {.storage = storage}).program;
    return count_of(program, "to_linear") + count_of(program, "to_channels4");
  };
  EXPECT_EQ(conversions(StorageChoice::automatic), 1) << "that of the input";
  EXPECT_EQ(conversions(StorageChoice::image2d), 2)
      << "and that of the output: both vectors have one texel for four elements";
}

// Pixels of a tile follow one another in buffers where rows are no whole tiles; windows are read from images.
TEST(JoinedStorages, ProductsAreInBuffersWhereRowsAreNoTiles) {
  const auto network = [](int64_t side) {
    OnnxModel model;
    model.input("x", {1, 64, side, side})
        .initializer("w0", random_tensor({256, 64, 3, 3}, 1))
        .initializer("w1", random_tensor({256, 256, 1, 1}, 2))
        .initializer("w2", random_tensor({64, 256, 3, 3}, 3))
        .node("Conv", {"x", "w0"}, {"a"}, attributes({{"pads", Ints{1, 1, 1, 1}}}), "first")
        .node("Conv", {"a", "w1"}, {"b"}, {}, "product")
        .node("Conv", {"b", "w2"}, {"y"}, attributes({{"pads", Ints{1, 1, 1, 1}}}), "last")
        .output("y");
    return model.graph();
  };
  const auto storages = [&](int64_t side, const DeviceCaps& caps, Precision precision = Precision::fp32) {
    const Program program = compile(network(side), caps, {.precision = precision}).program;
    return std::pair{storage_of(program, "a"), storage_of(program, "b")};
  };
  const auto images = std::pair{Storage::image2d, Storage::image2d};
  EXPECT_EQ(storages(28, adreno()), (std::pair{Storage::buffer, Storage::image2d}));
  EXPECT_EQ(storages(32, adreno()), images);
  EXPECT_EQ(storages(28, adreno(), Precision::fp16), images);
  DeviceCaps other = adreno();
  other.name = "Adreno (TM) 740";
  EXPECT_EQ(storages(28, other), images) << "its loops load as much from images";
}

// Tokens are, where their conversions take longer than loops over buffers lose.
TEST(JoinedStorages, MatricesOfSmallNetworksAreInBuffers) {
  const auto network = [](int64_t tokens, int64_t channels) {
    OnnxModel model;
    model.input("x", {tokens, channels})
        .initializer("scale", random_tensor({channels}, 1))
        .initializer("bias", random_tensor({channels}, 2))
        .initializer("w", random_tensor({channels, channels}, 3))
        .node("LayerNormalization", {"x", "scale", "bias"}, {"a"}, {}, "norm")
        .node("MatMul", {"a", "w"}, {"b"}, {}, "product")
        .node("LayerNormalization", {"b", "scale", "bias"}, {"y"}, {}, "norm1")
        .output("y");
    return model.graph();
  };
  const auto conversions = [&](int64_t tokens, int64_t channels) {
    const Program program = compile(network(tokens, channels), adreno(), {}).program;
    return count_of(program, "to_linear") + count_of(program, "to_channels4");
  };
  EXPECT_EQ(conversions(40, 64), 0);
}

}  // namespace
}  // namespace vellum::test
