// Folders, patterns and videos as an input of `vellum run`.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "io/image.hpp"
#include "io/npy.hpp"
#include "run_tool.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test {
namespace {

using nlohmann::json;

class PictureSeries : public testing::Test {
 protected:
  void SetUp() override {
    OnnxModel model;
    model.input("image", {1, 3, 8, 8})
        .node("GlobalAveragePool", {"image"}, {"means"})
        .node("Flatten", {"means"}, {"scores"})
        .output("scores");
    model.save(folder / "model.onnx");
    std::filesystem::create_directory(folder / "photos");
  }
  // A picture of one grey.
  void photo(const std::string& name, uint8_t grey, int width = 20) const {
    io::Image image = io::make_image(width, 10);
    std::ranges::fill(image.rgb, grey);
    io::write_image(folder / name, image);
  }
  std::vector<std::string> arguments(const std::string& input,
                                     const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all{"run",         (folder / "model.onnx").string(),
                                 "-i",          "image=" + (folder / input).string(),
                                 "--values",    "bytes",
                                 "--fit",       "stretch",
                                 "--validation"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  // One document a line, and nothing on stderr.
  std::vector<json> lines(const std::string& input, std::vector<std::string> more = {}) const {
    more.push_back("--json");
    const Finished finished = run_tool(arguments(input, more));
    EXPECT_EQ(finished.status, 0) << finished.err;
    EXPECT_EQ(finished.err, "");
    return parsed(finished.out);
  }
  static std::vector<json> parsed(const std::string& text) {
    std::vector<json> documents;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
      documents.push_back(json::parse(line, nullptr, false));
    return documents;
  }
  float first_value(const std::string& file) const {
    const io::NpyArray array = io::read_npy(folder / file);
    float value = -1;
    if (array.data.size() == 3 * sizeof value) std::memcpy(&value, array.data.data(), sizeof value);
    return value;
  }
  TempFolder folder;
};

TEST_F(PictureSeries, AFolderIsReadInOrderOneLineForEachPicture) {
  photo("photos/b.png", 20);
  photo("photos/a.png", 10, 30);
  photo("photos/c.bmp", 30);
  folder.write("photos/notes.txt", "no picture");
  const std::vector<json> found = lines("photos", {"-o", (folder / "results").string(), "--top", "1"});
  ASSERT_EQ(found.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const std::string stem(1, static_cast<char>('a' + i));
    EXPECT_EQ(found[i]["input"], (folder / ("photos/" + stem + (i == 2 ? ".bmp" : ".png"))).string());
    EXPECT_EQ(found[i]["classes"].size(), 1u);
    EXPECT_EQ(found[i]["outputs"][0]["file"], (folder / ("results/" + stem + "/scores.npy")).string());
    EXPECT_NEAR(first_value("results/" + stem + "/scores.npy"), 10 * static_cast<float>(i + 1), 1e-3f);
  }
}

TEST_F(PictureSeries, APatternNamesFilesAndNothingIsWrittenUnasked) {
  photo("photos/day1.png", 10);
  photo("photos/day2.png", 20);
  photo("photos/night1.png", 30);
  EXPECT_EQ(lines("photos/day*.png").size(), 2u);
  EXPECT_EQ(lines("photos/*1.p?g").size(), 2u);
  const std::vector<json> one = lines("photos/*ght*");
  ASSERT_EQ(one.size(), 1u);
  EXPECT_FALSE(one[0]["outputs"][0].contains("file"));
  EXPECT_FALSE(std::filesystem::exists("scores.npy"));
  const Finished text = run_tool(arguments("photos/day*"));
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_NE(text.out.find("1/2  "), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("%  class 0"), std::string::npos) << text.out;
}

TEST_F(PictureSeries, PicturesOfOneStemKeepTheirWholeNames) {
  photo("photos/a.png", 10);
  photo("photos/a.bmp", 20);
  lines("photos", {"-o", (folder / "results").string()});
  EXPECT_NEAR(first_value("results/a.bmp/scores.npy"), 20, 1e-3f);
  EXPECT_NEAR(first_value("results/a.png/scores.npy"), 10, 1e-3f);
}

TEST_F(PictureSeries, APictureThatCannotBeReadDoesNotEndTheRun) {
  folder.write("photos/a.png", "\x89PNG\r\n\x1a\n and no more");
  photo("photos/b.png", 20);
  const Finished finished = run_tool(arguments("photos", {"--json"}));
  EXPECT_EQ(finished.status, 1);
  const std::vector<json> found = parsed(finished.out);
  ASSERT_EQ(found.size(), 3u) << finished.out;
  EXPECT_NE(found[0]["error"]["message"].get<std::string>().find("a.png"), std::string::npos);
  EXPECT_TRUE(found[1].contains("classes"));
  EXPECT_EQ(found[2]["error"]["message"], "1 of 2 pictures cannot be read");
}

TEST_F(PictureSeries, WhatNamesNoPicturesIsRefused) {
  EXPECT_TRUE(fails(arguments("photos"), 1, {"photos", "the folder has no PNG, JPEG or BMP files"}));
  EXPECT_TRUE(fails(arguments("photos/*.png"), 1, {"*.png", "the pattern finds no PNG, JPEG or BMP files"}));
  EXPECT_TRUE(fails(arguments("none.mp4"), 1, {"none.mp4", "no such file"}));
}

#ifndef _WIN32
TEST_F(PictureSeries, AVideosFramesAreNumbered) {
  if (std::system("ffmpeg -version >/dev/null 2>&1") != 0) GTEST_SKIP() << "needs ffmpeg";
  std::string video = "YUV4MPEG2 W16 H8 F25:1 C444\n";
  for (const char luma : {'\x51', '\x6f', '\x7e'}) {
    video += "FRAME\n" + std::string(16 * 8, luma) + std::string(2 * 16 * 8, '\x80');
  }
  folder.write("it's.y4m", video);
  const std::vector<json> found = lines("it's.y4m", {"-o", (folder / "results").string()});
  ASSERT_EQ(found.size(), 3u);
  float before = 0;
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(found[i]["frame"], i + 1);
    const float value = first_value("results/it's/00000" + std::to_string(i + 1) + "/scores.npy");
    EXPECT_GT(value, before + 10);
    before = value;
  }
  EXPECT_NEAR(before, 128, 3) << "(0x7e - 16) * 255 / 219";
  folder.write("empty.mp4", "no video");
  EXPECT_TRUE(fails(arguments("empty.mp4"), 1, {"empty.mp4", "ffmpeg reads no frame"}));
}
#endif

}  // namespace
}  // namespace vellum::test
