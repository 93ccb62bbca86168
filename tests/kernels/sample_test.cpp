// Reading images at computed positions: GridSample and RoiAlign.
#include <gtest/gtest.h>

#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace sample_test {

OperatorCase grid_case(const char* mode, const char* padding, bool align_corners) {
  // Some positions are outside the image.
  OperatorCase test{.type = "GridSample",
                    .inputs = {random_tensor({2, 5, 4, 7}, 1), random_tensor({2, 3, 5, 2}, 2, -1.7f, 1.7f)}};
  test.attributes.set("mode", std::string(mode));
  test.attributes.set("padding_mode", std::string(padding));
  test.attributes.set("align_corners", int64_t{align_corners});
  test.opset = 20;
  // Halves move the positions in a grid that was computed.
  test.sweep.fp16_tolerance = 3e-2;
  return test;
}

TEST(GridSample, EveryModeAndPadding) {
  for (const char* padding : {"zeros", "border", "reflection"}) {
    for (const bool align_corners : {false, true}) {
      for (const char* mode : {"nearest", "linear", "cubic"})
        check_operator(grid_case(mode, padding, align_corners));
    }
  }
}

TEST(GridSample, VolumesInEveryModeAndPadding) {
  for (const char* padding : {"zeros", "border", "reflection"}) {
    for (const bool align_corners : {false, true}) {
      for (const char* mode : {"nearest", "linear"}) {
        OperatorCase test = grid_case(mode, padding, align_corners);
        test.inputs = {random_tensor({2, 3, 4, 5, 7}, 1), random_tensor({2, 2, 3, 5, 3}, 2, -1.7f, 1.7f)};
        check_operator(test);
      }
    }
  }
}

OperatorCase roi_case(const char* mode, int64_t sampling_ratio, bool half_pixel) {
  const HostTensor rois =
      HostTensor::f32({3, 4}, std::vector<float>{0, 0, 10, 6, 3.5f, 2, 20, 15, 5, 7, 5.5f, 7.5f});
  OperatorCase test{
      .type = "RoiAlign",
      .inputs = {random_tensor({2, 5, 8, 9}, 1), rois, HostTensor::i64({3}, std::vector<int64_t>{1, 0, 1})}};
  test.attributes.set("mode", std::string(mode));
  test.attributes.set("output_height", int64_t{3});
  test.attributes.set("output_width", int64_t{2});
  test.attributes.set("sampling_ratio", sampling_ratio);
  test.attributes.set("spatial_scale", 0.5f);
  test.attributes.set("coordinate_transformation_mode",
                      std::string(half_pixel ? "half_pixel" : "output_half_pixel"));
  test.opset = 16;
  return test;
}

TEST(RoiAlign, AveragesAndMaxima) {
  for (const char* mode : {"avg", "max"}) {
    for (const int64_t ratio : {0, 2}) {
      for (const bool half_pixel : {false, true}) check_operator(roi_case(mode, ratio, half_pixel));
    }
  }
}

// Regions of many samples, of which those outside of the map are zeros: no region makes an invocation run
// longer than the map is large.
TEST(RoiAlign, RegionsOfAnySize) {
  for (const char* mode : {"avg", "max"})
    for (const Shape& map : {Shape{1, 3, 40, 50}, Shape{1, 2, 260, 300}}) {
      const HostTensor rois =
          HostTensor::f32({5, 4}, std::vector<float>{0,    0,    600, 520, -5,  3,   91, 77,    -2000, -1900,
                                                     3000, 2500, 590, 510, 900, 800, 1,  -4000, 30,    4000});
      OperatorCase test = roi_case(mode, 0, true);
      test.inputs = {random_tensor(map, 1), rois, HostTensor::i64({5}, std::vector<int64_t>(5, 0))};
      test.attributes.set("output_height", int64_t{1});
      test.attributes.set("output_width", int64_t{1});
      test.sweep.fp16 = false;
      check_operator(test);
    }
}

}  // namespace sample_test
}  // namespace vellum::test
