// Drivers with known faults end the process or fail its calls; the second start works.
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "faulty_driver/faulty_network.hpp"
#include "support/temp_folder.hpp"
#include "vellum/kernel_check.hpp"

extern char** environ;

namespace vellum::test {
namespace {

constexpr const char* kChildVariable = "VELLUM_TEST_FAULTY_DRIVER";   // FAULT:SHADER:FOLDER
constexpr const char* kDoctorVariable = "VELLUM_TEST_FAULTY_DOCTOR";  // checks kernels instead
constexpr int kFailed = 3;                                            // exit status after an error

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

}  // namespace
}  // namespace vellum::test
