#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "io/files.hpp"
#include "ocr/reading.hpp"
#include "ocr/text_lines.hpp"
#include "temporary_folder.hpp"
#include "vellum/error.hpp"

namespace vellum::samples {
namespace {

struct Map {
  int width = 64, height = 48;
  std::vector<float> values = std::vector<float>(64 * 48);

  // Pixels whose place along and across a line through `center` at that angle is within the half sizes.
  void add_bar(Point center, float angle, float half_length, float half_height, float probability) {
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const float u = static_cast<float>(x) - center.x, v = static_cast<float>(y) - center.y;
        const float along = u * std::cos(angle) + v * std::sin(angle);
        const float across = v * std::cos(angle) - u * std::sin(angle);
        if (std::abs(along) <= half_length && std::abs(across) <= half_height)
          values[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                 static_cast<std::size_t>(x)] = probability;
      }
    }
  }
  std::vector<TextLine> lines() const { return find_text_lines(values, width, height, {}); }
};

TEST(TextLines, LevelBarGrowsByItsAreaOverItsPerimeter) {
  Map map;
  map.add_bar({30, 20}, 0, 15, 2, 0.75f);  // 31 x 5 pixels
  const std::vector<TextLine> lines = map.lines();
  ASSERT_EQ(lines.size(), 1u);
  const float margin = 1.6f * 31 * 5 / (2 * (31 + 5));
  EXPECT_FLOAT_EQ(lines[0].score, 0.75f);
  EXPECT_NEAR(lines[0].corners[0].x, 15.5f - margin, 1e-3f);
  EXPECT_NEAR(lines[0].corners[0].y, 18.5f - margin, 1e-3f);
  EXPECT_NEAR(lines[0].corners[2].x, 45.5f + margin, 1e-3f);
  EXPECT_NEAR(lines[0].corners[2].y, 22.5f + margin, 1e-3f);
}

TEST(TextLines, TiltedBarIsReadAlongItsTilt) {
  for (const float angle : {-0.4f, 0.3f}) {
    Map map;
    map.add_bar({32, 24}, angle, 20, 3, 0.9f);
    const std::vector<TextLine> lines = map.lines();
    ASSERT_EQ(lines.size(), 1u);
    const auto& corners = lines[0].corners;
    EXPECT_NEAR(std::atan2(corners[1].y - corners[0].y, corners[1].x - corners[0].x), angle, 0.06f);
    EXPECT_GT(corners[3].y, corners[0].y);
    EXPECT_GT(lines[0].width(), 2 * lines[0].height());
  }
}

TEST(TextLines, RowsAreReadFromLeftToRight) {
  Map map;
  map.add_bar({50, 10}, 0, 8, 2, 0.9f);
  map.add_bar({14, 12}, 0, 8, 2, 0.8f);  // the same row, a little lower
  map.add_bar({20, 36}, 0, 9, 2, 0.7f);
  const std::vector<TextLine> lines = map.lines();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_FLOAT_EQ(lines[0].score, 0.8f);
  EXPECT_FLOAT_EQ(lines[1].score, 0.9f);
  EXPECT_FLOAT_EQ(lines[2].score, 0.7f);
}

TEST(TextLines, SpecksAndFaintLinesAreLeftOut) {
  Map map;
  map.add_bar({10, 10}, 0, 1, 0, 0.9f);
  map.add_bar({40, 30}, 0, 10, 2, 0.5f);
  EXPECT_TRUE(map.lines().empty());
}

TEST(TextLines, MapOfAnotherSizeIsRefused) {
  EXPECT_THROW(find_text_lines(std::vector<float>(10), 4, 3, {}), Error);
  EXPECT_THROW(find_text_lines({}, 0, 0, {}), Error);
}

TEST(Reading, StripIsTheLineInBlueGreenRed) {
  io::Image image = io::make_image(8, 8);
  for (int x = 0; x < 8; ++x) {
    image.pixel(x, 3)[0] = 255;                                           // red throughout the row
    image.pixel(x, 3)[2] = x >= 4 ? std::uint8_t{255} : std::uint8_t{0};  // blue in its right half
  }
  TextLine line;
  line.corners = {Point{0, 3}, Point{8, 3}, Point{8, 4}, Point{0, 4}};
  const std::vector<float> strip = line_strip(image, line, 10, 1);
  ASSERT_EQ(strip.size(), 30u);
  EXPECT_FLOAT_EQ(strip[0], -1);  // blue, left
  EXPECT_FLOAT_EQ(strip[7], 1);   // blue, right
  EXPECT_FLOAT_EQ(strip[10], -1);
  EXPECT_FLOAT_EQ(strip[20], 1);
  EXPECT_FLOAT_EQ(strip[8], 0);  // padding
}

TEST(Reading, RepetitionsMergeUnlessNoneLiesBetween) {
  const TemporaryFolder folder;
  const std::string file = "a\nb\n";
  io::write_file(folder / "characters.txt", std::vector<std::uint8_t>(file.begin(), file.end()));
  const std::vector<std::string> characters = read_characters(folder / "characters.txt");
  ASSERT_EQ(characters, (std::vector<std::string>{"", "a", "b", " "}));
  std::vector<float> steps;
  for (const std::size_t best : {0, 1, 1, 0, 1, 3, 2, 2, 0}) {
    std::vector<float> step(4, 0.1f);
    step[best] = 0.7f;
    steps.insert(steps.end(), step.begin(), step.end());
  }
  const ReadText read = spell(steps, 4, characters);
  EXPECT_EQ(read.text, "aa b");
  EXPECT_NEAR(read.confidence, 0.7f, 1e-6f);
  EXPECT_THROW(spell(steps, 3, characters), Error);
}

}  // namespace
}  // namespace vellum::samples
