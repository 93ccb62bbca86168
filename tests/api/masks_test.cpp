// Masks: the lowest number of a type stands for minus infinity, also where the device's numbers have less
// range.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "public_interface.hpp"
#include "support/errors.hpp"
#include "support/tensors.hpp"
#include "vellum/vellum.hpp"

namespace vellum::test {
namespace {

constexpr float kLowest = std::numeric_limits<float>::lowest();
constexpr StorageChoice kStorages[] = {StorageChoice::buffer, StorageChoice::image2d, StorageChoice::image3d};

// Row i of four sees the first i columns; the first sees none.
HostTensor seen(DType dtype) {
  HostTensor mask(DType::f32, {4, 6});
  for (size_t i = 0; i < 24; ++i) mask.mutable_as<float>()[i] = i % 6 < i / 6 ? 1.0f : 0.0f;
  return cast(mask, dtype);
}

HostTensor scalar(float value) { return HostTensor::f32({}, std::array{value}); }

// The softmax of masked scores. `how`: what writes the mask.
OnnxModel masked_softmax(const std::string& how, float lowest) {
  OnnxModel model;
  model.input("x", {1, 4, 4, 6}).output("y").initializer("lowest", scalar(lowest));
  if (how == "where") {
    model.input("mask", {4, 6}, DType::boolean);
    model.node("Where", {"mask", "x", "lowest"}, {"masked"});
  } else if (how == "where_then_add") {
    model.input("mask", {4, 6}, DType::boolean).initializer("zero", scalar(0));
    model.node("Where", {"mask", "zero", "lowest"}, {"bias"}).node("Add", {"x", "bias"}, {"masked"});
  } else if (how == "product") {
    model.input("mask", {4, 6}).initializer("one", scalar(1));
    model.node("Sub", {"one", "mask"}, {"hidden"}).node("Mul", {"hidden", "lowest"}, {"bias"});
    model.node("Add", {"x", "bias"}, {"masked"});
  } else {
    model.input("mask", {4, 6});
    model.node("Add", {"x", "mask"}, {"masked"});
  }
  model.node("Softmax", {"masked"}, {"y"}, attributes({{"axis", int64_t{-1}}}));
  return model;
}

HostTensor mask_for(const std::string& how, float lowest) {
  if (how.starts_with("where")) return seen(DType::boolean);
  HostTensor mask = seen(DType::f32);
  if (how == "input")
    for (float& value : mask.mutable_as<float>()) value = value == 0.0f ? lowest : 0.0f;
  return mask;
}

std::vector<float> run(const OnnxModel& network, const HostTensor& x, const HostTensor& mask,
                       StorageChoice storage, Precision precision) {
  SessionOptions options;
  options.storage = storage;
  options.precision = precision;
  Session session(Device::open(device_options()), load(network), options);
  session.set_input("x", x);
  session.set_input("mask", mask);
  session.run();
  return session.output("y").to_floats();
}

TEST(Masks, OfHalvesHaveASoftmax) {
  const HostTensor x = random_tensor({1, 4, 4, 6}, 1, -5.0f, 5.0f);
  for (const char* how : {"where", "where_then_add", "product", "input"}) {
    for (const float lowest : {kLowest, -1e9f}) {
      const OnnxModel network = masked_softmax(how, lowest);
      const HostTensor mask = mask_for(how, lowest);
      const auto want = run(network, x, mask, StorageChoice::buffer, Precision::fp32);
      for (const StorageChoice storage : kStorages) {
        const auto got = run(network, x, mask, storage, Precision::fp16);
        for (size_t i = 0; i < want.size(); ++i)
          ASSERT_NEAR(got[i], want[i], 5e-3f) << how << ' ' << lowest << " element " << i;
      }
    }
  }
}

// A number beyond halves that no mask has is seen, and a constant keeps its value. SwiftShader reads the infinity
// of halves as NaN.
TEST(Masks, OtherNumbersAreNotClamped) {
  OnnxModel network;
  network.input("x", {1, 4, 4, 6}).input("mask", {4, 6}).output("y");
  network.initializer("large", scalar(1e6f)).initializer("small", scalar(1e-6f));
  network.node("Add", {"mask", "large"}, {"sum"}).node("Mul", {"x", "sum"}, {"product"});
  network.node("Mul", {"product", "small"}, {"y"});
  HostTensor x(DType::f32, {1, 4, 4, 6});
  for (float& value : x.mutable_as<float>()) value = -2.0f;
  for (const StorageChoice storage : kStorages)
    for (const float value : run(network, x, seen(DType::f32), storage, Precision::fp16))
      EXPECT_TRUE(!std::isfinite(value) || std::abs(value + 2.0f) < 0.01f) << value;
}

// exp(-cumsum(x)) grows without bounds.
TEST(Masks, AnExponentialOfARunningSumIsWarnedOf) {
  OnnxModel network;
  network.input("x", {4, 6}).output("y").initializer("axis", HostTensor::i64({}, std::array{int64_t{1}}));
  network.node("CumSum", {"x", "axis"}, {"sum"})
      .node("Neg", {"sum"}, {"negative"})
      .node("Exp", {"negative"}, {"y"});
  for (const Precision precision : {Precision::fp32, Precision::fp16}) {
    SessionOptions options;
    options.precision = precision;
    DeviceOptions device = device_options();
    device.log = {};  // which the warning would fail
    const Session session(Device::open(device), load(network), options);
    EXPECT_EQ(session.warnings().size(), precision == Precision::fp16 ? 1u : 0u);
  }
}

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();

// Integers where the mask is set, else `hidden`, then `reader` of them.
OnnxModel masked_integers(int64_t hidden, const std::string& reader) {
  OnnxModel model;
  model.input("x", {4, 6}, DType::i64).input("mask", {4, 6}, DType::boolean).output("y");
  model.initializer("hidden", HostTensor::i64({}, std::array{hidden}));
  model.initializer("two", HostTensor::i64({}, std::array{int64_t{2}}));
  model.node("Where", {"mask", "x", "hidden"}, {"masked"});
  const Attributes along = attributes({{"axes", Attributes::Ints{1}}});
  if (reader == "ReduceMax" || reader == "ReduceMin")
    model.node(reader, {"masked"}, {"extremum"}, along).node("Greater", {"extremum", "two"}, {"y"});
  else if (reader == "ArgMax" || reader == "ArgMin")
    model.node(reader, {"masked"}, {"y"}, attributes({{"axis", int64_t{1}}}));
  else if (reader == "Max")
    model.node("Max", {"masked", "two"}, {"more"}).node("Equal", {"more", "two"}, {"y"});
  else if (reader == "output")
    model.node("Identity", {"masked"}, {"y"});
  else
    model.node(reader, {"masked", "two"}, {"y"});
  return model;
}

std::vector<int64_t> run_integers(const OnnxModel& network) {
  DeviceOptions device = device_options();
  device.log = {};  // reductions of integers run on the host, of which it is told
  Session session(Device::open(device), load(network));
  const HostTensor x = random_tensor({4, 6}, 3, -9.0f, 9.0f);
  session.set_input("x", cast(x, DType::i64));
  session.set_input("mask", seen(DType::boolean));
  session.run();
  return session.output("y").to_ints();
}

TEST(Masks, OfIntegersKeepTheirOrder) {
  for (const char* reader : {"Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal", "ArgMax", "ArgMin",
                             "ReduceMax", "ReduceMin", "Max"})
    for (const auto& [hidden, stands_for] : {std::pair{kLeast, int64_t{-1000}}, {kMost, int64_t{1000}}})
      EXPECT_EQ(run_integers(masked_integers(hidden, reader)),
                run_integers(masked_integers(stands_for, reader)))
          << reader << " of " << hidden;
}

TEST(Masks, OfIntegersAreRefusedBeforeArithmetic) {
  for (const char* reader : {"Add", "Sub", "Mul", "Div", "Mod", "output"})
    EXPECT_VELLUM_ERROR(run_integers(masked_integers(kLeast, reader)), ErrorCode::unsupported,
                        "does not fit the 32 bits");
}

// Bounds that no integer of 32 bits exceeds.
TEST(Masks, BoundsThatNothingExceedsAreNone) {
  for (const auto& [type, bound] : {std::pair{"Max", kLeast}, {"Min", kMost}}) {
    OnnxModel network;
    network.input("x", {4, 6}, DType::i64).input("mask", {4, 6}, DType::boolean).output("y");
    network.initializer("bound", HostTensor::i64({}, std::array{bound}));
    network.initializer("two", HostTensor::i64({}, std::array{int64_t{2}}));
    network.node(type, {"x", "bound"}, {"same"}).node("Where", {"mask", "same", "two"}, {"some"});
    network.node("Mul", {"some", "two"}, {"y"});
    const auto y = run_integers(network);
    EXPECT_EQ(y[0], 4);
    for (const int64_t value : y) EXPECT_LE(std::abs(value), 18);
  }
}

}  // namespace
}  // namespace vellum::test
