// Small models that are run in steps, and the fixture of their tests.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "public_interface.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"
#include "vellum/vellum.hpp"

namespace vellum::test {

inline Tensor numbers(const Shape& shape, const std::vector<float>& values) {
  return Tensor::f32(shape, values);
}
inline Tensor integers(const Shape& shape, const std::vector<int64_t>& values) {
  return Tensor::i64(shape, values);
}

// As a step of diffusion: latents.next = latents + t * tanh(latents * w), picture = latents.next * w.
inline OnnxModel diffusion() {
  OnnxModel model;
  model.input("latents", {1, 4, 5, 6})
      .input("t", {1})
      .initializer("w", random_tensor({1, 4, 1, 1}, 9))
      .node("Mul", {"latents", "w"}, {"scaled"})
      .node("Tanh", {"scaled"}, {"noise"})
      .node("Mul", {"noise", "t"}, {"step"})
      .node("Add", {"latents", "step"}, {"latents.next"})
      .node("Mul", {"latents.next", "w"}, {"picture"})
      .output("picture")
      .output("latents.next");
  return model;
}

// next = token * 3 + 1 mod 32, sum.next = sum + token. From 0: 1, 4, 13, 8, 25, 12, 5, 16, 17, 20, 29, 24, 9,
// ...
inline OnnxModel counter(int64_t batch = 1) {
  OnnxModel model;
  model.input("token", {batch, 1}, DType::i64)
      .input("sum", {batch, 1})
      .initializer("three", HostTensor::i64({1}, std::vector<int64_t>{3}))
      .initializer("one", HostTensor::i64({1}, std::vector<int64_t>{1}))
      .initializer("most", HostTensor::i64({1}, std::vector<int64_t>{32}))
      .node("Mul", {"token", "three"}, {"tripled"})
      .node("Add", {"tripled", "one"}, {"more"})
      .node("Mod", {"more", "most"}, {"next"})
      .node("Cast", {"token"}, {"number"}, attributes({{"to", int64_t{1}}}))
      .node("Add", {"sum", "number"}, {"sum.next"})
      .output("next")
      .output("sum.next");
  return model;
}

class Steps : public testing::Test {
 protected:
  static void SetUpTestSuite() { device_ = new Device(Device::open(device_options())); }
  static void TearDownTestSuite() { delete device_; }
  void TearDown() override { EXPECT_EQ(device().validation_messages(), 0u); }
  static Device& device() { return *device_; }
  static Session make(const OnnxModel& model, SessionOptions options = {}) {
    return Session(device(), load(model), options);
  }
  static inline Device* device_ = nullptr;
};

}  // namespace vellum::test
