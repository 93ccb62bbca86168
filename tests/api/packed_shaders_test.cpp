// The shaders that bundles hold: for frames, pictures and images, and for devices that are others than the
// one they were packed for.
#include <gtest/gtest.h>

#include "api/impl.hpp"
#include "caps_file/caps_json.hpp"
#include "exec/binding_pipelines.hpp"
#include "exec/cooperative_check.hpp"
#include "exec/pipeline_keys.hpp"
#include "support/errors.hpp"
#include "vellum/pack.hpp"
#include "vulkan/glslang_compiler.hpp"
#include "vulkan/pipeline.hpp"
#include "vulkan/shader_compiler.hpp"
#include "with_bundles.hpp"

namespace vellum::test {
namespace {

using PackedShaders = WithBundles;

// A session that finds these matrices wrong, or whose library compiles none of their shaders, does without.
// To find out it runs shaders of its own, which libraries that compile nothing must find in the file.
TEST_F(PackedShaders, HoldsShadersWithAndWithoutCooperativeMatrices) {
  OnnxModel model;
  model.input("x", {64, 128}).initializer("w", random_tensor({128, 64}, 1));
  const auto file = save(model.node("Gemm", {"x", "w"}, {"y"}).output("y"));
  DeviceCaps caps;
  caps.type = DeviceType::discrete_gpu;
  caps.subgroup_size = 32;
  caps.fp16_arithmetic = caps.full_subgroups = true;
  const auto packed_for = [&](std::vector<CooperativeMatrix> matrices) {
    caps.cooperative_matrices = std::move(matrices);
    return pack(file, folder / "packed", Caps::parse(to_json(caps), "caps.json"),
                {.precision = Precision::fp16})
        .shaders;
  };
  const size_t without = packed_for({});
  EXPECT_GT(packed_for({{.extension = MatrixExtension::nv, .m = 16, .n = 16, .k = 16}}), without);
  const Model packed = Model::load(folder / "packed");
  for (const Program& program : programs_of_cooperative_check(caps))
    for (const gpu::PipelineKey& key : pipeline_keys(program))
      EXPECT_FALSE(impl(packed)->packed->find(gpu::shader_digest(gpu::shader_request(key))).empty())
          << key.shader;
  EXPECT_EQ(packed_for({{.m = 16, .n = 16, .k = 16}}) > without, gpu::knows_khr_cooperative_matrix());
}

// Those of bytes may be wrong where those of halves are right.
TEST_F(PackedShaders, HoldsShadersWithoutCooperativeMatricesOfBytes) {
  OnnxModel model;
  model.input("x", {1, 128, 32, 32}).initializer("w", random_tensor({128, 128, 1, 1}, 1, -1.0f, 1.0f));
  model.initializer("s", HostTensor::f32({}, std::array{1.0f / 64}));
  model.initializer("z", HostTensor::from<int64_t>(DType::u8, {}, std::array{int64_t{128}}));
  for (const char* name : {"x", "w"}) {
    const std::string q = std::string(name) + "q", r = std::string(name) + "r";
    model.node("QuantizeLinear", {name, "s", "z"}, {q}).node("DequantizeLinear", {q, "s", "z"}, {r});
  }
  const auto file = save(model.node("Conv", {"xr", "wr"}, {"y"}).output("y"));
  DeviceCaps caps;
  caps.type = DeviceType::discrete_gpu;
  caps.subgroup_size = 32;
  caps.fp16_arithmetic = caps.full_subgroups = true;
  const CooperativeMatrix halves{.extension = MatrixExtension::nv, .m = 16, .n = 16, .k = 16};
  CooperativeMatrix bytes = halves;
  bytes.a = bytes.b = MatrixElement::s8;
  bytes.c = bytes.result = MatrixElement::s32;
  caps.cooperative_matrices = {halves, bytes};
  pack(file, folder / "packed", Caps::parse(to_json(caps), "caps.json"), {.precision = Precision::fp16});
  const Model packed = Model::load(folder / "packed");
  for (const bool with_bytes : {true, false}) {
    if (!with_bytes) remove_products(caps, MatrixFactors::bytes);
    const Program program =
        compile(impl(packed)->graph, caps, compile_options({.precision = Precision::fp16}), Stage::program)
            .program;
    EXPECT_TRUE(
        uses_cooperative_matrices(program, with_bytes ? MatrixFactors::bytes : MatrixFactors::halves));
    EXPECT_TRUE(impl(packed)->packed->has_shaders_of(program));
  }
  for (const Program& program : programs_of_cooperative_check(caps))
    EXPECT_TRUE(impl(packed)->packed->has_shaders_of(program));
}

TEST_F(PackedShaders, HoldsTheShadersOfFrames) {
  const auto file = save(small_model());
  const Caps caps = Caps::android_baseline_2022();
  const std::vector<PackFrame> frames = {{"x", {.format = FrameFormat::nv12, .width = 64, .height = 64}}};
  const size_t without = pack(file, folder / "packed", caps).shaders;
  EXPECT_GT(pack(file, folder / "packed", caps, {}, frames).shaders, without);
  const Model packed = Model::load(folder / "packed");
  // Frames of another size, with a fixed transform or one for each frame.
  for (const bool fixed : {false, true}) {
    FrameInput camera{.format = FrameFormat::nv12, .width = 32, .height = 24, .row_bytes = 40};
    if (fixed) camera.transform = FrameTransform::letterbox({32, 24}, {11, 9});
    const Model framed = with_frames(packed, "x", camera);
    const Program program =
        compile(impl(framed)->graph, impl(caps)->caps, compile_options(SessionOptions{}), Stage::program)
            .program;
    for (const gpu::PipelineKey& key : pipeline_keys(program))
      EXPECT_FALSE(impl(packed)->packed->find(gpu::shader_digest(gpu::shader_request(key))).empty())
          << key.shader;
  }
  EXPECT_VELLUM_ERROR(pack(file, folder / "packed", caps, {}, std::vector<PackFrame>{{"z", frames[0].frame}}),
                      ErrorCode::not_found, "'z'");
}

TEST_F(PackedShaders, HoldsTheShadersOfPictures) {
  const auto file = save(small_model());
  const Caps caps = Caps::android_baseline_2022();
  const std::vector<PackFrame> frames = {{"x", {.format = FrameFormat::rgb8, .width = 64, .height = 64}}};
  const PictureOutput steps{.colors = PictureColors::steps}, over{.over = "x"};
  const std::vector<PackPicture> pictures = {{"y", steps}, {"y", over}};
  const size_t without = pack(file, folder / "packed", caps, {}, frames).shaders;
  EXPECT_GE(pack(file, folder / "packed", caps, {}, frames, pictures).shaders, without + 4);
  const Model model = Model::load(file), packed = Model::load(folder / "packed");
  const Device device = Device::open(device_options()), compiling = Device::open(device_options());
  impl(device)->compiles_shaders = false;
  // Pictures of other sizes and colours; over a frame, or beside it.
  const FrameInput camera{.format = FrameFormat::rgb8, .width = 32, .height = 24};
  const PictureOutput wide{.palette = {{1, 2, 3, 4}, {5, 6, 7, 8}}, .width = 40, .height = 24, .over = "x"};
  PictureOutput further = steps;
  further.name = "picture";
  further.width = 30;
  further.palette = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 9, 9, 9}};
  const auto variants = [&](const Model& base) {
    const Model framed = with_frames(base, "x", camera);
    return std::vector{with_picture(base, "y", steps), with_picture(framed, "y", further),
                       with_picture(framed, "y", over), with_picture(framed, "y", wide)};
  };
  const std::vector<Model> from_bundle = variants(packed), whole = variants(model);
  const SessionOptions images{.storage = StorageChoice::image2d};
  for (size_t i = 0; i < whole.size(); ++i) {
    const Program program = compile(impl(from_bundle[i])->graph, impl(caps)->caps,
                                    compile_options(SessionOptions{}), Stage::program)
                                .program;
    for (const gpu::PipelineKey& key : pipeline_keys(program))
      EXPECT_FALSE(impl(packed)->packed->find(gpu::shader_digest(gpu::shader_request(key))).empty())
          << i << ": " << key.shader;
    EXPECT_TRUE(same(run(device, from_bundle[i]), run(compiling, whole[i], images))) << i;
    EXPECT_EQ(impl(device)->context->pipelines().shader_counts().compiled, 0u) << i;
  }
  EXPECT_EQ(impl(device)->context->pipelines().shader_counts().compiled, 0u);

  // Nothing was compiled because the bundle has the shaders.
  pack(file, folder / "packed", caps, {}, frames);
  run(device, with_picture(Model::load(folder / "packed"), "y",
                           {.colors = PictureColors::classes, .palette = {{1, 1, 1, 1}}}));
  EXPECT_GT(impl(device)->context->pipelines().shader_counts().compiled, 0u);

  const auto refused = [&](const PackPicture& picture) {
    pack(file, folder / "packed", caps, {}, frames, std::vector{picture});
  };
  EXPECT_VELLUM_ERROR(refused({"z", steps}), ErrorCode::not_found, "'z'");
  EXPECT_VELLUM_ERROR(refused({"y", {.over = "z"}}), ErrorCode::invalid_argument, "needs a frame");
  EXPECT_VELLUM_ERROR(refused({"y", {.colors = PictureColors::classes}}), ErrorCode::invalid_argument,
                      "palette");
}

// A loop of steps that the device ends has a dispatch of its own.
TEST_F(PackedShaders, HoldsTheShaderThatEndsStepsOfNetworksWithState) {
  OnnxModel model;
  model.input("x", {3}).input("sum", {3}).node("Add", {"sum", "x"}, {"sum.next"}).output("sum.next");
  const auto file = save(model);
  const Caps caps = Caps::android_baseline_2022();
  for (const bool has_state : {false, true}) {
    SessionOptions options;
    if (has_state) options.state = "auto";
    pack(file, folder / "packed", caps, options);
    const Model packed = Model::load(folder / "packed");
    const Program program =
        compile(impl(packed)->graph, impl(caps)->caps, compile_options(options), Stage::program).program;
    const std::vector<gpu::PipelineKey> keys = step_pipeline_keys(impl(caps)->caps, program);
    EXPECT_EQ(keys.size(), has_state ? 1u : 0u);
    for (const gpu::PipelineKey& key : keys)
      EXPECT_FALSE(impl(packed)->packed->find(gpu::shader_digest(gpu::shader_request(key))).empty());
  }
}

TEST_F(PackedShaders, HoldsTheShadersOfImages) {
  const auto file = save(small_model());
  const Caps caps = Caps::android_baseline_2022();
  for (const FrameFormat format : {FrameFormat::rgba8, FrameFormat::nv21}) {
    const std::vector<PackFrame> frames = {{"x", {.format = format, .width = 64, .height = 64}}};
    const std::vector<PackPicture> pictures = {{"y", {.over = "x"}}};
    const size_t without = pack(file, folder / "packed", caps, {}, frames, pictures).shaders;
    EXPECT_GT(pack_with_variants(file, folder / "packed", caps, {}, {frames, pictures, true}).shaders,
              without);
    const Model packed = Model::load(folder / "packed");
    const FrameInput camera{.format = format, .width = 32, .height = 24};
    const Model framed = with_frames(packed, "x", camera);
    for (const Model& model : {framed, with_picture(framed, "y", {.over = "x"})}) {
      const Program program =
          compile(impl(model)->graph, impl(caps)->caps, compile_options(SessionOptions{}), Stage::program)
              .program;
      const std::vector<gpu::PipelineKey> keys =
          binding_pipeline_keys(impl(caps)->caps, impl(model)->graph, program);
      EXPECT_GT(keys.size(), 5u);
      for (const gpu::PipelineKey& key : keys)
        EXPECT_FALSE(impl(packed)->packed->find(gpu::shader_digest(gpu::shader_request(key))).empty())
            << key.shader;
    }
  }
}

// Where no shader can be compiled, as in Vellum::runtime, on a device that would choose other kernels.
TEST_F(PackedShaders, KernelsForLesserCapsRunWhereNoShaderCanBeCompiled) {
  const auto file = save(small_model());
  const std::vector<PackFrame> frames = {{"x", {.format = FrameFormat::nv12, .width = 64, .height = 64}}};
  pack(file, folder / "packed", Caps::android_baseline_2022(), {}, frames);
  const Model model = Model::load(file), packed = Model::load(folder / "packed");
  const Device device = Device::open(device_options()), compiling = Device::open(device_options());
  impl(device)->compiles_shaders = false;
  const SessionOptions images{.storage = StorageChoice::image2d}, halves{.precision = Precision::fp16};

  const FrameInput camera{.format = FrameFormat::nv12, .width = 32, .height = 24};
  run(device, with_frames(packed, "x", camera));
  // On images, as the kernels of the baseline are, and so that the same order of sums gives the same bits.
  const Outputs actual = run(device, packed), expected = run(compiling, model, images);
  EXPECT_TRUE(close(actual.at("y"), expected.at("y")));
  EXPECT_EQ(impl(device)->context->pipelines().shader_counts().compiled, 0u);

  // A bundle that has no shaders for the options is as it was: the device's own kernels are missing.
  run(device, packed, halves);
  EXPECT_GT(impl(device)->context->pipelines().shader_counts().compiled, 0u);
  // Where shaders can be compiled, the device has the kernels of its own.
  run(compiling, packed);
  EXPECT_EQ(describe(packed, "program", {}, &compiling), describe(model, "program", {}, &compiling));
}

TEST_F(PackedShaders, BundlesForMoreThanTheDeviceHasGiveItsOwnKernels) {
  const auto file = save(small_model());
  DeviceCaps more = caps_from_json(Caps::android_baseline_2022().json(), "the baseline");
  more.max_push_constant_bytes = 1 << 20;
  pack(file, folder / "packed", Caps::parse(to_json(more), "more"));
  const Model packed = Model::load(folder / "packed");
  const Device device = Device::open(device_options());
  const std::string own = describe(packed, "program", {}, &device);
  impl(device)->compiles_shaders = false;
  EXPECT_EQ(describe(packed, "program", {}, &device), own);
}

}  // namespace
}  // namespace vellum::test
