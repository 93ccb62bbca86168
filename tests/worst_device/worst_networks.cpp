// Runs whole networks on the worst device and compares their outputs with those of the same driver as it is:
//
//   VELLUM_TEST_WORST_DEVICE=all worst_networks MODEL.onnx...
//
// A device may differ by rounding alone: by a thousandth of an output's largest value.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "support/tensors.hpp"
#include "worst_device/open_worst_device.hpp"

namespace vellum::test {
namespace {

constexpr double kTolerance = 1e-3, kLeastOutput = 1e-30;

std::vector<std::string>& files() {
  static std::vector<std::string> files;
  return files;
}

std::map<std::string, Tensor> random_values(const std::vector<TensorInfo>& inputs) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> distribution(-1, 1);
  std::map<std::string, Tensor> values;
  for (const TensorInfo& input : inputs) {
    Tensor tensor(DType::f32, input.shape);
    for (float& value : tensor.mutable_as<float>()) value = distribution(random);
    values[input.name] = tensor;
  }
  return values;
}

TEST(WorstDevice, RunsNetworks) {
  const std::optional<Device> worst = open_worst_device();
  ASSERT_TRUE(worst) << "VELLUM_TEST_WORST_DEVICE names no allowances";
  const Device device = Device::open();
  for (const std::string& file : files())
    for (const StorageChoice storage : {StorageChoice::buffer, StorageChoice::image2d}) {
      SCOPED_TRACE(file);
      const Model model = Model::load(file);
      const SessionOptions options{.storage = storage};
      const std::map<std::string, Tensor> inputs = random_values(model.inputs());
      const std::map<std::string, Tensor> want = Session(device, model, options).run(inputs),
                                          got = Session(*worst, model, options).run(inputs);
      double largest = 0;
      for (const auto& [name, tensor] : want)
        largest = std::max(largest, distance_of_sums(got.at(name), tensor, kLeastOutput));
      EXPECT_LE(largest, kTolerance);
      std::printf("%s in %s: %.1e\n", file.c_str(), storage == StorageChoice::buffer ? "buffers" : "images",
                  largest);
    }
}

}  // namespace
}  // namespace vellum::test

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc < 2) {
    std::fputs("Usage: VELLUM_TEST_WORST_DEVICE=all worst_networks MODEL.onnx...\n", stderr);
    return 2;
  }
  vellum::test::files().assign(argv + 1, argv + argc);
  return RUN_ALL_TESTS();
}
