// Sweeps of single TFLite operators on a device.
#include <gtest/gtest.h>

#include "public_interface.hpp"
#include "support/tflite_cases.hpp"

namespace vellum::test {
namespace {

void expect_on_device(const std::vector<TfliteCase>& cases, double tolerance) {
  const Device device = Device::open(device_options());
  for (const TfliteCase& one : cases) {
    Session session(device, Model::load(as_bytes(one.bytes)));
    std::map<std::string, Tensor> inputs{{"x", one.inputs[0]}};
    if (one.inputs.size() > 1) inputs.emplace("indices", one.inputs[1]);
    EXPECT_TRUE(close(session.run(inputs).at("y"), one.expected, tolerance)) << one.name;
  }
}

TEST(TfliteOperators, GatherAlongEveryAxisWithCommonDimensions) {
  expect_on_device(gather_cases(false), 0.0);
  expect_on_device(gather_cases(true), 0.0);
}

TEST(TfliteOperators, FullyConnectedOfEveryRankWithEveryActivation) {
  expect_on_device(fully_connected_cases(), 1e-5);
}

}  // namespace
}  // namespace vellum::test
