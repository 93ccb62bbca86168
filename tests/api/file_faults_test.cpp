// Any call on a file may fail, the disk be full or read-only, and the cache folder vanish: the result is
// right, or there is one clear error; nothing half-written is left, and the next time all is well.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "failing_files.hpp"
#include "glslang_tables.hpp"
#include "public_interface.hpp"
#include "small_model.hpp"
#include "support/environment.hpp"
#include "support/temp_folder.hpp"
#include "support/tensors.hpp"
#include "vellum/caps.hpp"
#include "vellum/pack.hpp"
#include "vellum/tune.hpp"

namespace vellum::test {
namespace {

namespace fs = std::filesystem;

constexpr FileFault kFaults[] = {FileFault::io_error, FileFault::disk_full, FileFault::read_only,
                                 FileFault::short_write, FileFault::folder_gone};

std::string content(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Work on files, whose result does not depend on what the folder holds.
struct Work {
  std::function<void(const fs::path& folder)> prepare;
  std::function<std::string(const fs::path& folder)> run;
  bool may_fail = true;  // with Error(io) or Error(not_found)
  // Whether the folder is in order after an error.
  std::function<bool(const fs::path& folder)> is_intact = [](const fs::path&) { return true; };
};

void expect_nothing_unfinished(const fs::path& folder, const std::string& where) {
  std::error_code error;
  for (fs::recursive_directory_iterator file(folder, error), end; file != end; file.increment(error))
    EXPECT_FALSE(file->path().extension() == ".tmp" || file->path().extension() == ".part")
        << where << ": " << file->path();
}

// Fails calls over the whole work in each way: about two, which are others for each way; with
// VELLUM_TEST_FULL all of them. Returns how often the work ended with an error.
size_t fail_each_call(const Work& work) {
  std::string want;
  uint64_t calls = 0;
  {
    const TempFolder folder;
    work.prepare(folder.path());
    const FailingFiles counting(folder.path());
    want = work.run(folder.path());
    calls = counting.calls();
  }
  EXPECT_GT(calls, 0u) << "no file is watched";
  size_t errors = 0;
  const uint64_t step = in_full() ? 1 : (calls + 1) / 2;
  for (const FileFault fault : kFaults)
    for (uint64_t call = 1 + (static_cast<uint64_t>(fault) - 1) * step / std::size(kFaults); call <= calls;
         call += step) {
      const std::string where =
          "fault " + std::to_string(static_cast<int>(fault)) + " in call " + std::to_string(call);
      const TempFolder folder;
      work.prepare(folder.path());
      try {
        const FailingFiles failing(folder.path(), fault, call);
        EXPECT_EQ(work.run(folder.path()), want) << where;
      } catch (const Error& error) {
        ++errors;
        EXPECT_TRUE(work.may_fail) << where << ": " << error.what();
        EXPECT_TRUE(error.code() == ErrorCode::io || error.code() == ErrorCode::not_found)
            << where << ": " << error.what();
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << where << ": " << error.what();
        EXPECT_TRUE(fault == FileFault::folder_gone || work.is_intact(folder.path())) << where;
      }
      expect_nothing_unfinished(folder.path(), where);
      if (fault == FileFault::folder_gone) work.prepare(folder.path());
      EXPECT_EQ(work.run(folder.path()), want) << "after " << where;
    }
  return errors;
}

DeviceOptions cached_device(const fs::path& folder) {
  DeviceOptions options = device_options();
  options.validation = false;
  options.cache_folder = folder / "cache";
  options.log = {};
  return options;
}

std::string run_session(const Device& device, const SessionOptions& options = {}) {
  Session session(device, load(small_model()), options);
  const Tensor y = session.run({{"x", random_tensor({1, 3, 9, 11}, 1)}}).at("y");
  return {reinterpret_cast<const char*>(y.data()), y.byte_size()};
}

TEST(FileFaults, OfAnEmptyCacheCostNothingButTime) {
  const Work work{[](const fs::path&) {},
                  [](const fs::path& folder) {
                    DeviceOptions options = cached_device(folder);
                    options.self_check = SelfCheck::on;
                    return run_session(Device::open(options));
                  },
                  false};
  EXPECT_EQ(fail_each_call(work), 0u);
}

TEST(FileFaults, OfAFullCacheCostNothingButTime) {
  const TempFolder filled;
  run_session(Device::open(cached_device(filled.path())));
  const Work work{
      [&](const fs::path& folder) {
        fs::create_directories(folder);
        fs::copy(filled.path(), folder, fs::copy_options::recursive | fs::copy_options::overwrite_existing);
      },
      [](const fs::path& folder) { return run_session(Device::open(cached_device(folder))); }, false};
  EXPECT_EQ(fail_each_call(work), 0u);
}

TEST(FileFaults, OfStreamedWeightsAreErrors) {
  const Work work{[](const fs::path&) {},
                  [](const fs::path& folder) {
                    SessionOptions options;
                    options.weights_budget = 4096;
                    return run_session(Device::open(cached_device(folder)), options);
                  }};
  fail_each_call(work);
}

TEST(FileFaults, OfTuningAreErrors) {
  const Work work{[](const fs::path&) {},
                  [](const fs::path& folder) {
                    const Device device = Device::open(cached_device(folder));
                    TuneOptions options;
                    options.seconds = 1e-6;  // measures nothing, but keeps the table
                    options.storages = false;
                    tune(device, load(small_model()), {}, options);
                    return run_session(device);
                  }};
  fail_each_call(work);
}

TEST(FileFaults, OfBundlesAreErrorsThatLeaveTheOldFile) {
  const std::string model = small_model().bytes();
  const Work work{[&](const fs::path& folder) {
                    fs::create_directories(folder);
                    std::ofstream(folder / "model.onnx", std::ios::binary) << model;
                    std::ofstream(folder / "bundle") << "old";
                  },
                  [](const fs::path& folder) {
                    pack(folder / "model.onnx", folder / "bundle", Caps::android_baseline_2022());
                    return content(folder / "bundle");
                  },
                  true, [](const fs::path& folder) { return content(folder / "bundle") == "old"; }};
  EXPECT_GT(fail_each_call(work), 1u);
}

TEST(FileFaults, OfModelsAreErrors) {
  const std::string model = small_model().bytes();
  const Work work{
      [&](const fs::path& folder) {
        fs::create_directories(folder);
        std::ofstream(folder / "model.onnx", std::ios::binary) << model;
      },
      [](const fs::path& folder) { return describe(Model::load(folder / "model.onnx"), "graph"); }};
  EXPECT_GT(fail_each_call(work), 1u);
}

}  // namespace
}  // namespace vellum::test
