// Runs whole networks on the worst device and compares their outputs with those of the same driver as it is:
//
//   VELLUM_TEST_WORST_DEVICE=all worst_networks MODEL.onnx...
//
// A device may differ by rounding alone: by a thousandth of an output's largest value.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "worst_device/open_worst_device.hpp"

namespace vellum::test {
namespace {

constexpr double kTolerance = 1e-3;

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

// The largest difference of an element as a fraction of the largest wanted value.
double difference(const Tensor& got, const Tensor& want) {
  const std::vector<float> a = got.to_floats(), b = want.to_floats();
  double largest = 0, worst = 0;
  for (const float value : b) largest = std::max(largest, std::abs(double{value}));
  for (size_t i = 0; i < b.size(); ++i) {
    const double one = std::abs(double{a[i]} - b[i]);
    worst = std::isnan(one) ? INFINITY : std::max(worst, one);
  }
  return largest > 0 ? worst / largest : worst;
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
      for (const auto& [name, tensor] : want) largest = std::max(largest, difference(got.at(name), tensor));
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
