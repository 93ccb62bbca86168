#include "vulkan/kernel_run.hpp"

#include "vulkan/buffer.hpp"
#include "vulkan/commands.hpp"
#include "vulkan/transfer.hpp"

namespace vellum::test {
namespace {

constexpr const char* kScaleSource = R"(#version 450
layout(local_size_x = WORKGROUP_X, local_size_y = WORKGROUP_Y, local_size_z = WORKGROUP_Z) in;
layout(push_constant) uniform Params { uint count; float offset; };
layout(set = 0, binding = 0) readonly buffer X { float x[]; };
layout(set = 0, binding = 1) writeonly buffer Y { float y[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i < count) y[i] = FACTOR * x[i] + offset;
}
)";

}  // namespace

gpu::PipelineKey scale_kernel(const std::string& factor) {
  gpu::PipelineKey key;
  key.shader = "scale";
  key.source = kScaleSource;
  key.defines = {{"FACTOR", factor}};
  key.bindings = {gpu::BindingType::storage_buffer, gpu::BindingType::storage_buffer};
  key.push_constant_bytes = sizeof(ScaleParameters);
  return key;
}

void run(const std::shared_ptr<gpu::Context>& context, const std::shared_ptr<const gpu::Pipeline>& pipeline,
         std::span<const gpu::BoundResource> resources, std::span<const std::byte> push_constants,
         std::array<uint32_t, 3> workgroup_count) {
  gpu::DescriptorSets sets(context, {&pipeline, 1});
  sets.write(0, resources);
  gpu::CommandBuffer commands(context);
  commands.begin(true);
  commands.bind(*pipeline, sets[0]);
  commands.push_constants(*pipeline, push_constants);
  commands.dispatch(workgroup_count);
  commands.barrier(gpu::kComputeReadWrite, gpu::kComputeReadWrite | gpu::kTransferRead | gpu::kHostRead);
  commands.end();
  gpu::submit_and_wait(*context, commands);
}

std::vector<float> run_scale(const std::shared_ptr<gpu::Context>& context, const std::string& factor,
                             float offset, const std::vector<float>& x) {
  const auto bytes = std::as_bytes(std::span(x));
  const auto device_buffer = [&] {
    return gpu::make_buffer(context, bytes.size(), gpu::MemoryKind::device, gpu::MemoryCategory::other);
  };
  const gpu::Buffer from = device_buffer(), to = device_buffer();
  gpu::Uploader uploader(context);
  uploader.upload(from, 0, bytes);
  uploader.finish();
  const ScaleParameters parameters{static_cast<uint32_t>(x.size()), offset};
  const gpu::BoundResource resources[] = {from, to};
  run(context, context->pipelines().get(scale_kernel(factor)), resources,
      std::as_bytes(std::span(&parameters, 1)), {static_cast<uint32_t>((x.size() + 63) / 64), 1, 1});
  return as<float>(gpu::download(context, to));
}

}  // namespace vellum::test
