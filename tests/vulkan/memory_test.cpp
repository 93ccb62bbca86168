#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "support/gpu_test.hpp"
#include "vulkan/buffer.hpp"
#include "vulkan/image.hpp"
#include "vulkan/interposer.hpp"
#include "vulkan/kernel_run.hpp"
#include "vulkan/transfer.hpp"

namespace vellum::gpu {
namespace {

using test::test_context;
using test::thrown_by;

ContextOptions interposed(const test::Interposer& vulkan) {
  ContextOptions options = test::test_context_options();
  options.get_instance_proc_addr = vulkan.get_instance_proc_addr();
  return options;
}

TEST(Memory, StatisticsAreTheSumOfWhatVulkanWasAskedFor) {
  test::Interposer vulkan;
  const auto context = Context::create(interposed(vulkan));
  {
    const Buffer weights = make_buffer(context, 1000, MemoryKind::device, MemoryCategory::weights);
    const Buffer input = make_buffer(context, 5000, MemoryKind::upload, MemoryCategory::in_out);
    const Image image =
        make_image(context, {false, 33, 17, 1, ImageFormat::rgba32f}, MemoryCategory::intermediates);
    const MemoryStatistics statistics = context->memory_statistics();
    EXPECT_EQ(statistics.total.bytes, vulkan.allocated_bytes());
    EXPECT_EQ(statistics.total.allocations, vulkan.allocations());
    EXPECT_EQ(statistics.total.allocations, 3u);
    EXPECT_EQ(statistics.of(MemoryCategory::intermediates).bytes, image.requirements().size);
    EXPECT_GE(statistics.of(MemoryCategory::weights).bytes, 1000u);
    EXPECT_GE(statistics.of(MemoryCategory::in_out).bytes, 5000u);
    EXPECT_EQ(statistics.of(MemoryCategory::staging).bytes, 0u);
  }
  const MemoryStatistics after = context->memory_statistics();
  EXPECT_EQ(after.total.bytes, 0u);
  EXPECT_EQ(vulkan.allocations(), 0u);
  EXPECT_GE(after.of(MemoryCategory::in_out).peak_bytes, 5000u);
  EXPECT_EQ(after.total.allocations_made, 3u);
  context->reset_memory_peaks();
  EXPECT_EQ(context->memory_statistics().total.peak_bytes, 0u);
}

TEST(Memory, MoreThanTheDeviceHasIsAnErrorThatNamesCategoryAndBytes) {
  const uint64_t bytes = uint64_t{1} << 50;
  const Error error = thrown_by(
      [&] { Arena(test_context(), bytes, UINT32_MAX, MemoryKind::device, MemoryCategory::intermediates); });
  EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
  EXPECT_NE(std::string(error.what()).find("intermediate"), std::string::npos);
  EXPECT_NE(std::string(error.what()).find(std::to_string(bytes)), std::string::npos);
}

TEST(Memory, AnAllocationThatFailsLeaksNothing) {
  test::Interposer vulkan;
  const auto context = Context::create(interposed(vulkan));
  {
    vulkan.fail_allocations_after(1);
    const Buffer first = make_buffer(context, 64, MemoryKind::device, MemoryCategory::weights);
    const Error error =
        thrown_by([&] { make_buffer(context, 128, MemoryKind::device, MemoryCategory::workspace); });
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    EXPECT_NE(std::string(error.what()).find("workspace"), std::string::npos);
    EXPECT_EQ(context->memory_statistics().total.allocations, 1u);
    EXPECT_EQ(context->memory_statistics().of(MemoryCategory::workspace).bytes, 0u);
  }
  EXPECT_EQ(vulkan.allocations(), 0u);
  vulkan.fail_allocations_after(UINT32_MAX);
  make_buffer(context, 128, MemoryKind::device, MemoryCategory::workspace);
}

// Where all of a GPU's memory cannot be mapped, 256 MiB can, which other programs use, too.
TEST(Memory, UploadsUseMemoryOfTheHostWhereTheHeapThatBothSeeIsFull) {
  test::Interposer vulkan;
  vulkan.fill_mapped_heap();
  const auto context = Context::create(interposed(vulkan));
  const Buffer upload = make_buffer(context, 64, MemoryKind::upload, MemoryCategory::in_out);
  EXPECT_NE(upload.data(), nullptr);
  EXPECT_EQ(context->memory_statistics().total.allocations, 1u);
}

TEST(Memory, ABudgetIsCheckedBeforeAnythingIsAllocated) {
  test::Interposer vulkan;
  const auto context = Context::create(interposed(vulkan));
  const auto budget = std::make_shared<MemoryBudget>(3000);
  const auto allocate = [&](uint64_t bytes) {
    return Arena(context, bytes, UINT32_MAX, MemoryKind::device,
                 MemoryPurpose(MemoryCategory::weights, budget));
  };
  {
    const auto first = allocate(1000), second = allocate(2000);
    EXPECT_EQ(budget->used(), 3000u);
    const Error error = thrown_by([&] { allocate(1); });
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    EXPECT_NE(std::string(error.what()).find("budget of 3000 bytes has 0 left"), std::string::npos);
    EXPECT_EQ(vulkan.allocations(), 2u);
    EXPECT_EQ(vulkan.allocated_bytes(), 3000u);
    const Arena other(context, 64, UINT32_MAX, MemoryKind::device, MemoryCategory::weights);
    EXPECT_EQ(budget->used(), 3000u) << "counts what is not its own";
  }
  EXPECT_EQ(budget->used(), 0u);
  EXPECT_EQ(budget->peak(), 3000u);
  vulkan.fail_allocations_after(0);
  thrown_by([&] { allocate(100); });
  EXPECT_EQ(budget->used(), 0u) << "an allocation that fails takes nothing";
}

TEST(Memory, TheLimitOnTheNumberOfAllocationsIsChecked) {
  ContextOptions options = test::test_context_options();
  options.adjust_caps = [](const DeviceCaps& caps) {
    DeviceCaps few = caps;
    few.max_allocation_count = 2;
    few.max_allocation_bytes = 1 << 20;
    return few;
  };
  const auto context = Context::create(options);
  const Arena first(context, 64, UINT32_MAX, MemoryKind::device, MemoryCategory::other);
  EXPECT_EQ(thrown_by([&] {
              Arena(context, (1 << 20) + 1, UINT32_MAX, MemoryKind::device, MemoryCategory::other);
            }).code(),
            ErrorCode::out_of_memory);
  const Arena second(context, 64, UINT32_MAX, MemoryKind::device, MemoryCategory::other);
  EXPECT_EQ(
      thrown_by([&] { Arena(context, 64, UINT32_MAX, MemoryKind::device, MemoryCategory::other); }).code(),
      ErrorCode::out_of_memory);
}

TEST(Memory, MessagesRoundBytesToATenthOfTheirUnit) {
  constexpr std::pair<uint64_t, const char*> kTexts[] = {
      {1000, "at most 1000 bytes at once"},
      {1024, "at most 1024 bytes (1.0 KiB) at once"},
      {1'336'320, "at most 1336320 bytes (1.3 MiB) at once"},
      {1'048'575, "at most 1048575 bytes (1.0 MiB) at once"},
      {uint64_t{3} << 29, "at most 1610612736 bytes (1.5 GiB) at once"},
  };
  for (const auto& [bytes, text] : kTexts) {
    ContextOptions options = test::test_context_options();
    options.adjust_caps = [most = bytes](const DeviceCaps& caps) {
      DeviceCaps few = caps;
      few.max_allocation_bytes = most;
      return few;
    };
    const auto context = Context::create(options);
    const Error error = thrown_by([&, more = bytes + 1] {
      Arena(context, more, UINT32_MAX, MemoryKind::device, MemoryCategory::other);
    });
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

TEST(Memory, WhatDoesNotFitIsNotBound) {
  Buffer buffer(test_context(), 1000);
  const MemoryRequirements needed = buffer.requirements();
  const auto arena = std::make_shared<Arena>(test_context(), needed.size, needed.memory_type_bits,
                                             MemoryKind::device, MemoryCategory::other);
  EXPECT_EQ(thrown_by([&] { buffer.bind(arena, needed.alignment); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(thrown_by([&] { buffer.bind(arena, UINT64_MAX / needed.alignment * needed.alignment); }).code(),
            ErrorCode::invalid_argument);
  if (needed.alignment > 1) {
    EXPECT_EQ(thrown_by([&] { buffer.bind(arena, 1); }).code(), ErrorCode::invalid_argument);
  }
  buffer.bind(arena, 0);
  EXPECT_EQ(thrown_by([&] { buffer.bind(arena, 0); }).code(), ErrorCode::invalid_argument);
}

TEST(Memory, RequirementsAreTheSameWithAndWithoutMakingTheObject) {
  const ImageDesc desc{true, 19, 5, 3, ImageFormat::rgba32f};
  const MemoryRequirements asked = image_requirements(*test_context(), desc);
  const MemoryRequirements made = Image(test_context(), desc).requirements();
  EXPECT_EQ(asked.size, made.size);
  EXPECT_EQ(asked.alignment, made.alignment);
  EXPECT_EQ(asked.memory_type_bits, made.memory_type_bits);
  EXPECT_EQ(buffer_requirements(*test_context(), 12345).size,
            Buffer(test_context(), 12345).requirements().size);
}

TEST(Memory, ImpossibleImagesAreErrors) {
  const uint32_t limit = test_context()->caps().max_image_dimension_2d;
  const auto code = [](const ImageDesc& desc) {
    return thrown_by([&] { image_requirements(*test_context(), desc); }).code();
  };
  EXPECT_EQ(code({false, limit + 1, 1, 1}), ErrorCode::unsupported);
  EXPECT_EQ(code({true, 1, 1, test_context()->caps().max_image_dimension_3d + 1}), ErrorCode::unsupported);
  EXPECT_EQ(code({false, 0, 1, 1}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({false, 4, 4, 2}), ErrorCode::invalid_argument);
}

TEST(Memory, FlushesOfIncoherentMemoryCoverWholeAtoms) {
  test::Interposer vulkan;
  vulkan.hide_coherent_memory();
  const auto context = Context::create(interposed(vulkan));
  const uint64_t atom = context->device_caps().non_coherent_atom_size;
  const Arena arena(context, 10 * atom + 1, UINT32_MAX, MemoryKind::upload, MemoryCategory::in_out);
  arena.flush(atom + 1, 1);
  arena.invalidate(2 * atom, 8 * atom + 1);
  const auto& ranges = vulkan.synchronised_ranges();
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].offset, atom);
  EXPECT_EQ(ranges[0].size, atom);
  EXPECT_EQ(ranges[1].offset, 2 * atom);
  EXPECT_EQ(ranges[1].size, 8 * atom + 1) << "the end of the memory";
}

}  // namespace
}  // namespace vellum::gpu
