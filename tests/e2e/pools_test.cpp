// MediaPipe's pools that remember their maxima, against LiteRT (oracles/make_pools.mjs).
#include <gtest/gtest.h>

#include "e2e/reference.hpp"

namespace vellum::test {
namespace {

TEST(MediaPipePools, GoBackToWhereTheMaximaWere) {
  const Model model = Model::load(reference_file("mediapipe_pools", "model.tflite"));
  const Tensor input = reference_tensor("mediapipe_pools", "input.npy");
  const Tensor want = reference_tensor("mediapipe_pools", "y.npy");
  const auto expected = want.to_floats();
  for (const auto storage : {StorageChoice::image2d, StorageChoice::image3d, StorageChoice::buffer}) {
    for (const auto precision : {Precision::fp32, Precision::fp16}) {
      SessionOptions options;
      options.storage = storage;
      options.precision = precision;
      Session session(device(), model, options);
      EXPECT_TRUE(session.warnings().empty()) << session.warnings().front();
      const auto outputs = session.run({{"x", input}});
      ASSERT_EQ(outputs.at("y").shape(), want.shape());
      const auto got = outputs.at("y").to_floats();
      for (size_t i = 0; i < got.size(); ++i)
        EXPECT_NEAR(got[i], expected[i], precision == Precision::fp16 ? 1e-3 : 0.0) << "element " << i;
    }
  }
  expect_no_validation_messages();
}

}  // namespace
}  // namespace vellum::test
