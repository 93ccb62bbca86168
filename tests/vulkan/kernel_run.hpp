// Small kernels for these tests, and a function that runs one.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "vellum/error.hpp"
#include "vulkan/context.hpp"
#include "vulkan/descriptors.hpp"
#include "vulkan/pipeline.hpp"

namespace vellum::test {

// y[i] = FACTOR * x[i] + offset; bindings x, y; push constants uint count, float offset.
gpu::PipelineKey scale_kernel(const std::string& factor);

struct ScaleParameters {
  uint32_t count;
  float offset;
};

// Binds, pushes, dispatches and waits; what the kernel wrote is visible to later submits.
void run(const std::shared_ptr<gpu::Context>& context, const std::shared_ptr<const gpu::Pipeline>& pipeline,
         std::span<const gpu::BoundResource> resources, std::span<const std::byte> push_constants,
         std::array<uint32_t, 3> workgroup_count);

// y = FACTOR * x + offset over a buffer made for it.
std::vector<float> run_scale(const std::shared_ptr<gpu::Context>& context, const std::string& factor,
                             float offset, const std::vector<float>& x);

template <typename T>
std::vector<T> as(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::byte*>(values.data()));
  return values;
}

// Calls f and returns the vellum::Error that it throws; fails the test if it throws none.
template <typename F>
Error thrown_by(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return Error(ErrorCode::internal, "no error");
}

}  // namespace vellum::test
