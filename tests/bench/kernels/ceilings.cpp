#include "bench/kernels/ceilings.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "vellum/error.hpp"
#include "vulkan/buffer.hpp"
#include "vulkan/commands.hpp"
#include "vulkan/descriptors.hpp"
#include "vulkan/image.hpp"
#include "vulkan/pipeline.hpp"
#include "vulkan/timestamps.hpp"
#include "vulkan/transfer.hpp"

namespace vellum::bench {
namespace {

// The minimum of this many runs counts, and of as many as this takes, because others may use the machine.
constexpr int kRuns = 8;
constexpr std::chrono::milliseconds kAtLeast{100};

// Three vectors: enough that no multiply-add waits for the one before it, and few enough for the registers of
// a CPU.
constexpr const char* kMultiplyAdd = R"(#version 450
#extension GL_EXT_control_flow_attributes : require
layout(local_size_x = WORKGROUP_X) in;
layout(push_constant) uniform Parameters { float factor, term; int steps; };
layout(set = 0, binding = 0, std430) restrict writeonly buffer Y { vec4 y[]; };
void main() {
  vec4 a = vec4(0), b = vec4(1), c = vec4(2);
  for (int step = 0; step < steps; ++step)
    [[unroll]] for (int i = 0; i < 16; ++i) {
      a = a * factor + term;
      b = b * factor + term;
      c = c * factor + term;
    }
  y[gl_GlobalInvocationID.x] = a + b + c;
}
)";

// LOAD(x, y) is a vec4 of HEIGHT rows of 64. Neighbours read neighbours, as in a kernel.
constexpr const char* kLoad = R"(
layout(local_size_x = WORKGROUP_X) in;
layout(push_constant) uniform Parameters { int steps; };
layout(set = 0, binding = 1, std430) restrict writeonly buffer Y { vec4 y[]; };
void main() {
  const int column = int(gl_LocalInvocationID.x & 31);
  vec4 even = vec4(0), odd = vec4(0);
  for (int step = 0; step < steps; ++step) {
    const int row = step & (HEIGHT - 1);
    [[unroll]] for (int i = 0; i < 16; i += 2) {
      even += LOAD(column + i, row);
      odd += LOAD(column + i + 1, row);
    }
  }
  y[gl_GlobalInvocationID.x] = even + odd;
}
)";

constexpr const char* kCopy = R"(
layout(local_size_x = WORKGROUP_X) in;
void main() {
  const int i = int(gl_GlobalInvocationID.x);
  STORE(i & (WIDTH - 1), i / WIDTH, LOAD(i & (WIDTH - 1), i / WIDTH));
}
)";

constexpr const char* kStore = R"(
layout(local_size_x = WORKGROUP_X) in;
void main() {
  [[unroll]] for (int i = 0; i < 16; ++i)
    STORE(int(gl_LocalInvocationID.x), int(gl_WorkGroupID.x) * 16 + i, vec4(1));
}
)";

constexpr const char* kNothing = R"(#version 450
layout(local_size_x = WORKGROUP_X) in;
layout(set = 0, binding = 0, std430) restrict writeonly buffer Y { vec4 y[]; };
void main() { y[0] = vec4(1); }
)";

const std::string kHead = "#version 450\n#extension GL_EXT_control_flow_attributes : require\n";

std::string declare_x(Reach reach) {
  switch (reach) {
    case Reach::image:
      return kHead +
             "layout(set = 0, binding = 0, rgba32f) uniform readonly highp image2D x;\n"
             "#define LOAD(column, row) imageLoad(x, ivec2(column, row))\n";
    case Reach::texel_buffer:
      return kHead +
             "layout(set = 0, binding = 0, rgba32f) uniform readonly highp imageBuffer x;\n"
             "#define LOAD(column, row) imageLoad(x, (row) * WIDTH + (column))\n";
    case Reach::storage_buffer:
      break;
  }
  return kHead +
         "layout(set = 0, binding = 0, std430) restrict readonly buffer X { vec4 x[]; };\n"
         "#define LOAD(column, row) x[(row) * WIDTH + (column)]\n";
}

std::string declare_y(Reach reach, int binding) {
  const std::string place = "layout(set = 0, binding = " + std::to_string(binding);
  if (reach == Reach::image)
    return place +
           ", rgba32f) uniform writeonly highp image2D y;\n"
           "#define STORE(column, row, v) imageStore(y, ivec2(column, row), v)\n";
  return place +
         ", std430) restrict writeonly buffer Y { vec4 y[]; };\n"
         "#define STORE(column, row, v) y[(row) * WIDTH + (column)] = v\n";
}

gpu::BindingType binding_type(Reach reach) {
  switch (reach) {
    case Reach::image:
      return gpu::BindingType::storage_image;
    case Reach::texel_buffer:
      return gpu::BindingType::texel_buffer_rgba32f;
    case Reach::storage_buffer:
      break;
  }
  return gpu::BindingType::storage_buffer;
}

gpu::BindingType written_as(Reach reach) {
  return reach == Reach::image ? gpu::BindingType::storage_image : gpu::BindingType::storage_buffer;
}

// Texels of four floats in an image or a buffer, 1 in every channel or nothing in particular.
class Tensor {
 public:
  Tensor(const std::shared_ptr<gpu::Context>& context, Reach reach, uint32_t width, uint32_t height,
         bool ones) {
    const uint64_t bytes = uint64_t{16} * width * height;
    std::vector<float> values;
    if (ones) values.assign(bytes / sizeof(float), 1.0f);
    gpu::Uploader uploader(context, bytes);
    if (reach == Reach::image) {
      image_ = std::make_unique<gpu::Image>(
          gpu::make_image(context, {.width = width, .height = height}, gpu::MemoryCategory::other));
      // An upload leaves it in the layout that kernels need, too.
      values.resize(bytes / sizeof(float));
      uploader.upload(*image_, std::as_bytes(std::span(values)));
    } else {
      buffer_ = std::make_unique<gpu::Buffer>(
          gpu::make_buffer(context, bytes, gpu::MemoryKind::device, gpu::MemoryCategory::other));
      if (ones) uploader.upload(*buffer_, 0, std::as_bytes(std::span(values)));
    }
    uploader.finish();
  }

  gpu::BoundResource bound() const {
    return image_ ? gpu::BoundResource(*image_) : gpu::BoundResource(*buffer_);
  }

  std::vector<float> values(const std::shared_ptr<gpu::Context>& context) const {
    const std::vector<std::byte> bytes =
        image_ ? gpu::download(context, *image_) : gpu::download(context, *buffer_);
    std::vector<float> floats(bytes.size() / sizeof(float));
    std::memcpy(floats.data(), bytes.data(), bytes.size());
    return floats;
  }

 private:
  std::unique_ptr<gpu::Image> image_;
  std::unique_ptr<gpu::Buffer> buffer_;
};

struct Probe {
  std::string name, source;
  std::vector<std::pair<std::string, std::string>> defines;
  std::vector<gpu::BindingType> bindings;
  std::vector<std::byte> push_constants;
  uint32_t workgroup_size = 64;
};

template <typename Parameters>
std::vector<std::byte> bytes_of(const Parameters& parameters) {
  const auto bytes = std::as_bytes(std::span(&parameters, 1));
  return {bytes.begin(), bytes.end()};
}

class ProbeRun {
 public:
  ProbeRun(const std::shared_ptr<gpu::Context>& context, const Probe& probe,
           std::span<const gpu::BoundResource> resources)
      : context_(context),
        probe_(probe),
        pipeline_(context->pipelines().get(key(probe))),
        sets_(context, {&pipeline_, 1}),
        queries_(context, 2),
        commands_(context) {
    sets_.write(0, resources);
  }

  // Nanoseconds between the timestamps around the dispatch, as Executor has them; the least of all runs.
  double least(uint32_t workgroups) {
    record(workgroups);
    once();  // drivers may compile in the first
    double least = std::numeric_limits<double>::infinity();
    const auto end = std::chrono::steady_clock::now() + kAtLeast;
    for (int i = 0; i < kRuns || std::chrono::steady_clock::now() < end; ++i) least = std::min(least, once());
    if (!(least > 0))
      throw Error(ErrorCode::internal, "ceiling '" + probe_.name + "': the device's clock stands still");
    return least;
  }

  // As many workgroups as take a millisecond: enough to fill a GPU, and over before a CPU is given to others.
  uint32_t enough_workgroups(uint32_t most) {
    uint32_t workgroups = 64;
    record(workgroups);
    once();
    while (workgroups < most && std::min(once(), once()) < 1e6) record(workgroups *= 2);
    return workgroups;
  }

 private:
  static gpu::PipelineKey key(const Probe& probe) {
    gpu::PipelineKey key;
    key.shader = "ceiling_" + probe.name;
    key.source = probe.source;
    key.defines = probe.defines;
    key.bindings = probe.bindings;
    key.push_constant_bytes = static_cast<uint32_t>(probe.push_constants.size());
    key.workgroup_size = {probe.workgroup_size, 1, 1};
    return key;
  }

  void record(uint32_t workgroups) {
    commands_.begin();
    queries_.reset(commands_);
    commands_.bind(*pipeline_, sets_[0]);
    if (!probe_.push_constants.empty()) commands_.push_constants(*pipeline_, probe_.push_constants);
    queries_.write(commands_, 0, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT);
    commands_.dispatch({workgroups, 1, 1});
    queries_.write(commands_, 1);
    commands_.barrier(gpu::kComputeReadWrite, gpu::kComputeReadWrite | gpu::kTransferRead | gpu::kHostRead);
    commands_.end();
  }

  double once() {
    gpu::submit_and_wait(*context_, commands_);
    const std::vector<double> times = queries_.read();
    return times[1] - times[0];
  }

  std::shared_ptr<gpu::Context> context_;
  const Probe& probe_;
  std::shared_ptr<const gpu::Pipeline> pipeline_;
  gpu::DescriptorSets sets_;
  gpu::TimestampQueries queries_;
  gpu::CommandBuffer commands_;
};

void check(const Probe& probe, std::span<const float> values, float expected) {
  for (const float value : values)
    if (!(std::abs(value - expected) <= 1e-4f * std::abs(expected)))
      throw Error(ErrorCode::internal, "ceiling '" + probe.name + "': the device computed " +
                                           std::to_string(value) + " for " + std::to_string(expected));
}

constexpr uint32_t kMostWorkgroups = 16384;

// Times a kernel that writes `expected` to an element of y for each invocation: returns its work in a
// nanosecond, where each invocation does `work`; y is bound after `resources`.
double rate(const std::shared_ptr<gpu::Context>& context, const Probe& probe,
            std::vector<gpu::BoundResource> resources, float expected, double work) {
  const Tensor y(context, Reach::storage_buffer, probe.workgroup_size, kMostWorkgroups, false);
  resources.push_back(y.bound());
  ProbeRun run(context, probe, resources);
  const uint32_t workgroups = run.enough_workgroups(kMostWorkgroups);
  const double nanoseconds = run.least(workgroups);
  const size_t invocations = size_t{workgroups} * probe.workgroup_size;
  const std::vector<float> values = y.values(context);
  check(probe, std::span(values).first(4 * invocations), expected);
  return work * static_cast<double>(invocations) / nanoseconds;
}

double measure_multiply_add(const std::shared_ptr<gpu::Context>& context) {
  struct Parameters {
    float factor = 0.75f, term = 0.5f;  // towards 2
    int32_t steps = 64;
  } parameters;
  const Probe probe{.name = "multiply_add",
                    .source = kMultiplyAdd,
                    .defines = {},
                    .bindings = {gpu::BindingType::storage_buffer},
                    .push_constants = bytes_of(parameters)};
  return rate(context, probe, {}, 6.0f, 2.0 * 4 * 3 * 16 * parameters.steps);
}

double measure_load(const std::shared_ptr<gpu::Context>& context, Reach reach) {
  constexpr uint32_t kWidth = 64, kHeight = 32;
  const int32_t steps = 16;
  const Tensor x(context, reach, kWidth, kHeight, true);
  const Probe probe{.name = std::string("load_") + name(reach),
                    .source = declare_x(reach) + kLoad,
                    .defines = {{"HEIGHT", std::to_string(kHeight)}, {"WIDTH", std::to_string(kWidth)}},
                    .bindings = {binding_type(reach), gpu::BindingType::storage_buffer},
                    .push_constants = bytes_of(steps)};
  return rate(context, probe, {x.bound()}, 16.0f * static_cast<float>(steps), 16.0 * 16 * steps);
}

double measure_store(const std::shared_ptr<gpu::Context>& context, Reach reach) {
  constexpr uint32_t kWidth = 64, kMost = 256;
  const Tensor y(context, reach, kWidth, 16 * kMost, false);
  const Probe probe{.name = std::string("store_") + name(reach),
                    .source = kHead + declare_y(reach, 0) + kStore,
                    .defines = {{"WIDTH", std::to_string(kWidth)}},
                    .bindings = {written_as(reach)},
                    .push_constants = {},
                    .workgroup_size = kWidth};
  const gpu::BoundResource resources[] = {y.bound()};
  ProbeRun run(context, probe, resources);
  const uint32_t workgroups = run.enough_workgroups(kMost);
  const double nanoseconds = run.least(workgroups);
  const std::vector<float> values = y.values(context);
  check(probe, std::span(values).first(size_t{4} * 16 * kWidth * workgroups), 1.0f);
  return 16.0 * 16 * kWidth * workgroups / nanoseconds;
}

double measure_copy(const std::shared_ptr<gpu::Context>& context, Reach reach) {
  constexpr uint32_t kWidth = 2048;
  uint32_t height = 1024;  // 32 MiB
  if (reach == Reach::texel_buffer)
    while (kWidth * height > context->caps().max_texel_buffer_elements) height /= 2;
  const Tensor x(context, reach, kWidth, height, true), y(context, reach, kWidth, height, false);
  const Probe probe{.name = std::string("copy_") + name(reach),
                    .source = declare_x(reach) + declare_y(reach, 1) + kCopy,
                    .defines = {{"WIDTH", std::to_string(kWidth)}},
                    .bindings = {binding_type(reach), written_as(reach)},
                    .push_constants = {}};
  const gpu::BoundResource resources[] = {x.bound(), y.bound()};
  const double nanoseconds = ProbeRun(context, probe, resources).least(kWidth * height / 64);
  check(probe, y.values(context), 1.0f);
  return 2.0 * 16 * kWidth * height / nanoseconds;
}

double measure_dispatch(const std::shared_ptr<gpu::Context>& context) {
  const Tensor y(context, Reach::storage_buffer, 1, 1, false);
  const Probe probe{.name = "dispatch",
                    .source = kNothing,
                    .defines = {},
                    .bindings = {gpu::BindingType::storage_buffer},
                    .push_constants = {},
                    .workgroup_size = 1};
  const gpu::BoundResource resources[] = {y.bound()};
  const double nanoseconds = ProbeRun(context, probe, resources).least(1);
  check(probe, y.values(context), 1.0f);
  return nanoseconds * 1e-3;
}

}  // namespace

const char* name(Reach reach) {
  switch (reach) {
    case Reach::image:
      return "image";
    case Reach::texel_buffer:
      return "texel_buffer";
    case Reach::storage_buffer:
      break;
  }
  return "storage_buffer";
}

Ceilings measure_ceilings(const std::shared_ptr<gpu::Context>& context) {
  Ceilings ceilings;
  ceilings.multiply_add = measure_multiply_add(context);
  for (const Reach reach : {Reach::image, Reach::texel_buffer, Reach::storage_buffer}) {
    ceilings.load[static_cast<size_t>(reach)] = measure_load(context, reach);
    ceilings.store[static_cast<size_t>(reach)] = measure_store(context, reach);
    ceilings.copy[static_cast<size_t>(reach)] = measure_copy(context, reach);
  }
  ceilings.dispatch_us = measure_dispatch(context);
  return ceilings;
}

}  // namespace vellum::bench
