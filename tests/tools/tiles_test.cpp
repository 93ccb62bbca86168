// `vellum tiles`: pictures of any size, and the PNG files that it writes.
#include <cstdlib>

#include "io/files.hpp"
#include "io/image.hpp"
#include "io/picture_file.hpp"
#include "io/picture_format.hpp"
#include "run_tool.hpp"
#include "samples/picture_files.hpp"
#include "tile/local_networks.hpp"

namespace vellum::test {
namespace {

samples::FileBytes four_times(const samples::FileBytes& pixel) {
  samples::FileBytes pixels;
  for (int i = 0; i < 4; ++i) pixels.insert(pixels.end(), pixel.begin(), pixel.end());
  return pixels;
}

class TilesCommand : public testing::Test {
 protected:
  std::vector<std::string> arguments(const std::string& output, const std::vector<std::string>& more) const {
    std::vector<std::string> all{
        "tiles", (folder / "model.onnx").string(), "-i",          (folder / "photo.png").string(),
        "-o",    (folder / output).string(),       "--validation"};
    const char* limits = std::getenv("VELLUM_TEST_LIMITS");
    if (limits && std::string(limits) == "android_baseline_2022")
      all.insert(all.end(), {"--limits", "android-baseline-2022"});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  void write_photo(int width, int height) const {
    io::Image image = io::make_image(width, height);
    for (size_t i = 0; i < image.rgb.size(); ++i) image.rgb[i] = static_cast<uint8_t>(i * i / 7 + i / 90);
    io::write_image(folder / "photo.png", image);
  }

  // A network whose output is its input, which is not negative.
  void save_identity(const Shape& shape, DType dtype = DType::f32) const {
    OnnxModel identity;
    identity.input("x", shape, dtype).node("Relu", {"x"}, {"y"}, {}, "relu").output("y");
    identity.save(folder / "model.onnx");
  }
  // The same for channels that come last.
  void save_identity_of_last(int64_t channels) const {
    OnnxModel identity;
    identity.input("x", {1, kUnknownDim, kUnknownDim, channels})
        .node("Transpose", {"x"}, {"first"}, attributes({{"perm", std::vector<int64_t>{0, 3, 1, 2}}}))
        .node("Relu", {"first"}, {"relu"})
        .node("Transpose", {"relu"}, {"y"}, attributes({{"perm", std::vector<int64_t>{0, 2, 3, 1}}}))
        .output("y");
    identity.save(folder / "model.onnx");
  }

  TempFolder folder;
};

TEST_F(TilesCommand, WritesTheSamePictureForTilesOfAnySize) {
  super_resolution({1, 3, kUnknownDim, kUnknownDim}, 4).save(folder / "model.onnx");
  write_photo(70, 50);
  const nlohmann::json one = run_json(arguments("one.png", {}));
  const nlohmann::json many = run_json(arguments("many.png", {"--tile", "25", "--memory-budget", "2MiB"}));
  EXPECT_EQ(one["tiles"], 1);
  EXPECT_GT(many["tiles"], 8);
  EXPECT_LE(many["peak_bytes"], 2 << 20);
  const io::Image a = io::load_image(folder / "one.png"), b = io::load_image(folder / "many.png");
  EXPECT_EQ(a.width, 210);
  EXPECT_EQ(a.height, 150);
  EXPECT_EQ(a.rgb, b.rgb);
  EXPECT_FALSE(std::filesystem::exists(folder / "one.png.part"));
}

// The rows of a flat picture are one long match, those of a noisy one are none: both are read as written.
TEST_F(TilesCommand, WritesPicturesThatCanBeRead) {
  OnnxModel identity;
  identity.input("x", {1, 3, kUnknownDim, kUnknownDim}).node("Relu", {"x"}, {"y"}, {}, "relu").output("y");
  identity.save(folder / "model.onnx");
  for (const bool flat : {true, false}) {
    write_photo(700, 600);
    if (flat) io::write_image(folder / "photo.png", io::make_image(700, 600));
    run_json(arguments("same.png", {"--tile", "300"}));
    EXPECT_EQ(io::load_image(folder / "same.png").rgb, io::load_image(folder / "photo.png").rgb);
  }
}

TEST_F(TilesCommand, WritesTheFormatThatTheNameSays) {
  save_identity({1, 3, kUnknownDim, kUnknownDim});
  io::Image flat = io::make_image(70, 50);
  for (uint8_t& byte : flat.rgb) byte = 100;
  io::write_image(folder / "photo.png", flat);
  for (const auto& [name, format] : {std::pair{"a.png", "PNG"}, {"a.jpg", "JPEG"}, {"a.bmp", "BMP"}}) {
    run_json(arguments(name, {"--tile", "40"}));
    EXPECT_EQ(io::picture_format(io::FileName(folder / name)), format);
    const io::Image written = io::load_image(folder / name);
    EXPECT_EQ(written.height, 50);
    EXPECT_NEAR(written.rgb.back(), 100, 1) << name;
  }
  EXPECT_TRUE(fails(arguments("a.webp", {}), 1, {"a.webp", ".png, .jpg, .jpeg or .bmp"}));
}

TEST_F(TilesCommand, AlphaIsKeptOrNamed) {
  samples::FileBytes rgba;
  for (int i = 0; i < 40 * 30 * 4; ++i) rgba.push_back(static_cast<uint8_t>(i * i % 253));
  io::write_file(folder / "photo.png", samples::png_file(40, 30, {.color_type = 6}, rgba, 40 * 4));
  save_identity({1, 3, kUnknownDim, kUnknownDim});
  const nlohmann::json without = run_json(arguments("a.png", {}));
  ASSERT_EQ(without["warnings"].size(), 1u);
  EXPECT_NE(without["warnings"][0].get<std::string>().find("takes no alpha"), std::string::npos);
  for (const bool last : {false, true}) {
    if (last)
      save_identity_of_last(4);
    else
      save_identity({1, 4, kUnknownDim, kUnknownDim});
    EXPECT_FALSE(run_json(arguments("a.png", {"--tile", "25"})).contains("warnings"));
    EXPECT_EQ(io::load_picture(folder / "a.png").bytes, rgba);
    EXPECT_TRUE(fails(arguments("a.jpg", {}), 1, {"a.jpg", "alpha"}));
  }
}

// The network multiplies by 16, so that the low bits of the file are seen.
TEST_F(TilesCommand, SixteenBitsReachTheNetwork) {
  io::write_file(
      folder / "photo.png",
      samples::png_file(2, 2, {.depth = 16}, four_times({0x01, 0x81, 0x02, 0x02, 0x03, 0x83}), 12));
  OnnxModel model;
  const std::vector<float> sixteen{16};
  model.input("x", {1, 3, kUnknownDim, kUnknownDim})
      .initializer("s", HostTensor::f32({}, sixteen))
      .node("Mul", {"x", "s"}, {"y"})
      .output("y");
  model.save(folder / "model.onnx");
  run_json(arguments("a.png", {}));
  EXPECT_EQ(io::load_image(folder / "a.png").rgb, four_times({24, 32, 56}));
}

TEST_F(TilesCommand, OneChannelAndHalfFloats) {
  write_photo(70, 50);
  save_identity({1, 1, kUnknownDim, kUnknownDim});
  run_json(arguments("grey.png", {}));
  const io::Image photo = io::load_image(folder / "photo.png"), grey = io::load_image(folder / "grey.png");
  const uint8_t* pixel = photo.pixel(33, 44);
  EXPECT_NEAR(grey.pixel(33, 44)[1], 0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2], 0.51);
  save_identity({1, 3, kUnknownDim, kUnknownDim}, DType::f16);
  run_json(arguments("half.png", {"--tile", "40", "--pixels", "bytes"}));
  EXPECT_EQ(io::load_image(folder / "half.png").rgb, photo.rgb);
}

TEST_F(TilesCommand, NamesWhatIsWrong) {
  OnnxModel pooled;
  pooled.input("x", {1, 3, kUnknownDim, kUnknownDim})
      .node("GlobalAveragePool", {"x"}, {"m"}, {}, "mean_of_all");
  pooled.node("Mul", {"x", "m"}, {"y"}, {}, "scale").output("y");
  pooled.save(folder / "model.onnx");
  write_photo(40, 30);
  EXPECT_TRUE(fails(arguments("out.png", {}), 1, {"mean_of_all", "however large the picture"}));
  save_identity({1, kUnknownDim, kUnknownDim, 3});  // rows and columns of what?
  EXPECT_TRUE(fails(arguments("out.png", {}), 1, {"'x'", "last dimension as channels"}));
  EXPECT_TRUE(fails(arguments("no/such/folder/out.png", {}), 1, {}));
}

}  // namespace
}  // namespace vellum::test
