// `vellum tiles`: pictures of any size, and the PNG files that it writes.
#include <cstdlib>

#include "common/image.hpp"
#include "run_tool.hpp"
#include "tile/local_networks.hpp"

namespace vellum::test {
namespace {

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
    samples::Image image = samples::make_image(width, height);
    for (size_t i = 0; i < image.rgb.size(); ++i) image.rgb[i] = static_cast<uint8_t>(i * i / 7 + i / 90);
    samples::write_png(folder / "photo.png", image);
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
  const samples::Image a = samples::load_image(folder / "one.png"),
                       b = samples::load_image(folder / "many.png");
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
    if (flat) samples::write_png(folder / "photo.png", samples::make_image(700, 600));
    run_json(arguments("same.png", {"--tile", "300"}));
    EXPECT_EQ(samples::load_image(folder / "same.png").rgb, samples::load_image(folder / "photo.png").rgb);
  }
}

TEST_F(TilesCommand, NamesWhatIsWrong) {
  OnnxModel pooled;
  pooled.input("x", {1, 3, kUnknownDim, kUnknownDim})
      .node("GlobalAveragePool", {"x"}, {"m"}, {}, "mean_of_all");
  pooled.node("Mul", {"x", "m"}, {"y"}, {}, "scale").output("y");
  pooled.save(folder / "model.onnx");
  write_photo(40, 30);
  EXPECT_TRUE(fails(arguments("out.png", {}), 1, {"mean_of_all"}));
  EXPECT_TRUE(fails(arguments("no/such/folder/out.png", {}), 1, {}));
}

}  // namespace
}  // namespace vellum::test
