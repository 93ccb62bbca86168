// Resize in every mode.
#include <gtest/gtest.h>

#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace resize_test {

OperatorCase resize_case(Shape shape, std::vector<int64_t> sizes, std::string mode, std::string coordinates) {
  const auto rank = static_cast<int64_t>(sizes.size());
  OperatorCase test{.type = "Resize",
                    .inputs = {random_tensor(std::move(shape), 1), std::nullopt, std::nullopt,
                               HostTensor::i64({rank}, sizes)},
                    .constants = {3}};
  test.attributes.set("mode", std::move(mode));
  test.attributes.set("coordinate_transformation_mode", std::move(coordinates));
  return test;
}

TEST(Resize, EveryModeAndCoordinateRule) {
  for (const char* mode : {"nearest", "linear", "cubic"})
    for (const char* coordinates : {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"})
      for (const auto& [height, width] : {std::pair{6, 9}, std::pair{2, 3}, std::pair{1, 11}})
        check_operator(resize_case({2, 5, 3, 5}, {2, 5, height, width}, mode, coordinates));
}

TEST(Resize, NearestModes) {
  for (const char* nearest : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}) {
    OperatorCase test = resize_case({1, 3, 4, 5}, {1, 3, 8, 7}, "nearest", "half_pixel");
    test.attributes.set("nearest_mode", std::string(nearest));
    check_operator(test);
  }
}

TEST(Resize, Scales) {
  for (const char* mode : {"nearest", "linear"}) {
    OperatorCase test{.type = "Resize",
                      .inputs = {random_tensor({1, 6, 4, 3}, 2), std::nullopt,
                                 HostTensor::f32({4}, std::array{1.0f, 1.0f, 2.0f, 2.5f})},
                      .constants = {2}};
    test.attributes.set("mode", std::string(mode));
    check_operator(test);
  }
}

TEST(Resize, CubicExcludesWhatLiesOutside) {
  OperatorCase test = resize_case({1, 3, 4, 5}, {1, 3, 7, 8}, "cubic", "half_pixel");
  test.attributes.set("exclude_outside", int64_t{1});
  test.attributes.set("cubic_coeff_a", -0.5f);
  check_operator(test);
}

TEST(Resize, CropAndResizeExtrapolates) {
  for (const char* mode : {"nearest", "linear"}) {
    OperatorCase test = resize_case({1, 3, 4, 5}, {1, 3, 3, 6}, mode, "tf_crop_and_resize");
    test.inputs[1] = HostTensor::f32({8}, std::array{0.0f, 0.0f, 0.2f, -0.3f, 1.0f, 1.0f, 0.9f, 1.2f});
    test.constants = {1, 3};
    test.attributes.set("extrapolation_value", 7.0f);
    check_operator(test);
  }
}

TEST(Resize, OneSpatialDimension) {
  check_operator(resize_case({2, 5, 4}, {2, 5, 7}, "linear", "half_pixel"));
}

TEST(Resize, Upsample) {
  OperatorCase test{.type = "Upsample", .inputs = {random_tensor({1, 5, 3, 2}, 3)}, .opset = 7};
  test.attributes.set("scales", Attributes::Floats{1.0f, 1.0f, 2.0f, 3.0f});
  check_operator(test);
}

TEST(Resize, Antialias) {
  for (const char* mode : {"linear", "cubic"}) {
    OperatorCase test{.type = "Resize",
                      .inputs = {random_tensor({2, 5, 13, 11}, 1), std::nullopt,
                                 HostTensor::f32({4}, std::array{1.0f, 1.0f, 0.4f, 0.3f})},
                      .constants = {2},
                      .opset = 19};
    test.attributes.set("mode", std::string(mode));
    test.attributes.set("antialias", int64_t{1});
    check_operator(test);
  }
}

}  // namespace resize_test
}  // namespace vellum::test
