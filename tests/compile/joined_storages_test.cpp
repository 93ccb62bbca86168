// Joined and split tensors in buffers, where other tensors are in images: no copies.
#include "compile/joined_storages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "caps/device_policy.hpp"
#include "caps/vendors.hpp"
#include "compile/compile.hpp"
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

TEST(JoinedStorages, TakeNoCopies) {
  DeviceCaps caps;
  caps.type = DeviceType::integrated_gpu;
  caps.vendor_id = kQualcomm;
  device_policy(caps).set_default_traits(caps);
  const auto copies = [&](const CompileOptions& options) {
    const Program program = compile(branches(1, 16, 8), caps, options).program;
    return std::ranges::count_if(program.tasks, [](const Task& task) {
      return task.dispatch && task.dispatch->shader == "copy_region";
    });
  };
  EXPECT_EQ(copies({}), 0);
  EXPECT_EQ(copies({.storage = StorageChoice::image2d}), 3);
  EXPECT_EQ(copies({.views = false}), 3);
  // Weights stay in images.
  const Program program = compile(branches(1, 16, 8), caps, {}).program;
  for (const VirtualTensor& tensor : program.tensors)
    EXPECT_TRUE(tensor.role != TensorRole::weight || tensor.desc.storage == Storage::image2d) << tensor.name;
}

}  // namespace
}  // namespace vellum::test
