// Faults that do not end the process: results and warnings of sessions on such a driver.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "api/impl.hpp"
#include "faulty_driver/faulty_network.hpp"
#include "support/onnx_builder.hpp"
#include "support/temp_folder.hpp"
#include "support/tensors.hpp"
#include "vellum/pack.hpp"
#include "vulkan/pipeline.hpp"

namespace vellum::test {
namespace {

// Row 21 of docs/drivers.md: Qualcomm's driver.
TEST(FaultyDriver, ThreadsWaitInTurnWhereTheDriverWantsIt) {
  const TempFolder folder;
  const FaultyDriver driver(DriverFault::refuses_concurrent_waits, "none");
  gpu::ContextOptions options = context_options(driver, folder.path(), {});
  options.adjust_caps = [](DeviceCaps caps) {
    caps.vendor_id = 0x5143;
    return caps;
  };
  auto impl = std::make_shared<Device::Impl>();
  impl->context = gpu::Context::create(options);
  const Device device = Handles::device(std::move(impl));
  std::vector<std::string> errors(2);
  {
    std::vector<std::jthread> threads;
    for (std::string& error : errors)
      threads.emplace_back([&] {
        try {
          std::vector<std::string> warnings;
          for (int i = 0; i < 4; ++i) run_network(device, warnings);
        } catch (const Error& thrown) {
          error = thrown.what();
        }
      });
  }
  EXPECT_EQ(errors, std::vector<std::string>(2));
}

// A fault of some runs, which no check before the first one finds.
TEST(FaultyDriver, ARunThatIsRepeatedTellsOfAFault) {
  const std::string bytes = network();
  const Model model = Model::load(std::as_bytes(std::span(bytes)));
  const auto runs_until_error = [&](DriverFault fault, uint32_t repeat_every) {
    const TempFolder folder;
    const FaultyDriver driver(fault, kPointwise);
    const Device device = open(driver, folder.path(), {}, SelfCheck::off);
    Session session(device, model, {.storage = StorageChoice::buffer, .repeat_every = repeat_every});
    constexpr uint32_t kMost = 12;
    for (uint32_t run = 0; run < kMost; ++run) {
      const HostTensor x = random_tensor({1, 6, 10, 12}, run);
      Tensor input(DType::f32, x.shape());
      std::memcpy(input.mutable_data(), x.data(), input.byte_size());
      session.set_input("x", input);
      try {
        session.run();
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::internal);
        EXPECT_NE(std::string(error.what()).find("output 'y' has other bits when the run is repeated"),
                  std::string::npos)
            << error.what();
        return run;
      }
    }
    return kMost;
  };
  EXPECT_EQ(runs_until_error(DriverFault::none, 1), 12u);
  EXPECT_EQ(runs_until_error(DriverFault::skips_some_runs, 0), 12u) << "nobody looks";
  EXPECT_LT(runs_until_error(DriverFault::skips_some_runs, 1), 4u);
  EXPECT_LT(runs_until_error(DriverFault::skips_some_runs, 2), 8u);
}

// Row 2 in Vellum::runtime, which compiles no shaders: the bundle has those of the check.
TEST(FaultyDriver, SessionsOfBundlesShareNoMemoryWhereThatIsWrong) {
  const TempFolder folder;
  const std::string bytes = network();
  std::string bundle;
  std::vector<float> right_values;
  {
    const FaultyDriver right(DriverFault::none, "none");
    const Device device = open(right, {}, {});
    std::vector<std::string> warnings;
    right_values = run_network(device, warnings);
    pack(std::as_bytes(std::span(bytes)),
         [&](std::span<const std::byte> piece) {
           bundle.append(reinterpret_cast<const char*>(piece.data()), piece.size());
         },
         Caps::of(device), {.storage = StorageChoice::buffer});
  }
  for (const SelfCheck self_check : {SelfCheck::off, SelfCheck::on}) {
    const FaultyDriver driver(DriverFault::recycles_wrongly, "none");
    const Device device = open(driver, folder.path(), {}, self_check);
    impl(device)->compiles_shaders = false;
    std::vector<std::string> warnings;
    const std::vector<float> values = run_model(device, Model::load(std::as_bytes(std::span(bundle))),
                                                {.storage = StorageChoice::buffer}, warnings);
    EXPECT_EQ(impl(device)->context->pipelines().shader_counts().compiled, 0u);
    double largest = 0;
    for (size_t i = 0; i < values.size(); ++i)
      largest = std::max(largest, std::abs(double{values[i]} - double{right_values.at(i)}));
    if (self_check == SelfCheck::off) {
      EXPECT_GT(largest, 1e-3) << "nothing is wrong";
    } else {
      EXPECT_LT(largest, 1e-4);
      ASSERT_EQ(warnings.size(), 1u);
      EXPECT_NE(warnings.front().find("wrong results where tensors share memory"), std::string::npos)
          << warnings.front();
    }
  }
}

// Row 33: halves of the results are those of a right device.
TEST(FaultyDriver, HalvesAreRoundedWhereTheDriverCutsThem) {
  const std::string bytes = network();
  const Model model = Model::load(std::as_bytes(std::span(bytes)));
  const SessionOptions halves{.precision = Precision::fp16, .storage = StorageChoice::buffer};
  const auto values = [&](DriverFault fault, SelfCheck self_check) {
    const FaultyDriver driver(fault, "none");
    std::vector<std::string> warnings;
    return run_model(open(driver, {}, {}, self_check), model, halves, warnings);
  };
  const std::vector<float> right = values(DriverFault::none, SelfCheck::off);
  EXPECT_NE(values(DriverFault::truncates_halves, SelfCheck::off), right) << "nothing is wrong";
  EXPECT_EQ(values(DriverFault::truncates_halves, SelfCheck::on), right);
}

// Row 27, where the first runs of a session are measured.
TEST(FaultyDriver, TimestampsThatAreLateAreReadAgain) {
  const std::string bytes = network();
  const Model model = Model::load(std::as_bytes(std::span(bytes)));
  const FaultyDriver driver(DriverFault::answers_late, "none");
  const Device device = open(driver, {}, {}, SelfCheck::off);
  Session session(device, model, {.storage = StorageChoice::buffer, .max_submit_ms = 1000});
  session.set_input("x", Tensor(DType::f32, {1, 6, 10, 12}));
  for (int run = 0; run < 3; ++run) EXPECT_NO_THROW(session.run());
}

// A pool, the mean, both, and a pool of these, of width `width`.
Model pools(int64_t width) {
  OnnxModel model;
  const auto window =
      attributes({{"kernel_shape", std::vector<int64_t>{3, 3}}, {"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  model.input("x", {1, 6, 10, width})
      .node("MaxPool", {"x"}, {"a"}, window, "most")
      .node("AveragePool", {"x"}, {"b"}, window, "means")
      .node("Concat", {"a", "b"}, {"c"}, attributes({{"axis", int64_t{1}}}), "concat")
      .node("MaxPool", {"c"}, {"y"}, window, "most of all")
      .output("y");
  const std::string bytes = model.bytes();
  return Model::load(std::as_bytes(std::span(bytes)));
}

// Row 7: Concat of images runs in workgroups whose shape follows from the width. One that is right in another
// shape is used there.
TEST(FaultyDriver, KernelsThatFailInANinthOfTheirRunsAreNotUsed) {
  const SessionOptions images{.storage = StorageChoice::image2d};
  constexpr int64_t kNarrow = 8, kWide = 16;
  for (const auto& [shape, width, other] :
       {std::tuple("8x8", kNarrow, kWide), std::tuple("16x4", kWide, kNarrow)}) {
    const TempFolder folder;
    std::vector<std::string> warnings;
    for (int start = 0; start < 2; ++start) {
      const FaultyDriver driver(DriverFault::wrong_workgroups, shape);
      const Device device = open(driver, folder.path(), {});
      run_model(device, pools(other), images, warnings, other);
      EXPECT_EQ(joined(warnings).find("is not used"), std::string::npos) << shape << joined(warnings);
      const Model model = pools(width);
      const std::vector<float> first = run_model(device, model, images, warnings, width);
      for (int run = 0; run < 12; ++run)
        EXPECT_EQ(run_model(device, model, images, warnings, width), first) << shape << ", " << run;
      EXPECT_NE(joined(warnings).find("is not used"), std::string::npos) << shape << joined(warnings);
    }
  }
}

// Rows 16 and 43 to 45: what is right in small shapes and wrong in large ones.
TEST(FaultyDriver, KernelsThatFailInTheSizesOfASessionAreNotUsed) {
  OnnxModel rows;
  rows.input("x", {1, 6, 10, 600})
      .initializer("shape", HostTensor::i64({2}, std::vector<int64_t>{36000, 1}))
      .node("Reshape", {"x", "shape"}, {"r"}, {}, "reshape")
      .node("Concat", {"r", "r"}, {"c"}, attributes({{"axis", int64_t{1}}}), "concat")
      .initializer("axis", HostTensor::i64({1}, std::vector<int64_t>{1}))
      .node("CumSum", {"c", "axis"}, {"y"}, {}, "sums")
      .output("y");
  const std::string bytes = rows.bytes();
  const std::vector<float> x = random_tensor({1, 6, 10, 600}, 4).to_floats();
  const Model model = Model::load(std::as_bytes(std::span(bytes)));
  const TempFolder folder;
  for (const SelfCheck self_check : {SelfCheck::off, SelfCheck::on, SelfCheck::on}) {
    const FaultyDriver driver(DriverFault::drops_workgroups, "none");
    const Device device = open(driver, folder.path(), {}, self_check);
    std::vector<std::string> warnings;
    const std::vector<float> values =
        run_model(device, model, {.storage = StorageChoice::buffer}, warnings, 600);
    size_t wrong = 0;
    for (size_t i = 0; i < values.size(); ++i) wrong += values[i] != (i % 2 == 0 ? x[i / 2] : 2 * x[i / 2]);
    if (self_check == SelfCheck::off) {
      EXPECT_GT(wrong, 1000u) << "nothing is wrong";
    } else {
      EXPECT_EQ(wrong, 0u);
      EXPECT_NE(joined(warnings).find("of many rows"), std::string::npos) << joined(warnings);
    }
  }
}

}  // namespace
}  // namespace vellum::test
