#include "caps_file/caps_json.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <type_traits>

#include "caps/vendors.hpp"
#include "cost/device_traits.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

TEST(CapsJson, WhatIsWrittenIsReadBack) {
  DeviceCaps caps;
  caps.name = "A \"device\" <of> sorts";
  caps.driver = "driver 1.2";
  caps.type = DeviceType::integrated_gpu;
  caps.pipeline_cache_uuid[3] = 200;
  caps.max_storage_buffer_range = uint64_t{1} << 40;
  caps.max_workgroup_size = {1024, 512, 64};
  caps.timestamp_period_ns = 52.083f;
  caps.unified_memory = true;
  caps.prefers_images = false;
  caps.memory = {2, 8, 32, 65536, 512};
  caps.process = {"a processor, 2 threads", {1'000, 9'000}, 100'000'000, 700'000, 500'000};
  const std::string text = to_json(caps);
  const DeviceCaps read = caps_from_json(text, "caps.json");
  EXPECT_EQ(to_json(read), text);
  EXPECT_EQ(read.name, caps.name);
  EXPECT_EQ(read.type, caps.type);
  EXPECT_EQ(read.pipeline_cache_uuid, caps.pipeline_cache_uuid);
  EXPECT_EQ(read.max_storage_buffer_range, caps.max_storage_buffer_range);
  EXPECT_EQ(read.max_workgroup_size, caps.max_workgroup_size);
  EXPECT_EQ(read.timestamp_period_ns, caps.timestamp_period_ns);
  EXPECT_TRUE(read.unified_memory);
  EXPECT_FALSE(read.prefers_images);
  EXPECT_EQ(read.memory.block_height, 8u);
  EXPECT_EQ(read.memory.image_alignment, 65536u);
  ASSERT_TRUE(read.process);
  EXPECT_EQ(read.process->bytes_per_operation, 700'000u);
  EXPECT_EQ(read.process->host, "a processor, 2 threads");
  EXPECT_EQ(read.process->fitted_operations[1], 9'000u);
  EXPECT_FALSE(caps_from_json(to_json(DeviceCaps{}), "caps.json").process) << "not known";
}

DeviceCaps with_matrices() {
  DeviceCaps caps;
  caps.subgroup_broadcast = caps.full_subgroups = true;
  caps.subgroup_size = 32;
  caps.cooperative_matrices = {
      {.m = 16, .n = 8, .k = 32},
      {.m = 16, .n = 16, .k = 16, .c = MatrixElement::f16, .result = MatrixElement::f16},
      {.scope = MatrixScope::workgroup, .m = 64, .n = 64, .k = 16},
      {.m = 16,
       .n = 8,
       .k = 32,
       .a = MatrixElement::s8,
       .b = MatrixElement::u8,
       .c = MatrixElement::s32,
       .result = MatrixElement::s32}};
  return caps;
}

const CooperativeMatrix kBytes{.m = 16,
                               .n = 16,
                               .k = 32,
                               .a = MatrixElement::s8,
                               .b = MatrixElement::s8,
                               .c = MatrixElement::s32,
                               .result = MatrixElement::s32};

TEST(CapsJson, CooperativeMatricesAreReadBack) {
  const DeviceCaps caps = with_matrices();
  const DeviceCaps read = caps_from_json(to_json(caps), "caps.json");
  EXPECT_EQ(read.cooperative_matrices, caps.cooperative_matrices);
  EXPECT_TRUE(read.subgroup_broadcast && read.full_subgroups);
  EXPECT_EQ(cooperative_summary(read), "KHR 16x8x32") << "of halves, in fp32, by a subgroup";
}

TEST(CapsJson, CooperativeMatricesOfBytesAreNamed) {
  DeviceCaps caps = with_matrices();
  caps.cooperative_matrices.push_back(kBytes);
  EXPECT_EQ(byte_products(caps), std::vector{kBytes});
  EXPECT_EQ(cooperative_summary(caps), "KHR 16x8x32; of bytes 16x16x32");
  remove_products(caps, MatrixFactors::halves);
  EXPECT_EQ(cooperative_summary(caps), "KHR of bytes 16x16x32");
  remove_products(caps, MatrixFactors::bytes);
  EXPECT_EQ(caps.cooperative_matrices.size(), 3u);
  EXPECT_TRUE(cooperative_summary(caps).starts_with("no: none of halves"));
}

TEST(CapsJson, FilesThatKnowNothingOfSubgroupsAreReadAsWithoutThem) {
  std::string text = to_json(DeviceCaps{});
  const size_t from = text.find(",\n  \"subgroup_broadcast\""), end = text.find("[]", from);
  ASSERT_LT(end, text.size());
  text.erase(from, end + 2 - from);
  const DeviceCaps caps = caps_from_json(text, "old.json");
  EXPECT_FALSE(caps.subgroup_broadcast || caps.full_subgroups);
  EXPECT_TRUE(caps.cooperative_matrices.empty());
  EXPECT_EQ(cooperative_summary(caps), "no: none are known");
}

TEST(CapsJson, DamagedCooperativeMatricesAreRefused) {
  const std::string text = to_json(with_matrices());
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string copy = text;
    copy.replace(copy.find(from), from.size(), to);
    return copy;
  };
  for (const auto& [from, to] : {std::pair{"\"KHR\"", "\"AMD\""},
                                 {"\"m\": 16", "\"m\": 0"},
                                 {"\"k\": 32", "\"k\": 1000000"},
                                 {"\"k\": 32", "\"k\": -1"},
                                 {"\"s8\"", "8"},
                                 {"\"scope\"", "\"slope\""}})
    EXPECT_THROW(caps_from_json(changed(from, to), "damaged.json"), Error) << from << " " << to;
}

TEST(CapsJson, DamagedFilesAreRefused) {
  const std::string text = to_json(DeviceCaps{});
  for (size_t length = 0; length + 2 < text.size(); length += 7)
    EXPECT_THROW(caps_from_json(std::string_view(text).substr(0, length), "cut.json"), Error) << length;
  DeviceCaps caps;
  caps.buffer_image_granularity = 3;
  EXPECT_THROW(caps_from_json(to_json(caps), "odd.json"), Error);
  caps = {};
  caps.memory.image_alignment = uint64_t{1} << 40;
  EXPECT_THROW(caps_from_json(to_json(caps), "huge.json"), Error) << "rounding up to it could overflow";
  caps = {};
  caps.max_allocation_bytes = 0;
  EXPECT_THROW(caps_from_json(to_json(caps), "zero.json"), Error);
  caps = {};
  caps.process = {"", {}, uint64_t{1} << 60, 1, 1};
  EXPECT_THROW(caps_from_json(to_json(caps), "heavy.json"), Error);
  caps.process = {"", {}, 1, 2, 3};
  std::string without_host = to_json(caps);
  without_host.erase(without_host.find(",\n  \"process.host\""));
  const DeviceCaps old = caps_from_json(without_host + "\n}\n", "old.json");
  ASSERT_TRUE(old.process);
  EXPECT_EQ(old.process->bytes_per_operation_of_largest, 3u);
  EXPECT_TRUE(old.process->host.empty());
  std::string partial = to_json(caps);
  partial.replace(partial.find("process.bytes_per_operation"), 7, "prozess");
  EXPECT_THROW(caps_from_json(partial, "partial.json"), Error);
}

std::string refusal(const std::string& text) {
  try {
    caps_from_json(text, "caps.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string with_traits(const DeviceCaps& caps, const std::string& traits) {
  std::string text = to_json(caps);
  text.insert(text.rfind("\n}"), ",\n  \"traits\": " + traits);
  return text;
}

// A caps file may have the figures that were measured on its device in place of the vendor's.
TEST(CapsJson, TraitsOverrideThoseOfTheVendor) {
  DeviceCaps caps;
  caps.type = DeviceType::discrete_gpu;
  caps.vendor_id = kAmd;
  EXPECT_EQ(to_json(caps).find("traits"), std::string::npos);
  const DeviceCaps read = caps_from_json(
      with_traits(caps, R"({"launch_us": 0.75, "most_sums": 4, "merges_branches": false})"), "caps.json");
  EXPECT_EQ(device_traits(read).launch_us, 0.75);
  EXPECT_EQ(device_traits(read).most_sums, 4);
  EXPECT_FALSE(device_traits(read).merges_branches);
  EXPECT_EQ(device_traits(read).lane_registers, device_traits(caps).lane_registers) << "not in the file";
  const std::string text = to_json(read);
  EXPECT_EQ(to_json(caps_from_json(text, "caps.json")), text);
  EXPECT_NE(text.find("\"launch_us\": 0.75"), std::string::npos) << text;
  EXPECT_EQ(text.find("\"barrier_us\""), std::string::npos) << "only what differs is written";
  EXPECT_FALSE(caps_from_json(with_traits(caps, "{}"), "caps.json").traits);
}

TEST(CapsJson, EachTraitIsReadBack) {
  DeviceCaps caps;
  DeviceTraits changed;
  visit_traits(changed, []<typename T>(const char*, T& value, const TraitRange& range) {
    if constexpr (std::is_same_v<T, bool>)
      value = !value;
    else
      value = static_cast<T>(static_cast<double>(value) == range.least ? range.most : range.least);
  });
  caps.traits = std::make_shared<const DeviceTraits>(changed);
  const std::string text = to_json(caps);
  visit_traits(changed, [&](const char* name, const auto&, const TraitRange&) {
    EXPECT_NE(text.find('"' + std::string(name) + "\": "), std::string::npos) << name;
  });
  EXPECT_EQ(to_json(caps_from_json(text, "caps.json")), text);
}

TEST(CapsJson, WrongTraitsAreRefusedByName) {
  const DeviceCaps caps;
  for (const auto& [traits, why] :
       {std::pair{R"({"launch_ms": 1})", "'traits.launch_ms' is no trait"},
        {R"({"launch_us": -1})", "'traits.launch_us' is no number from 0"},
        {R"({"launch_us": "1"})", "'traits.launch_us' is no number"},
        {R"({"most_sums": 1.5})", "'traits.most_sums' is no whole number from 1"},
        {R"({"loop_workgroup": 128})", "'traits.loop_workgroup' is no whole"},
        {R"({"reads_planes": 1})", "'traits.reads_planes' is neither true nor false"},
        {"[]", "'traits' is no object"}})
    EXPECT_NE(refusal(with_traits(caps, traits)).find(why), std::string::npos)
        << traits << ": " << refusal(with_traits(caps, traits));
}

// Version 1 did not say what images take in memory, version 2 nothing of texel buffers.
TEST(CapsJson, OlderVersionsAreRefusedWithTheWayOut) {
  std::string text = to_json(DeviceCaps{});
  text.replace(text.find("\"vellum_caps\": 3"), 16, "\"vellum_caps\": 1");
  try {
    caps_from_json(text, "old.json");
    FAIL() << "was read";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("version 1"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("--save-caps"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace vellum
