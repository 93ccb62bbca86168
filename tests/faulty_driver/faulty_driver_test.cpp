// What drivers with known faults do to a process, and that the second start works.
#include "faulty_driver/faulty_driver.hpp"

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <ostream>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "api/impl.hpp"
#include "platform/owned_file.hpp"
#include "support/onnx_builder.hpp"
#include "support/temp_folder.hpp"
#include "support/tensors.hpp"
#include "vellum/kernel_check.hpp"
#include "vellum/pack.hpp"
#include "vulkan/pipeline.hpp"

extern char** environ;

namespace vellum::test {
namespace {

constexpr const char* kChildVariable = "VELLUM_TEST_FAULTY_DRIVER";   // FAULT:SHADER:FOLDER
constexpr const char* kDoctorVariable = "VELLUM_TEST_FAULTY_DOCTOR";  // checks kernels instead
constexpr int kFailed = 3;                                            // exit status after an error

// Conv 3x3, Conv 1x1, Softmax.
std::string network() {
  OnnxModel model;
  model.input("x", {1, 6, 10, 12})
      .initializer("w1", random_tensor({20, 6, 3, 3}, 1))
      .initializer("w2", random_tensor({12, 20, 1, 1}, 3))
      .node("Conv", {"x", "w1"}, {"a"}, {}, "conv3x3")
      .node("Conv", {"a", "w2"}, {"d"}, {}, "conv1x1")
      .node("Softmax", {"d"}, {"y"}, attributes({{"axis", int64_t{1}}}), "softmax")
      .output("y");
  return model.bytes();
}

gpu::ContextOptions context_options(const FaultyDriver& driver, const std::filesystem::path& folder,
                                    const LogCallback& log) {
  gpu::ContextOptions options;
  options.get_instance_proc_addr = driver.get_instance_proc_addr();
  options.cache_folder = folder;
  options.log = log;
  // Long, because lavapipe compiles a shader while it is waited for; the driver that hangs says so at once.
  options.wait_limit = std::chrono::seconds(60);
  return options;
}

Device open(const FaultyDriver& driver, const std::filesystem::path& folder, const LogCallback& log,
            SelfCheck self_check = SelfCheck::on) {
  auto impl = std::make_shared<Device::Impl>();
  impl->self_check = self_check;
  impl->context = gpu::Context::create(context_options(driver, folder, log));
  return Handles::device(std::move(impl));
}

// The input has ten rows of `width` values in six channels.
std::vector<float> run_model(const Device& device, const Model& model, const SessionOptions& options,
                             std::vector<std::string>& warnings, int64_t width = 12) {
  Session session(device, model, options);
  const HostTensor x = random_tensor({1, 6, 10, width}, 4);
  Tensor input(DType::f32, x.shape());
  std::memcpy(input.mutable_data(), x.data(), input.byte_size());
  session.set_input("x", input);
  session.run();
  warnings = session.warnings();
  const Tensor output = session.output("y");
  std::vector<float> values(output.byte_size() / sizeof(float));
  std::memcpy(values.data(), output.data(), output.byte_size());
  return values;
}

std::string joined(const std::vector<std::string>& warnings) {
  std::string text;
  for (const std::string& warning : warnings) text += warning + "\n";
  return text;
}

std::vector<float> run_network(const Device& device, std::vector<std::string>& warnings) {
  const std::string bytes = network();
  return run_model(device, Model::load(std::as_bytes(std::span(bytes))), {.storage = StorageChoice::buffer},
                   warnings);
}

void log_failures(const std::vector<KernelCheck>& checks, std::ofstream& log) {
  for (const KernelCheck& check : checks)
    if (!check.passed()) log << check.kernel << ": " << check.failure << std::endl;
}

// One process with a faulty driver: runs the network, and writes its result and log to the folder.
TEST(Child, DISABLED_RunsTheNetwork) {
  const char* described = std::getenv(kChildVariable);
  if (!described) GTEST_SKIP();
  std::istringstream words(described);
  std::string fault, shader, folder;
  std::getline(words, fault, ':');
  std::getline(words, shader, ':');
  std::getline(words, folder);
  const FaultyDriver driver(static_cast<DriverFault>(std::stoi(fault)), shader);
  std::ofstream log(folder + "/log.txt");
  std::optional<Device> device;  // outlives an error: the destructor waits for a device that hangs
  try {
    device = open(driver, folder, [&](LogLevel level, std::string_view text) {
      if (level != LogLevel::info) log << text << std::endl;
    });
    if (std::getenv(kDoctorVariable)) return log_failures(check_kernels(*device, {.only = "Conv 1x1"}), log);
    std::vector<std::string> warnings;
    const std::vector<float> values = run_network(*device, warnings);
    for (const std::string& warning : warnings) log << warning << std::endl;
    std::ofstream output(folder + "/output", std::ios::binary);
    output.write(reinterpret_cast<const char*>(values.data()),
                 static_cast<std::streamsize>(values.size() * sizeof(float)));
  } catch (const Error& error) {
    log << error.what() << std::endl;
    if (error.code() == ErrorCode::device_lost &&
        fault == std::to_string(static_cast<int>(DriverFault::loses_device_at_work)))
      device.reset();
    std::_Exit(kFailed);  // as an application that gives up
  }
}

enum class End { success, error, killed };

std::ostream& operator<<(std::ostream& out, End end) {
  return out << (end == End::success ? "success" : end == End::error ? "an error" : "a kill");
}

struct Outcome {
  End end = End::killed;
  std::string log;
  std::vector<float> values;
};

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Outcome start_process(DriverFault fault, const std::string& shader, const std::filesystem::path& folder,
                      bool as_doctor = false) {
  std::filesystem::remove(folder / "output");
  const std::string described = std::string(kChildVariable) + "=" + std::to_string(static_cast<int>(fault)) +
                                ":" + shader + ":" + folder.string();
  std::vector<char*> environment{const_cast<char*>(described.c_str())};
  for (char** variable = environ; *variable; ++variable)
    if (!std::string_view(*variable).starts_with("GTEST_")) environment.push_back(*variable);
  const std::string doctor = std::string(kDoctorVariable) + "=1";
  if (as_doctor) environment.push_back(const_cast<char*>(doctor.c_str()));
  environment.push_back(nullptr);
  std::array arguments{std::string("faulty_driver"), std::string("--gtest_filter=Child.*"),
                       std::string("--gtest_also_run_disabled_tests")};
  std::vector<char*> words;
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", 1 /* O_WRONLY */, 0);
  pid_t process = 0;
  int status = 0;
  if (posix_spawn(&process, "/proc/self/exe", &actions, nullptr, words.data(), environment.data()) != 0 ||
      waitpid(process, &status, 0) != process)
    throw std::runtime_error("no process could be started");
  posix_spawn_file_actions_destroy(&actions);
  Outcome outcome;
  outcome.log = text_of(folder / "log.txt");
  const std::string bytes = text_of(folder / "output");
  outcome.values.resize(bytes.size() / sizeof(float));
  std::memcpy(outcome.values.data(), bytes.data(), outcome.values.size() * sizeof(float));
  if (WIFEXITED(status)) outcome.end = WEXITSTATUS(status) == 0 ? End::success : End::error;
  return outcome;
}

const std::vector<float>& right_values() {
  static const std::vector<float> values = [] {
    const TempFolder folder;
    return start_process(DriverFault::none, "no such shader", folder.path()).values;
  }();
  return values;
}

void expect_right(const Outcome& outcome) {
  ASSERT_EQ(outcome.end, End::success) << outcome.log;
  ASSERT_EQ(outcome.values.size(), right_values().size());
  for (size_t i = 0; i < outcome.values.size(); ++i)
    ASSERT_NEAR(outcome.values[i], right_values()[i], 1e-4) << i << "\n" << outcome.log;
}

struct FaultRow {
  const char* name;
  const char* rows;  // of docs/drivers.md
  DriverFault fault;
  const char* shader;
  int healthy_starts;  // before the fault shows
  End first;
  const char* says;  // what the log of the second start says; empty: nothing
};

std::ostream& operator<<(std::ostream& out, const FaultRow& row) { return out << row.name; }

constexpr const char* kWindow = "ConvWindowParameters";
constexpr const char* kPointwise = "ConvPointwiseParameters";
const FaultRow kFaultRows[] = {
    {"CompilerCrash", "11, 18, 35, 37, 39, 42", DriverFault::ends_in_pipeline, kPointwise, 0, End::killed,
     "compiled shader 'conv_pointwise'"},
    {"CompilerCrashOfAnother", "11, 18, 35, 37, 39, 42", DriverFault::ends_in_pipeline, kWindow, 0,
     End::killed, "compiled shader 'conv'"},
    {"MatricesCrash", "1", DriverFault::ends_in_matrices_query, "none", 0, End::killed,
     "was asked for its cooperative matrices"},
    {"DispatchCrash", "4", DriverFault::ends_in_dispatch, kPointwise, 0, End::killed,
     "ran shader 'conv_pointwise'"},
    {"StoredCacheCrash", "5, 15", DriverFault::ends_in_stored_cache, "none", 1, End::killed,
     "made a pipeline cache from stored data"},
    {"LostDevice", "4, 17, 36", DriverFault::loses_device, kPointwise, 0, End::error,
     "ran shader 'conv_pointwise'"},
    {"LostDeviceAtWork", "28", DriverFault::loses_device_at_work, kPointwise, 0, End::error,
     "ran shader 'conv_pointwise'"},
    {"Hang", "17, 43", DriverFault::hangs, kPointwise, 0, End::error, "ran shader 'conv_pointwise'"},
    {"RefusedShader", "10", DriverFault::refuses_pipeline, kPointwise, 0, End::success, ""},
    {"SomeRunsSkipped", "7, 8, 9, 45", DriverFault::skips_some_runs, kPointwise, 0, End::success, ""},
    {"MemoryRecycledWrongly", "2, 3, 29", DriverFault::recycles_wrongly, "none", 0, End::success,
     "computes wrong results where tensors share memory"},
    {"ShaderMiscompiled", "19, 24, 26, 38, 40, 53", DriverFault::miscompiles, kPointwise, 0, End::success,
     ""},
    {"NothingComputed", "3, 53", DriverFault::computes_nothing, kWindow, 0, End::success, ""},
};

class FaultyDriverStarts : public testing::TestWithParam<FaultRow> {};

TEST_P(FaultyDriverStarts, OnlyTheFirstStartFails) {
  const FaultRow& row = GetParam();
  const TempFolder folder;
  for (int i = 0; i < row.healthy_starts; ++i)
    expect_right(start_process(row.fault, row.shader, folder.path()));
  const Outcome first = start_process(row.fault, row.shader, folder.path());
  EXPECT_EQ(first.end, row.first) << first.log;
  if (row.first == End::success) expect_right(first);
  for (int start = 2; start <= 3; ++start) {
    const Outcome next = start_process(row.fault, row.shader, folder.path());
    expect_right(next);
    EXPECT_NE(next.log.find(row.says), std::string::npos) << next.log;
    if (row.first != End::success) {
      EXPECT_NE(next.log.find("vellum doctor --forget"), std::string::npos) << next.log;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, FaultyDriverStarts, testing::ValuesIn(kFaultRows),
                         [](const auto& row) { return row.param.name; });

TEST(FaultyDriver, ARightDriverLeavesNoMarks) {
  const TempFolder folder;
  const Outcome outcome = start_process(DriverFault::none, "none", folder.path());
  expect_right(outcome);
  EXPECT_EQ(outcome.log, "");
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    EXPECT_FALSE(entry.path().filename().string().starts_with("trying-")) << entry.path();
    EXPECT_FALSE(entry.path().filename().string().starts_with("crashes-")) << entry.path();
  }
}

TEST(FaultyDriver, ADoctorDiesOnce) {
  const TempFolder folder;
  const auto examine = [&] {
    return start_process(DriverFault::ends_in_dispatch, kPointwise, folder.path(), true);
  };
  EXPECT_EQ(examine().end, End::killed);
  const Outcome second = examine();
  EXPECT_EQ(second.end, End::success);
  EXPECT_NE(second.log.find("when it ran shader 'conv_pointwise'"), std::string::npos) << second.log;
  EXPECT_EQ(second.log.find("winograd"), std::string::npos) << second.log;
}

TEST(FaultyDriver, WhatCrashedCanBeForgotten) {
  const TempFolder folder;
  EXPECT_EQ(start_process(DriverFault::ends_in_pipeline, kPointwise, folder.path()).end, End::killed);
  {
    const FaultyDriver mended(DriverFault::none, "none");
    const Device device = open(mended, folder.path(), {});
    ASSERT_FALSE(crashes(device).empty());
    EXPECT_NE(crashes(device).front().find("compiled shader 'conv_"), std::string::npos)
        << crashes(device).front();
    forget_crashes(device);
    EXPECT_TRUE(crashes(device).empty());
  }
  // Tried again, one at a time, so that the cause is known.
  EXPECT_EQ(start_process(DriverFault::ends_in_pipeline, kPointwise, folder.path()).end, End::killed);
  {
    const FaultyDriver mended(DriverFault::none, "none");
    const Device device = open(mended, folder.path(), {});
    EXPECT_EQ(crashes(device), std::vector<std::string>{"compiled shader 'conv_pointwise'"});
    forget_crashes(device);
  }
  const Outcome after = start_process(DriverFault::none, "none", folder.path());
  expect_right(after);
  EXPECT_EQ(after.log, "");
}

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
  {
    const FaultyDriver right(DriverFault::none, "none");
    const Device device = open(right, {}, {});
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
      largest = std::max(largest, std::abs(double{values[i]} - double{right_values().at(i)}));
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

// Row 7: Concat of images runs in workgroups of 8x8.
TEST(FaultyDriver, KernelsThatFailInANinthOfTheirRunsAreNotUsed) {
  OnnxModel pools;
  const auto window =
      attributes({{"kernel_shape", std::vector<int64_t>{3, 3}}, {"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  pools.input("x", {1, 6, 10, 8})
      .node("MaxPool", {"x"}, {"a"}, window, "most")
      .node("AveragePool", {"x"}, {"b"}, window, "means")
      .node("Concat", {"a", "b"}, {"c"}, attributes({{"axis", int64_t{1}}}), "concat")
      .node("MaxPool", {"c"}, {"y"}, window, "most of all")
      .output("y");
  const std::string bytes = pools.bytes();
  const Model model = Model::load(std::as_bytes(std::span(bytes)));
  const SessionOptions images{.storage = StorageChoice::image2d};
  const TempFolder folder;
  std::vector<std::string> warnings;
  for (int start = 0; start < 2; ++start) {
    const FaultyDriver driver(DriverFault::wrong_square_groups, "none");
    const Device device = open(driver, folder.path(), {});
    const std::vector<float> first = run_model(device, model, images, warnings, 8);
    for (int run = 0; run < 12; ++run) EXPECT_EQ(run_model(device, model, images, warnings, 8), first) << run;
    EXPECT_NE(joined(warnings).find("is not used"), std::string::npos) << joined(warnings);
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
