// Tables on disk: what was written is read, and nothing else is believed.
#include "tune/table_file.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "exec/kernels_key.hpp"
#include "support/temp_folder.hpp"
#include "vellum/error.hpp"

namespace vellum::test {
namespace {

DeviceCaps device() {
  DeviceCaps caps;
  caps.name = "a \"device\"";
  caps.driver = "driver 1";
  return caps;
}

TuningTable table() {
  TuningTable table;
  table.operators["Conv | 1x8x4x4"] = {{"direct 8x2", 12.5}, {"winograd2 4x4", 3e-3}};
  table.operators["Gemm"] = {{"product 1x2", 7}};
  table.storages["0123"] = {StorageChoice::buffer, StorageChoice::buffer, StorageChoice::image2d,
                            StorageChoice::image3d};
  return table;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(TableFile, ReadsWhatItWrote) {
  const TempFolder folder;
  write_table(folder.path(), device(), table());
  const TuningTable read = read_table(folder.path(), device(), {});
  EXPECT_EQ(read.operators, table().operators);
  EXPECT_EQ(read.storages, table().storages);
}

TEST(TableFile, IsForOneDeviceDriverAndSetOfLimits) {
  const TempFolder folder;
  write_table(folder.path(), device(), table());
  DeviceCaps other = device();
  other.driver = "driver 2";
  EXPECT_TRUE(read_table(folder.path(), other, {}).empty());
  other = device();
  other.max_storage_images_per_stage = 8;
  EXPECT_TRUE(read_table(folder.path(), other, {}).empty());
  // Under the other's name it is not used either, and that is logged.
  std::filesystem::copy_file(table_path(folder.path(), device()), table_path(folder.path(), other));
  std::vector<LogLevel> told;
  EXPECT_TRUE(read_table(folder.path(), other, [&](LogLevel level, std::string_view) {
                told.push_back(level);
              }).empty());
  EXPECT_EQ(told, std::vector<LogLevel>{LogLevel::info});
}

TEST(TableFile, EveryTruncationIsRefused) {
  const std::string text = to_json(table(), device()), key = kernels_key(device());
  ASSERT_TRUE(table_from_json(text, key));
  for (size_t length = 0; length + 2 < text.size(); ++length)
    EXPECT_FALSE(table_from_json(text.substr(0, length), key)) << length;
}

TEST(TableFile, WhatNoTableHoldsIsRefused) {
  const std::string text = to_json(table(), device()), key = kernels_key(device());
  const auto refuses = [&](const std::string& from, const std::string& to) {
    EXPECT_FALSE(table_from_json(replaced(text, from, to), key)) << to;
  };
  for (const char* time : {"\"12.5\"", "-1", "0", "null", "true", "[]", "{}", "1e400", "1e10"})
    refuses("12.5", time);
  refuses("\"bbiv\"", "\"bbxv\"");
  refuses("\"bbiv\"", "3");
  refuses("\"vellum_tuning\": 1", "\"vellum_tuning\": 2");
  refuses("\"vellum_tuning\": 1", "\"vellum_tuning\": 1, \"more\": 1");
  refuses(",\n \"vellum_tuning\": 1", "");
  refuses("\"operators\"", "\"operations\"");
  EXPECT_FALSE(table_from_json(text, std::string(32, '0')));
  EXPECT_FALSE(table_from_json(std::string(100000, '['), key));
  EXPECT_FALSE(table_from_json("[1, 2]", key));
}

TEST(TableFile, AHugeFileIsNotEvenRead) {
  const TempFolder folder;
  std::string text = to_json(table(), device());
  text.append(size_t{17} << 20, ' ');
  folder.write(table_path("", device()).string(), text);
  EXPECT_TRUE(read_table(folder.path(), device(), {}).empty());
}

TEST(TableFile, SaysWhereItCannotWrite) {
  const TempFolder folder;
  const std::filesystem::path file = folder.write("file", "no folder");
  EXPECT_THROW(write_table(file, device(), table()), Error);
}

}  // namespace
}  // namespace vellum::test
