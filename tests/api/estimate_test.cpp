// Memory that is estimated before anything is loaded, against what Vulkan allocates.
#include "vellum/estimate.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "glslang_tables.hpp"
#include "public_interface.hpp"
#include "small_model.hpp"
#include "support/errors.hpp"
#include "support/fetched_model.hpp"
#include "support/temp_folder.hpp"

namespace vellum::test {
namespace {

struct Case {
  std::filesystem::path file;
  std::string input;
  Shape shape;  // of one image
};

std::vector<Case> cases(const TempFolder& folder) {
  small_model().save(folder / "small.onnx");
  std::vector<Case> all{{folder / "small.onnx", "x", {1, 3, 9, 11}}};
  for (const char* name : {"ocr_direction", "face_detection_short"}) {
    const std::filesystem::path file = fetched_model(name).model();
    const TensorInfo input = Model::load(file).inputs().front();
    all.push_back({file, input.name, fetched_model(name).input().shape()});
  }
  return all;
}

SessionOptions with_batch(const Case& which, int64_t batch, SessionOptions options = {}) {
  Shape shape = which.shape;
  shape[0] = batch;
  options.input_shapes[which.input] = shape;
  return options;
}

void expect_within(double percent, uint64_t estimate, uint64_t real, const char* what) {
  EXPECT_LE(std::abs(static_cast<double>(estimate) - static_cast<double>(real)),
            percent / 100 * static_cast<double>(real))
      << what << ": " << estimate << " instead of " << real;
}

void expect_same(const VulkanMemory& estimate, const VulkanMemory& real) {
  EXPECT_EQ(estimate.weights, real.weights);
  EXPECT_EQ(estimate.in_out, real.in_out);
  EXPECT_EQ(estimate.intermediates, real.intermediates);
  EXPECT_EQ(estimate.staging, real.staging);
  EXPECT_EQ(estimate.peak, real.peak);
}

TEST(Estimate, SaysWhatVulkanIsAskedFor) {
  const TempFolder folder;
  const Caps caps = Caps::of(Device::open(device_options()));
  const MemoryMeter meter;
  for (const Case& which : cases(folder))
    for (const int64_t batch : {1, 2}) {
      SCOPED_TRACE(which.file.filename().string() + ", batch " + std::to_string(batch));
      const SessionOptions options = with_batch(which, batch);
      const MemoryMeasurement measured = meter.measure(which.file, options, device_options());
      expect_same(measured.estimate.vulkan, measured.vulkan);
      const MemoryEstimate modelled = estimate_memory(Model::load(which.file), options, caps);
      expect_within(2, modelled.vulkan.peak, measured.vulkan.peak, "from caps");
      expect_within(2, modelled.vulkan.intermediates, measured.vulkan.intermediates, "intermediates");
      EXPECT_EQ(modelled.use.weights, measured.use.weights);
      EXPECT_EQ(modelled.use.in_out, measured.use.in_out);
    }
}

TEST(Estimate, CountsTheTensorsOfEveryRunInFlight) {
  const TempFolder folder;
  const Case which = cases(folder)[1];
  const SessionOptions options = with_batch(which, 1, {.in_flight = 3});
  const MemoryMeasurement three = MemoryMeter().measure(which.file, options, device_options());
  expect_same(three.estimate.vulkan, three.vulkan);
  const MemoryEstimate one =
      estimate_memory(Model::load(which.file), with_batch(which, 1), Device::open(device_options()));
  EXPECT_EQ(three.vulkan.intermediates, 3 * one.vulkan.intermediates);
  EXPECT_EQ(three.use.in_out, 3 * one.use.in_out);
  EXPECT_EQ(three.use.weights, one.use.weights);
}

TEST(Estimate, CategoriesAddUp) {
  const TempFolder folder;
  const Case which = cases(folder)[1];
  const Model model = Model::load(which.file);
  const Caps phone = Caps::android_baseline_2022();
  const MemoryEstimate one = estimate_memory(model, with_batch(which, 1), phone);
  const MemoryEstimate four = estimate_memory(model, with_batch(which, 4), phone);
  const MemoryEstimate half =
      estimate_memory(model, with_batch(which, 1, {.precision = Precision::fp16}), phone);
  EXPECT_EQ(one.use.total(), one.use.weights + one.use.in_out + one.use.intermediates + one.use.workspace +
                                 one.use.staging + one.use.resident);
  EXPECT_FALSE(one.resident.driver || one.resident.pipelines) << "nobody has measured it on all phones";
  EXPECT_EQ(one.use.resident, one.resident.padding + one.resident.host);
  EXPECT_EQ(
      one.vulkan.weights + one.vulkan.in_out + one.vulkan.intermediates,
      one.use.weights + one.use.in_out + one.use.intermediates + one.use.workspace + one.resident.padding);
  EXPECT_EQ(four.use.weights, one.use.weights);
  EXPECT_LE(four.use.in_out, 4 * one.use.in_out);
  EXPECT_GT(four.use.in_out + 64, 4 * one.use.in_out) << "buffers are whole vectors";
  EXPECT_GT(four.use.intermediates, 3 * one.use.intermediates);
  EXPECT_LT(half.use.weights, one.use.weights);
  EXPECT_LT(half.use.intermediates, one.use.intermediates);
  EXPECT_GT(one.shape_inference_bytes, one.use.weights);
  EXPECT_GT(one.dispatches, one.pipelines);
}

TEST(Estimate, CapsFilesAreShipped) {
  const auto shipped = [](const char* name) {
    std::ifstream file(std::filesystem::path(std::getenv("VELLUM_TEST_SOURCE")).parent_path() / "caps" / name,
                       std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_EQ(shipped("android_baseline_2022.json"), Caps::android_baseline_2022().json());
  const MemoryEstimate estimate =
      estimate_memory(load(small_model()), {}, Caps::parse(shipped("lavapipe.json"), "lavapipe.json"));
  EXPECT_GT(estimate.resident.driver.value_or(0), 0u);
  EXPECT_GT(estimate.resident.pipelines.value_or(0), 0u);
  EXPECT_GE(estimate.use.resident, *estimate.resident.driver + *estimate.resident.pipelines);
}

// A discrete GPU whose whole memory is mapped has host-visible memory, too, but computes in its own.
TEST(Estimate, DiscreteGpusWithMappedMemoryDoNotShareTheHosts) {
  const auto resident_on = [](const char* type) {
    std::string text = Caps::android_baseline_2022().json();
    const auto set = [&](const std::string& key, const std::string& value) {
      const size_t at = text.find('"' + key + '"'), colon = text.find(':', at);
      ASSERT_NE(at, std::string::npos) << key;
      text.replace(colon + 1, text.find_first_of(",\n}", colon) - colon - 1, value);
    };
    set("type", std::string("\"") + type + '"');
    set("unified_memory", "true");
    return estimate_memory(load(small_model()), {}, Caps::parse(text, type)).resident.host;
  };
  EXPECT_GT(resident_on("integrated GPU"), 0u);
  EXPECT_EQ(resident_on("discrete GPU"), 0u);
}

TEST(Estimate, WantsShapes) {
  const TempFolder folder;
  small_model({1, 3, kUnknownDim, 11}).save(folder / "open.onnx");
  EXPECT_VELLUM_ERROR(estimate_memory(Model::load(folder / "open.onnx"), {}, Caps::android_baseline_2022()),
                      ErrorCode::invalid_argument, "x");
  EXPECT_VELLUM_ERROR(MemoryMeter().measure(folder / "open.onnx", {}, device_options()),
                      ErrorCode::invalid_argument, "x");
}

}  // namespace
}  // namespace vellum::test
