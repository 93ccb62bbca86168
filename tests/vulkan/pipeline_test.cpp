#include <gtest/gtest.h>

#include <numeric>

#include "cost/device_traits.hpp"
#include "support/gpu_test.hpp"
#include "vulkan/buffer.hpp"
#include "vulkan/commands.hpp"
#include "vulkan/glslang_compiler.hpp"
#include "vulkan/image.hpp"
#include "vulkan/interposer.hpp"
#include "vulkan/kernel_run.hpp"
#include "vulkan/shader_compiler.hpp"
#include "vulkan/temporary_folder.hpp"
#include "vulkan/transfer.hpp"

namespace vellum::gpu {
namespace {

using test::run_scale;
using test::scale_kernel;
using test::test_context;
using test::thrown_by;

std::vector<float> counting(size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

TEST(Pipelines, AKernelReadsAndWritesBuffers) {
  const std::vector<float> x = counting(1001), y = run_scale(test_context(), "3.0", 0.5f, x);
  for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], 3 * x[i] + 0.5f) << i;
}

// Adds 1 to each texel; FETCH says how the image is read.
constexpr const char* kImageSource = R"(#version 450
layout(local_size_x = WORKGROUP_X, local_size_y = WORKGROUP_Y, local_size_z = WORKGROUP_Z) in;
layout(set = 0, binding = 0 READ_FORMAT) uniform READ_TYPE x;
layout(set = 0, binding = 1, WRITE_FORMAT) uniform writeonly WRITE_TYPE y;
void main() {
  ivec3 p = ivec3(gl_GlobalInvocationID);
  if (all(lessThan(p.xy, imageSize(y).xy))) imageStore(y, POSITION, FETCH + vec4(1));
}
)";

PipelineKey image_kernel(bool sampled, bool is_3d, bool half) {
  const std::string dimension = is_3d ? "3D" : "2D", format = half ? "rgba16f" : "rgba32f";
  PipelineKey key;
  key.shader = "add_one";
  key.source = kImageSource;
  key.workgroup_size = {8, 8, 1};
  key.bindings = {sampled ? BindingType::sampled_image : BindingType::storage_image,
                  BindingType::storage_image};
  key.defines = {{"READ_FORMAT", sampled ? "" : ", " + format},
                 {"WRITE_FORMAT", format},
                 {"READ_TYPE", (sampled ? "sampler" : "readonly image") + dimension},
                 {"WRITE_TYPE", "image" + dimension},
                 {"POSITION", is_3d ? "p" : "p.xy"},
                 {"FETCH", sampled ? "texelFetch(x, POSITION, 0)" : "imageLoad(x, POSITION)"}};
  return key;
}

void check_image_kernel(bool sampled, bool is_3d) {
  const ImageDesc desc{is_3d, 13, 7, is_3d ? 5u : 1u, ImageFormat::rgba32f};
  const Image x = make_image(test_context(), desc, MemoryCategory::other);
  const Image y = make_image(test_context(), desc, MemoryCategory::other);
  const std::vector<float> texels = counting(desc.byte_size() / sizeof(float));
  Uploader uploader(test_context());
  uploader.upload(x, std::as_bytes(std::span(texels)));
  uploader.upload(y, std::vector<std::byte>(desc.byte_size()));  // also brings it to layout GENERAL
  uploader.finish();
  const BoundResource resources[] = {x, y};
  test::run(test_context(), test_context()->pipelines().get(image_kernel(sampled, is_3d, false)), resources,
            {}, {2, 1, desc.depth});
  const std::vector<float> result = test::as<float>(download(test_context(), y));
  for (size_t i = 0; i < texels.size(); ++i) ASSERT_EQ(result[i], texels[i] + 1) << i;
}

TEST(Pipelines, AKernelReadsStorageImages) { check_image_kernel(false, false); }
TEST(Pipelines, AKernelReadsSampledImages) { check_image_kernel(true, false); }
TEST(Pipelines, AKernelReadsStorageImages3d) { check_image_kernel(false, true); }
TEST(Pipelines, AKernelReadsSampledImages3d) { check_image_kernel(true, true); }

TEST(Pipelines, HalfImagesConvert) {
  if (!test_context()->caps().rgba16f_images) GTEST_SKIP() << "the device has no images of halves";
  const ImageDesc desc{false, 3, 3, 1, ImageFormat::rgba16f};
  const Image x = make_image(test_context(), desc, MemoryCategory::other);
  const Image y = make_image(test_context(), desc, MemoryCategory::other);
  const std::vector<uint16_t> twos(desc.byte_size() / 2, 0x4000);  // 2.0
  Uploader uploader(test_context());
  uploader.upload(x, std::as_bytes(std::span(twos)));
  uploader.upload(y, std::as_bytes(std::span(twos)));
  uploader.finish();
  const BoundResource resources[] = {x, y};
  test::run(test_context(), test_context()->pipelines().get(image_kernel(false, false, true)), resources, {},
            {1, 1, 1});
  for (const uint16_t value : test::as<uint16_t>(download(test_context(), y)))
    EXPECT_EQ(value, 0x4200);  // 3.0
}

TEST(Pipelines, AreMadeOnceWhateverTheOrderOfTheDefines) {
  PipelineKey key = scale_kernel("7.0");
  key.defines.emplace_back("A_UNUSED", "1");
  const auto first = test_context()->pipelines().get(key);
  std::swap(key.defines[0], key.defines[1]);
  EXPECT_EQ(test_context()->pipelines().get(key), first);
  key.workgroup_size = {32, 1, 1};
  EXPECT_NE(test_context()->pipelines().get(key), first);
}

TEST(Pipelines, PrepareGivesThemInTheOrderOfTheKeys) {
  const std::vector<PipelineKey> keys{scale_kernel("11.0"), scale_kernel("12.0"), scale_kernel("11.0")};
  const auto pipelines = test_context()->pipelines().prepare(keys, {}, 4);
  ASSERT_EQ(pipelines.size(), 3u);
  EXPECT_EQ(pipelines[0], pipelines[2]);
  EXPECT_EQ(pipelines[1]->key().defines, scale_kernel("12.0").defines);
}

// One module for all shaders.
class OneModule : public CompiledShaders {
 public:
  OneModule(std::vector<uint32_t> words, bool trusted) : words_(std::move(words)), trusted_(trusted) {}

  std::vector<uint32_t> find(const platform::Sha256Digest&) const override { return words_; }
  bool are_trusted() const override { return trusted_; }

 private:
  std::vector<uint32_t> words_;
  bool trusted_;
};

TEST(Pipelines, SpirvThatTheApplicationTrustsIsNotValidated) {
  // Vulkan has no kernels as OpenCL does, and drivers ignore the capability.
  constexpr size_t kHeaderWords = 5;
  constexpr uint32_t kCapability = 2u << 16 | 17u, kKernel = 6;
  std::vector<uint32_t> words = ShaderCompiler({}, {}).spirv(shader_request(scale_kernel("5.0")));
  words.insert(words.begin() + kHeaderWords, {kCapability, kKernel});
  if (spirv_fault(words).empty()) GTEST_SKIP() << "this library is without the validator";
  ContextOptions options = test::test_context_options();
  options.validation = false;  // the layer validates, too
  options.cache_folder.clear();
  for (const bool trusted : {true, false}) {
    const auto context = Context::create(options);
    const auto shaders = std::make_shared<const OneModule>(words, trusted);
    context->pipelines().add_precompiled_shaders(shaders);
    EXPECT_EQ(run_scale(context, "5.0", 1.0f, {3})[0], 16.0f);
    EXPECT_EQ(context->pipelines().shader_counts().precompiled, trusted ? 1u : 0u);
  }
}

TEST(Pipelines, InvalidSpirvOfABundleIsCompiledInstead) {
  // The header of a module and nothing in it.
  const auto shaders =
      std::make_shared<const OneModule>(std::vector<uint32_t>{0x07230203, 0x00010300, 0, 8, 0}, false);
  if (spirv_fault(shaders->find({})).empty()) GTEST_SKIP() << "this library is without the validator";
  ContextOptions options = test::test_context_options();
  std::string messages;
  options.log = [&](LogLevel, std::string_view message) { messages += std::string(message) + "\n"; };
  const test::TemporaryFolder folder;
  options.cache_folder = folder.path();
  for (const uint64_t compiled : {1u, 0u}) {  // the second time the cache folder has the compiled one
    messages.clear();
    const auto context = Context::create(options);
    context->pipelines().add_precompiled_shaders(shaders);
    EXPECT_EQ(run_scale(context, "5.0", 1.0f, {3})[0], 16.0f);
    EXPECT_EQ(context->pipelines().shader_counts().precompiled, 0u);
    EXPECT_EQ(context->pipelines().shader_counts().compiled, compiled);
    EXPECT_NE(messages.find("the bundle's SPIR-V of shader"), std::string::npos) << messages;
  }
}

TEST(Pipelines, ThoseThatTheDriverWouldCompileAtTheirFirstDispatchAreCompiledWhenPrepared) {
  test::Interposer interposer;
  ContextOptions options = test::test_context_options();
  options.get_instance_proc_addr = interposer.get_instance_proc_addr();
  const auto context = Context::create(options);
  const bool compiles = device_traits(context->device_caps()).compiles_at_first_dispatch;
  const PipelineKey plane = image_kernel(false, false, false), volume = image_kernel(false, true, false);
  const std::vector<PipelineKey> keys{
      scale_kernel("2.0"), scale_kernel("3.0"), scale_kernel("2.0"), plane, plane, plane};
  {
    const Buffer buffer = make_buffer(context, 1 << 16, MemoryKind::device, MemoryCategory::other);
    context->pipelines().prepare(keys, {buffer.arena()});
    EXPECT_EQ(interposer.submits(), compiles ? 2u : 0u) << "what images will be bound is not known";
    // Another pipeline is compiled for other images of one kind: sizes of powers of two.
    const std::vector<PipelineKey> of_images{volume, volume, volume};
    const ImageDesc odd{true, 13, 6, 5}, alike{true, 7, 3, 9}, even{true, 16, 6, 5};
    context->pipelines().prepare(of_images, {buffer.arena(), {{odd, odd}, {alike, odd}, {even, odd}}});
    EXPECT_EQ(interposer.submits(), compiles ? 4u : 0u);
    context->pipelines().prepare(of_images, {buffer.arena(), {{odd, odd}, {alike, odd}, {even, odd}}});
    EXPECT_EQ(interposer.submits(), compiles ? 4u : 0u) << "there already";
  }
  EXPECT_EQ(context->memory_statistics().total.bytes, 0u) << "everything is done";
  EXPECT_EQ(test::run_scale(context, "2.0", 1.0f, {3})[0], 7.0f);
}

TEST(Pipelines, AShaderMayNeedTheLatestVersionOfItsLanguage) {
  PipelineKey key = scale_kernel("5.0");
  key.source =
      "#version 450\n#if __VERSION__ < 450\n#error too old\n#endif\n"
      "layout(local_size_x = WORKGROUP_X) in;\nvoid main() {}\n";
  key.bindings.clear();
  key.push_constant_bytes = 0;
  EXPECT_NE(test_context()->pipelines().get(key), nullptr);
}

TEST(Pipelines, AShaderWithOtherBindingsThanItsDispatchesIsAnError) {
  PipelineKey key = scale_kernel("6.0");
  key.bindings.push_back(BindingType::storage_buffer);
  const Error error = thrown_by([&] { test_context()->pipelines().get(key); });
  EXPECT_EQ(error.code(), ErrorCode::internal);
  EXPECT_NE(
      std::string(error.what()).find("scale declares the bindings 0 1; its dispatches bind the first 3"),
      std::string::npos)
      << error.what();
}

TEST(Pipelines, AShaderThatDoesNotCompileNamesItselfAndTheLine) {
  PipelineKey key = scale_kernel("not_a_name");
  const Error error = thrown_by([&] { test_context()->pipelines().get(key); });
  EXPECT_EQ(error.code(), ErrorCode::internal);
  EXPECT_NE(std::string(error.what()).find("scale.comp:8"), std::string::npos) << error.what();
  EXPECT_NE(std::string(error.what()).find("not_a_name"), std::string::npos) << error.what();
  EXPECT_THROW(test_context()->pipelines().prepare({&key, 1}), Error);
}

TEST(Pipelines, AShaderThatDoesNotExistIsNamed) {
  PipelineKey key = scale_kernel("1.0");
  key.shader = "no_such_kernel";
  key.source.clear();
  EXPECT_NE(std::string(thrown_by([&] { test_context()->pipelines().get(key); }).what())
                .find("no_such_kernel.comp"),
            std::string::npos);
}

TEST(Pipelines, TheDevicesLimitsAreChecked) {
  const DeviceCaps& caps = test_context()->caps();
  const auto refused = [](const PipelineKey& key) {
    return thrown_by([&] { test_context()->pipelines().get(key); }).code() == ErrorCode::unsupported;
  };
  PipelineKey key = scale_kernel("1.0");
  key.workgroup_size = {caps.max_workgroup_size[0] + 1, 1, 1};
  EXPECT_TRUE(refused(key));
  key.workgroup_size = {caps.max_workgroup_size[0], caps.max_workgroup_size[1], 1};
  EXPECT_TRUE(refused(key)) << "invocations in all";
  key = scale_kernel("1.0");
  key.push_constant_bytes = caps.max_push_constant_bytes + 4;
  EXPECT_TRUE(refused(key));
  key = scale_kernel("1.0");
  if (caps.max_storage_buffers_per_stage < 1000) {
    key.bindings.assign(caps.max_storage_buffers_per_stage + 1, BindingType::storage_buffer);
    EXPECT_TRUE(refused(key));
  }
}

TEST(Pipelines, OutliveTheCallersContextPointer) {
  auto context = Context::create(test::test_context_options());
  const std::weak_ptr<Context> watch = context;
  auto pipeline = context->pipelines().get(scale_kernel("2.0"));
  context.reset();
  EXPECT_FALSE(watch.expired());
  EXPECT_NE(pipeline->handle(), VkPipeline{});
  pipeline.reset();
  EXPECT_TRUE(watch.expired());
}

TEST(Descriptors, WrongKindsNumbersAndOffsetsAreErrors) {
  const auto pipeline = test_context()->pipelines().get(scale_kernel("1.0"));
  const Buffer buffer = make_buffer(test_context(), 1024, MemoryKind::device, MemoryCategory::other);
  const Image image = make_image(test_context(), {}, MemoryCategory::other);
  DescriptorSets sets(test_context(), {&pipeline, 1});
  const auto refused = [&](std::vector<BoundResource> resources) {
    return thrown_by([&] { sets.write(0, resources); }).code() == ErrorCode::invalid_argument;
  };
  EXPECT_TRUE(refused({buffer}));
  EXPECT_TRUE(refused({buffer, image}));
  EXPECT_TRUE(refused({buffer, BoundResource(buffer, 1024)}));
  EXPECT_TRUE(refused({buffer, BoundResource(buffer, 0, 1028)}));
  if (test_context()->caps().min_storage_buffer_offset_alignment > 4) {
    EXPECT_TRUE(refused({buffer, {buffer, 4}}));
  }
  sets.write(0, std::vector<BoundResource>{buffer, {buffer, 256, 512}});
}

TEST(Commands, ADispatchPastTheLimitIsAnError) {
  CommandBuffer commands(test_context());
  commands.begin();
  const uint32_t limit = test_context()->caps().max_workgroup_count[1];
  if (limit < UINT32_MAX) {
    EXPECT_EQ(thrown_by([&] { commands.dispatch({1, limit + 1, 1}); }).code(), ErrorCode::unsupported);
  }
  commands.end();
}

}  // namespace
}  // namespace vellum::gpu
