// A session reports the memory that Vulkan was asked for.
#include <gtest/gtest.h>

#include "e2e/reference.hpp"

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

TEST(Memory, OffsetsTakeNoMoreThanSharedObjects) {
  for (const FetchedModel& which : small_fetched_models())
    EXPECT_LE(memory_of(which, MemoryMode::offsets, StorageChoice::automatic).planned_bytes,
              memory_of(which, MemoryMode::shared_objects, StorageChoice::automatic).planned_bytes);
}

}  // namespace
}  // namespace vellum::test
