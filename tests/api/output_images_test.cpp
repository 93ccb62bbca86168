// The application's images as outputs of recorded inferences.
#include <array>
#include <cstring>
#include <vector>

#include "images_fixture.hpp"
#include "small_model.hpp"
#include "support/errors.hpp"

namespace vellum::test::images {
namespace {

class OutputImages : public Images {
 protected:
  static AppOptions all_formats() {
    return {.own_structures = true, .adjust = [](AppFeatures& features, auto&) {
              features.core10.features.shaderStorageImageExtendedFormats = VK_TRUE;
              features.core10.features.shaderStorageImageWriteWithoutFormat = VK_TRUE;
            }};
  }
  OutputImages() : Images(all_formats()) {}

  std::vector<std::byte> run_to_image(Session& session, const Tensor& input, vk::Format format,
                                      uint64_t pixel) {
    const AppBuffer from = host_buffer(input.byte_size()), to = host_buffer(pixel * kWidth * kHeight);
    std::memcpy(from.data, input.data(), input.byte_size());
    const AppImage image = app.make_image(format, kWidth, kHeight, Usage::eStorage | Usage::eTransferSrc);
    const BufferBinding in{"x", *from.buffer, 0, from.bytes};
    const ImageBinding out = binding("y", image);
    const vk::raii::CommandBuffer commands = app.make_commands();
    commands.begin(vk::CommandBufferBeginInfo());
    make_general(commands, image);
    const Recording recording = session.record(*commands, {.inputs = {&in, 1}, .output_images = {&out, 1}});
    download(commands, image, to);
    commands.end();
    app.submit_and_wait(commands);
    return {to.data, to.data + to.bytes};
  }
};

// The values of an output [1, channels, kHeight, kWidth] as images of four channels have them: 0 for a
// missing colour, 1 for a missing alpha.
struct Expected {
  float at(size_t pixel, size_t c) const {
    if (static_cast<int64_t>(c) >= channels) return c == 3 ? 1.0f : 0.0f;
    return output.as<float>()[c * kWidth * kHeight + pixel];
  }

  Tensor output;
  int64_t channels;
};

constexpr size_t kPixels = size_t{kWidth} * kHeight;

class FilterImages : public OutputImages, public testing::WithParamInterface<int64_t> {
 protected:
  FilterImages()
      : session(device, with_frames(load(filter_model(GetParam())), "x", whole_frame())),
        input(random_bytes(whole_frame().bytes(), 3)),
        expected{session.run({{"x", input}}).at("y"), GetParam()} {}

  std::vector<std::byte> run(vk::Format format, uint64_t pixel_bytes) {
    return run_to_image(session, input, format, pixel_bytes);
  }

  Session session;
  Tensor input;
  Expected expected;
};

TEST_P(FilterImages, FloatsAreTheValues) {
  const std::vector<std::byte> four = run(vk::Format::eR32G32B32A32Sfloat, 16),
                               one = run(vk::Format::eR32Sfloat, 4);
  for (size_t i = 0; i < kPixels; ++i) {
    float texel[4], red = 0;
    std::memcpy(texel, &four[16 * i], sizeof texel);
    std::memcpy(&red, &one[4 * i], sizeof red);
    ASSERT_EQ(red, expected.at(i, 0));
    for (size_t c = 0; c < 4; ++c) ASSERT_EQ(texel[c], expected.at(i, c)) << "channel " << c;
  }
}

TEST_P(FilterImages, BytesAreRounded) {
  const std::vector<std::byte> four = run(vk::Format::eR8G8B8A8Unorm, 4), one = run(vk::Format::eR8Unorm, 1);
  for (size_t i = 0; i < kPixels; ++i) {
    ASSERT_NEAR(static_cast<int>(one[i]), 255 * expected.at(i, 0), 0.51);
    for (size_t c = 0; c < 4; ++c)
      ASSERT_NEAR(static_cast<int>(four[4 * i + c]), 255 * expected.at(i, c), 0.51) << "channel " << c;
  }
}

TEST_P(FilterImages, RedAndBlueAreSwappedInBgra) {
  const std::vector<std::byte> rgba = run(vk::Format::eR8G8B8A8Unorm, 4),
                               bgra = run(vk::Format::eB8G8R8A8Unorm, 4);
  for (size_t i = 0; i < kPixels; ++i)
    for (size_t c = 0; c < 4; ++c) ASSERT_EQ(rgba[4 * i + c], bgra[4 * i + (c == 3 ? 3 : 2 - c)]);
}

TEST_P(FilterImages, HalvesAreWritten) {
  EXPECT_EQ(run(vk::Format::eR16G16B16A16Sfloat, 8).size(), 8 * kPixels);
}

INSTANTIATE_TEST_SUITE_P(Channels, FilterImages, testing::Values(1, 3, 4), testing::PrintToStringParamName());

TEST_F(OutputImages, BytesAreStoredAsTheyAre) {
  OnnxModel model;
  const float one = 1;
  const uint8_t zero = 0;
  Tensor zero_point(DType::u8, {});
  zero_point.mutable_as<uint8_t>()[0] = zero;
  model.input("x", {1, 36, 64, 4})
      .initializer("scale", Tensor::f32({}, {&one, 1}))
      .initializer("zero", zero_point)
      .node("QuantizeLinear", {"x", "scale", "zero"}, {"y"}, {}, "quantise")
      .output("y");
  FrameInput frame = whole_frame();
  frame.mean.fill(0);
  frame.scale.fill(1);
  Session session(device, with_frames(load(model), "x", frame));
  const Tensor input = random_bytes(frame.bytes(), 3);
  const Tensor want = session.run({{"x", input}}).at("y");
  const std::vector<std::byte> got = run_to_image(session, input, vk::Format::eR8G8B8A8Unorm, 4);
  EXPECT_EQ(std::memcmp(got.data(), want.data(), want.byte_size()), 0);
  EXPECT_EQ(std::memcmp(got.data(), input.data(), input.byte_size()), 0) << "the frame is the picture";
}

// A renderer's frames: drawn to an image, seen by the network, whose map is drawn to the screen.
class Renderer : public OutputImages {
 protected:
  void begin() {
    commands.reset();
    commands.begin(vk::CommandBufferBeginInfo(vk::CommandBufferUsageFlagBits::eOneTimeSubmit));
  }
  // The scene is one colour, another in each frame.
  void draw_scene(uint32_t frame) {
    transition(commands, scene, {Layout::eUndefined, Stage::eComputeShader}, kDrawn);
    const float shade = static_cast<float>(frame % 100) / 100;
    commands.clearColorImage(*scene.image, Layout::eTransferDstOptimal,
                             vk::ClearColorValue(std::array{shade, 1 - shade, 0.5f, 1.0f}),
                             vk::ImageSubresourceRange(Aspect::eColor, 0, 1, 0, 1));
    transition(commands, scene, kDrawn,
               {Layout::eShaderReadOnlyOptimal, Stage::eComputeShader, Access::eShaderRead});
  }
  void draw_screen() {
    const vk::ImageSubresourceLayers layers(Aspect::eColor, 0, 0, 1);
    const std::array<vk::Offset3D, 2> corners{vk::Offset3D(0, 0, 0), vk::Offset3D(kWidth, kHeight, 1)};
    transition(commands, map, {Layout::eGeneral, Stage::eComputeShader, Access::eShaderWrite}, kCopied);
    transition(commands, screen, {Layout::eUndefined, Stage::eTransfer}, kDrawn);
    commands.blitImage(*map.image, Layout::eTransferSrcOptimal, *screen.image, Layout::eTransferDstOptimal,
                       vk::ImageBlit(layers, corners, layers, corners), vk::Filter::eNearest);
  }
  // To `pixels` and `drawn`.
  void read_screen_and_scene() {
    transition(commands, screen, kDrawn, kCopied);
    transition(commands, scene, {Layout::eShaderReadOnlyOptimal, Stage::eComputeShader}, kCopied);
    commands.copyImageToBuffer(*screen.image, Layout::eTransferSrcOptimal, *pixels.buffer,
                               region(whole(screen)));
    commands.copyImageToBuffer(*scene.image, Layout::eTransferSrcOptimal, *drawn.buffer,
                               region(whole(scene)));
    make_visible_to_host(commands, Stage::eTransfer, Access::eTransferWrite);
  }
  void render(const Recording& recording, uint32_t frame, bool read) {
    begin();
    draw_scene(frame);
    transition(commands, map, {Layout::eUndefined, Stage::eTransfer},
               {Layout::eGeneral, Stage::eComputeShader, Access::eShaderWrite});
    recording.record(*commands);
    draw_screen();
    if (read) read_screen_and_scene();
    commands.end();
    app.submit_and_wait(commands);
  }
  Tensor drawn_scene() const {
    Tensor bytes(DType::u8, {static_cast<int64_t>(drawn.bytes)});
    std::memcpy(bytes.mutable_data(), drawn.data, drawn.bytes);
    return bytes;
  }

  static constexpr ImageUse kDrawn{Layout::eTransferDstOptimal, Stage::eTransfer, Access::eTransferWrite},
      kCopied{Layout::eTransferSrcOptimal, Stage::eTransfer, Access::eTransferRead};

  AppImage scene = app.make_image(vk::Format::eR8G8B8A8Unorm, kWidth, kHeight,
                                  Usage::eSampled | Usage::eTransferDst | Usage::eTransferSrc);
  AppImage map =
      app.make_image(vk::Format::eR32G32B32A32Sfloat, kWidth, kHeight, Usage::eStorage | Usage::eTransferSrc);
  AppImage screen = app.make_image(vk::Format::eR32G32B32A32Sfloat, kWidth, kHeight,
                                   Usage::eTransferDst | Usage::eTransferSrc);
  AppBuffer pixels = host_buffer(16 * kPixels), drawn = host_buffer(4 * kPixels);
  vk::raii::CommandBuffer commands = app.make_commands();
};

// Nothing but the application's submits happens, and its images hold everything.
TEST_F(Renderer, ThreeHundredFramesFromARendererToAScreen) {
  Session session(device, with_frames(load(filter_model(4)), "x", whole_frame()));
  const ImageBinding in = binding("x", scene, Layout::eShaderReadOnlyOptimal), out = binding("y", map);
  const Recording recording = session.bind({.input_images = {&in, 1}, .output_images = {&out, 1}});
  const uint32_t maps = vulkan.maps(), submits = vulkan.submits(), waits = vulkan.waits(),
                 made = vulkan.objects_made();
  std::vector<std::byte> last_screen;
  for (uint32_t frame = 0; frame < 300; ++frame) {
    const bool read = frame % 50 == 49;
    render(recording, frame, read);
    if (!read) continue;
    std::vector<std::byte> now(pixels.data, pixels.data + pixels.bytes);
    EXPECT_NE(now, last_screen) << "the scene moves";
    last_screen = std::move(now);
  }
  EXPECT_EQ(vulkan.maps(), maps);
  EXPECT_EQ(vulkan.submits(), submits);
  EXPECT_EQ(vulkan.waits(), waits);
  EXPECT_EQ(vulkan.objects_made(), made);
  EXPECT_EQ(vulkan.instances_made() + vulkan.devices_made(), 0u);
  const Expected expected{session.run({{"x", drawn_scene()}}).at("y"), 4};
  for (size_t i = 0; i < kPixels; ++i)
    for (size_t c = 0; c < 4; ++c) {
      float stored = 0;
      std::memcpy(&stored, pixels.data + 16 * i + 4 * c, sizeof stored);
      ASSERT_EQ(stored, expected.at(i, c));
    }
}

// Bindings that differ from valid ones in one thing.
class RefusedImages : public Images {
 protected:
  using Change = void (*)(ImageBinding&);

  void refuse_input(ErrorCode code, const char* text, Change change) {
    ImageBinding changed = in;
    change(changed);
    EXPECT_VELLUM_ERROR(session.bind({.input_images = {&changed, 1}}), code, text);
  }
  void refuse_output(ErrorCode code, const char* text, Change change) {
    ImageBinding changed = out;
    change(changed);
    EXPECT_VELLUM_ERROR(session.bind({.input_images = {&in, 1}, .output_images = {&changed, 1}}), code, text);
  }

  Session session{device, with_frames(load(filter_model(1)), "x", whole_frame())};
  AppImage frame = app.make_image(vk::Format::eR8G8B8A8Unorm, kWidth, kHeight, Usage::eSampled);
  AppImage map = app.make_image(vk::Format::eR32Sfloat, kWidth, kHeight, Usage::eStorage);
  ImageBinding in = binding("x", frame), out = binding("y", map);
};

TEST_F(RefusedImages, ValidBindingsAreAccepted) {
  EXPECT_TRUE(session.bind({.input_images = {&in, 1}, .output_images = {&out, 1}}).valid());
}

TEST_F(RefusedImages, Inputs) {
  const ErrorCode invalid = ErrorCode::invalid_argument, unsupported = ErrorCode::unsupported;
  refuse_input(invalid, "input 'x': the image is null", [](auto& i) { i.image = nullptr; });
  refuse_input(invalid, "the image is 32 x 36, the frame 64 x 36", [](auto& i) { i.width = 32; });
  refuse_input(invalid, "neither GENERAL nor SHADER_READ_ONLY_OPTIMAL",
               [](auto& i) { i.layout = VK_IMAGE_LAYOUT_UNDEFINED; });
  refuse_input(unsupported, "R8G8B8A8Uint", [](auto& i) { i.format = VK_FORMAT_R8G8B8A8_UINT; });
  refuse_input(unsupported, "D32Sfloat", [](auto& i) { i.format = VK_FORMAT_D32_SFLOAT; });
  refuse_input(unsupported, "Undefined", [](auto& i) { i.format = VK_FORMAT_UNDEFINED; });
}

TEST_F(RefusedImages, InputsThatAreNoFrames) {
  Session plain(device, load(filter_model(1)));
  EXPECT_VELLUM_ERROR(plain.bind({.input_images = {&in, 1}}), ErrorCode::unsupported,
                      "input 'x': it takes no image: only frames do");
}

TEST_F(RefusedImages, InputsBoundTwice) {
  const std::array<ImageBinding, 2> twice{in, in};
  EXPECT_VELLUM_ERROR(session.bind({.input_images = twice}), ErrorCode::invalid_argument,
                      "input 'x' is bound twice");
}

TEST_F(RefusedImages, Outputs) {
  const ErrorCode invalid = ErrorCode::invalid_argument, unsupported = ErrorCode::unsupported;
  refuse_output(invalid, "output 'y': the layout of the image is not GENERAL",
                [](auto& i) { i.layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL; });
  refuse_output(invalid, "has 64 x 36 pixels, the image 36 x 64", [](auto& i) {
    i.width = 36;
    i.height = 64;
  });
  refuse_output(unsupported, "outputs are not written in it",
                [](auto& i) { i.format = VK_FORMAT_R16G16B16A16_UNORM; });
  refuse_output(unsupported, "shaderStorageImageExtendedFormats",
                [](auto& i) { i.format = VK_FORMAT_R8_UNORM; });
  refuse_output(unsupported, "shaderStorageImageWriteWithoutFormat",
                [](auto& i) { i.format = VK_FORMAT_B8G8R8A8_UNORM; });
}

TEST_F(RefusedImages, OutputsOfAnotherSizeThanANetworkWithoutFrames) {
  Session small(device, load(small_model()));
  const AppBuffer x = host_buffer(4096);
  const BufferBinding whole_x{"x", *x.buffer, 0, x.bytes};
  EXPECT_VELLUM_ERROR(small.bind({.inputs = {&whole_x, 1}, .output_images = {&out, 1}}),
                      ErrorCode::invalid_argument, "output 'y'", "has 5 x 4 pixels");
}

}  // namespace
}  // namespace vellum::test::images
