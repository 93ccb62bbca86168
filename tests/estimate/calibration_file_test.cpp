// The file of MemoryMeter::calibrate(): only what this machine wrote for this device is used.
#include "estimate/calibration_file.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "platform/host_cpu.hpp"
#include "support/temp_folder.hpp"

namespace vellum {
namespace {

namespace fs = std::filesystem;

class CalibrationFile : public testing::Test {
 protected:
  CalibrationFile() {
    caps.name = "a CPU";
    caps.driver = "driver 1";
    traits.driver_bytes = 90'000'000;
    traits.bytes_per_operation = 900;
    traits.bytes_per_operation_of_largest = 2'500;
    traits.fitted_operations = {500, 40'000};
    write_calibration(folder.path(), caps, traits);
    path = calibration_path(folder.path(), caps);
  }
  std::optional<ProcessTraits> read(const DeviceCaps& device) {
    warnings.clear();
    return read_calibration(folder.path(), device, [&](LogLevel level, std::string_view message) {
      EXPECT_EQ(level, LogLevel::warning);
      warnings.emplace_back(message);
    });
  }
  // Nothing is read, and one line says so.
  void expect_ignored(const DeviceCaps& device, const char* why) {
    EXPECT_FALSE(read(device)) << why;
    ASSERT_EQ(warnings.size(), 1u) << why;
    EXPECT_NE(warnings[0].find(calibration_path(folder.path(), device).filename().string()),
              std::string::npos)
        << warnings[0];
  }

  test::TempFolder folder;
  DeviceCaps caps;
  ProcessTraits traits;
  fs::path path;
  std::vector<std::string> warnings;
};

TEST_F(CalibrationFile, IsReadAsItWasWritten) {
  const std::optional<ProcessTraits> found = read(caps);
  ASSERT_TRUE(found);
  EXPECT_TRUE(warnings.empty());
  EXPECT_EQ(found->driver_bytes, traits.driver_bytes);
  EXPECT_EQ(found->bytes_per_operation, traits.bytes_per_operation);
  EXPECT_EQ(found->bytes_per_operation_of_largest, traits.bytes_per_operation_of_largest);
  EXPECT_EQ(found->fitted_operations, traits.fitted_operations);
  EXPECT_EQ(found->host, platform::host_cpu());
}

TEST_F(CalibrationFile, LimitsOfTheDeviceDoNotCountItsDriverDoes) {
  caps.max_workgroup_invocations = 1;
  EXPECT_TRUE(read(caps));
  caps.driver = "driver 2";
  EXPECT_FALSE(read(caps));
  EXPECT_TRUE(warnings.empty()) << "there is no file";
}

TEST_F(CalibrationFile, IsIgnoredWhenDamaged) {
  for (const uintmax_t bytes : {fs::file_size(path) - 1, uintmax_t{7}, uintmax_t{0}}) {
    fs::resize_file(path, bytes);
    expect_ignored(caps, "cut off");
  }
  write_calibration(folder.path(), caps, traits);
  {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(-3, std::ios::end);
    file.put('\x55');
  }
  expect_ignored(caps, "a changed byte");
}

TEST_F(CalibrationFile, OfAnotherDeviceIsIgnored) {
  DeviceCaps other = caps;
  other.driver = "driver 2";
  fs::copy_file(path, calibration_path(folder.path(), other));
  expect_ignored(other, "copied from another driver");
}

#ifndef _WIN32
TEST_F(CalibrationFile, ThatOthersCanWriteToIsIgnored) {
  fs::permissions(path, fs::perms::group_write, fs::perm_options::add);
  expect_ignored(caps, "writable for a group");
}
#endif

}  // namespace
}  // namespace vellum
