#include "io/labels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "io/files.hpp"
#include "temporary_folder.hpp"
#include "vellum/error.hpp"

namespace vellum::samples {
namespace {

TEST(Labels, OneALineWhateverItsEnd) {
  const TemporaryFolder folder;
  const std::string text = "tabby cat\r\ngoldfish\n\nlast";
  io::write_file(folder / "labels.txt", std::vector<std::uint8_t>(text.begin(), text.end()));
  EXPECT_EQ(io::read_lines(folder / "labels.txt"),
            (std::vector<std::string>{"tabby cat", "goldfish", "", "last"}));
}

TEST(Labels, APictureIsNoTextFile) {
  const TemporaryFolder folder;
  io::write_file(folder / "labels.txt", std::vector<std::uint8_t>{0x89, 'P', 'N', 'G', '\n', 0, 0});
  EXPECT_THROW(io::read_lines(folder / "labels.txt"), Error);
}

TEST(Labels, OnlyOneListOfScoresIsAClassifiers) {
  for (const Shape& shape : {Shape{10}, Shape{1, 10}, Shape{kUnknownDim, 10}, Shape{1, 10, 1, 1}})
    EXPECT_TRUE(io::is_list_of_scores(shape)) << to_string(shape);
  for (const Shape& shape : {Shape{1, 256, 256, 1}, Shape{2, 10}, Shape{1}, Shape{1, kUnknownDim}, Shape{}})
    EXPECT_FALSE(io::is_list_of_scores(shape)) << to_string(shape);
}

TEST(Labels, LogitsGoThroughASoftmax) {
  const float scores[] = {1, 3, 2};
  const std::vector<io::ClassScore> best = io::best_classes(scores, 2);
  ASSERT_EQ(best.size(), 2u);
  EXPECT_EQ(best[0].index, 1u);
  EXPECT_EQ(best[1].index, 2u);
  EXPECT_NEAR(best[0].probability, std::exp(3.0) / (std::exp(1.0) + std::exp(2.0) + std::exp(3.0)), 1e-6);
}

TEST(Labels, ProbabilitiesStayAsTheyAre) {
  const float scores[] = {0.25f, 0.125f, 0.625f};
  const std::vector<io::ClassScore> best = io::best_classes(scores, 9);
  ASSERT_EQ(best.size(), 3u);
  EXPECT_EQ(best[0].index, 2u);
  EXPECT_EQ(best[0].probability, 0.625f);
}

TEST(Labels, ScoresThatAreNoNumbersAreRefused) {
  const float scores[] = {1, NAN};
  EXPECT_THROW(io::best_classes(scores, 1), Error);
  EXPECT_THROW(io::best_classes({}, 1), Error);
}

}  // namespace
}  // namespace vellum::samples
