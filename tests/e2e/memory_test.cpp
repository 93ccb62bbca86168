// A session reports the memory that Vulkan was asked for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "e2e/reference.hpp"
#include "report/live_bytes.hpp"
#include "support/environment.hpp"

namespace vellum::test {
namespace {

MemoryReport memory_of(const FetchedModel& which, MemoryMode mode, StorageChoice storage) {
  const Reference reference = load_reference(which);
  SessionOptions options;
  options.memory = mode;
  options.storage = storage;
  return Session(device(), reference.model, options).memory();
}

TEST(Memory, SharedObjectsTakeUnderAQuarterOfNaiveForBlazeFaceBack) {
  for (const StorageChoice storage : {StorageChoice::image2d, StorageChoice::buffer}) {
    const MemoryReport shared =
        memory_of(fetched_model("blazeface_back"), MemoryMode::shared_objects, storage);
    const MemoryReport naive = memory_of(fetched_model("blazeface_back"), MemoryMode::naive, storage);
    EXPECT_LT(shared.allocated_bytes * 4, naive.allocated_bytes);
    EXPECT_LT(shared.planned_bytes * 4, shared.naive_bytes);
    EXPECT_EQ(naive.planned_bytes, shared.naive_bytes);
  }
}

TEST(Memory, WhatIsPlannedIsAllocatedInEveryMode) {
  for (const FetchedModel& which : small_fetched_models())
    for (const MemoryMode mode : {MemoryMode::shared_objects, MemoryMode::naive, MemoryMode::offsets}) {
      const MemoryReport report = memory_of(which, mode, StorageChoice::automatic);
      EXPECT_GE(report.planned_bytes, report.lower_bound_bytes);
      EXPECT_LE(report.planned_bytes, report.naive_bytes);
      EXPECT_EQ(report.allocated_bytes, report.planned_bytes);
      for (const ObjectReport& object : report.objects) EXPECT_EQ(object.reuse_count, object.tensors.size());
    }
}

TEST(Memory, LiveBytesAreAtMostThePlanAndInOffsetsTheLowerBound) {
  for (const FetchedModel& which : small_fetched_models())
    for (const MemoryMode mode : {MemoryMode::shared_objects, MemoryMode::naive, MemoryMode::offsets}) {
      const MemoryReport report = memory_of(which, mode, StorageChoice::automatic);
      int64_t last_task = 0;
      for (const TensorReport& tensor : report.tensors) last_task = std::max(last_task, tensor.last_task);
      const std::vector<uint64_t> live = live_bytes(report, static_cast<size_t>(last_task) + 1);
      const uint64_t peak = *std::ranges::max_element(live);
      EXPECT_LE(peak, report.planned_bytes) << report.mode;
      if (mode == MemoryMode::offsets) EXPECT_EQ(peak, report.lower_bound_bytes);
    }
}

TEST(Memory, FoldedImagesTakeLessAndGiveTheSameBits) {
  const Reference reference = load_reference(fetched_model("blazeface_back"));
  SessionOptions options = options_for(reference);
  options.storage = StorageChoice::image2d;
  Session folded(device(), reference.model, options);
  EXPECT_NE(describe(reference.model, "program", options).find("folded image2d"), std::string::npos);
  if (!on_swiftshader())  // where other layers are fused
    EXPECT_LT(folded.memory().planned_bytes, 4u << 20) << "which takes 4.4 MiB in one column of slices";
  options.memory = MemoryMode::naive;
  Session apart(device(), reference.model, options);
  EXPECT_EQ(describe(reference.model, "program", options).find("folded"), std::string::npos);
  const auto a = folded.run(reference.inputs), b = apart.run(reference.inputs);
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, tensor] : a) {
    const auto got = tensor.as<float>(), want = b.at(name).as<float>();
    ASSERT_EQ(got.size(), want.size());
    EXPECT_EQ(std::memcmp(got.data(), want.data(), got.size_bytes()), 0) << name;
  }
  expect_no_validation_messages();
}

TEST(Memory, OffsetsTakeNoMoreThanSharedObjects) {
  for (const FetchedModel& which : small_fetched_models())
    EXPECT_LE(memory_of(which, MemoryMode::offsets, StorageChoice::automatic).planned_bytes,
              memory_of(which, MemoryMode::shared_objects, StorageChoice::automatic).planned_bytes);
}

}  // namespace
}  // namespace vellum::test
