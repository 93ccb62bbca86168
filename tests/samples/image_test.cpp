#include "io/image.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "common/draw.hpp"
#include "common/resize.hpp"
#include "common/text.hpp"
#include "io/files.hpp"
#include "temporary_folder.hpp"
#include "vellum/error.hpp"

namespace vellum::samples {
namespace {

io::Image gradient(int width, int height) {
  io::Image image = io::make_image(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      image.pixel(x, y)[0] = static_cast<std::uint8_t>(10 * x);
      image.pixel(x, y)[1] = static_cast<std::uint8_t>(20 * y);
      image.pixel(x, y)[2] = static_cast<std::uint8_t>(x + y);
    }
  }
  return image;
}

ErrorCode code_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorCode::internal;
}

TEST(ImageFile, WrittenPngReadsBackUnchanged) {
  const TemporaryFolder folder;
  const io::Image image = gradient(7, 5);
  io::write_image(folder / "image.png", image);
  const io::Image back = io::load_image(folder / "image.png");
  EXPECT_EQ(back.width, 7);
  EXPECT_EQ(back.height, 5);
  EXPECT_EQ(back.rgb, image.rgb);
  EXPECT_FALSE(std::filesystem::exists(folder / "image.png.part"));
}

TEST(ImageFile, AbsentFileIsNotFound) {
  const TemporaryFolder folder;
  EXPECT_EQ(code_of([&] { io::load_image(folder / "absent.png"); }), ErrorCode::not_found);
}

// Pictures of one colour, so that the file is small.
TEST(ImageFile, HugePicturesAreRefusedBeforeTheyAreDecoded) {
  const TemporaryFolder folder;
  // A PNG's first chunk has width and height at bytes 16 and 20, and its checksum at 29, which is not
  // verified here.
  io::write_image(folder / "image.png", gradient(8, 8));
  std::vector<std::uint8_t> bytes = io::read_file(folder / "image.png");
  for (const std::size_t at : {16, 20}) {
    bytes[at + 2] = 12000 / 256;
    bytes[at + 3] = 12000 % 256;
  }
  io::write_file(folder / "huge.png", bytes);
  try {
    io::load_image(folder / "huge.png");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_NE(std::string(error.what()).find("12000x12000"), std::string::npos) << error.what();
  }
}

TEST(ImageFile, TruncatedOrForeignFileIsRefused) {
  const TemporaryFolder folder;
  io::write_image(folder / "image.png", gradient(64, 64));
  std::vector<std::uint8_t> bytes = io::read_file(folder / "image.png");
  for (const std::size_t length : {bytes.size() / 2, std::size_t{8}, std::size_t{0}}) {
    io::write_file(folder / "short.png", std::span(bytes).first(length));
    EXPECT_EQ(code_of([&] { io::load_image(folder / "short.png"); }), ErrorCode::invalid_argument) << length;
  }
}

TEST(ImageFile, UnwritableFolderIsAnError) {
  const TemporaryFolder folder;
  EXPECT_EQ(code_of([&] { io::write_image(folder / "no/such/folder.png", gradient(2, 2)); }), ErrorCode::io);
}

TEST(Resize, WholeRatioAveragesTheBlock) {
  io::Image image = io::make_image(4, 2);
  const std::uint8_t reds[2][4] = {{0, 10, 100, 200}, {20, 30, 50, 51}};
  for (int y = 0; y < 2; ++y) {
    for (int x = 0; x < 4; ++x) image.pixel(x, y)[0] = reds[y][x];
  }
  const std::vector<float> half = resize(image, 2, 1);
  ASSERT_EQ(half.size(), 6u);
  EXPECT_FLOAT_EQ(half[0], 15.0f);
  EXPECT_FLOAT_EQ(half[3], 100.25f);
  EXPECT_FLOAT_EQ(half[1], 0.0f);
}

TEST(Resize, FractionalRatioWeighsByCoverage) {
  io::Image image = io::make_image(3, 1);
  for (int x = 0; x < 3; ++x) image.pixel(x, 0)[1] = static_cast<std::uint8_t>(30 * (x + 1));
  const std::vector<float> two = resize(image, 2, 1);  // each covers one and a half pixels
  EXPECT_FLOAT_EQ(two[1], (30 + 0.5f * 60) / 1.5f);
  EXPECT_FLOAT_EQ(two[4], (0.5f * 60 + 90) / 1.5f);
}

TEST(Resize, GrowingInterpolatesBetweenPixelCentres) {
  io::Image image = io::make_image(2, 1);
  image.pixel(1, 0)[0] = 100;
  const std::vector<float> four = resize(image, 4, 1);
  const float expected[] = {0, 25, 75, 100};
  for (int x = 0; x < 4; ++x) EXPECT_FLOAT_EQ(four[static_cast<std::size_t>(3 * x)], expected[x]) << x;
}

TEST(Resize, SameSizeIsTheImage) {
  const io::Image image = gradient(5, 3);
  const std::vector<float> same = resize(image, 5, 3);
  for (std::size_t i = 0; i < same.size(); ++i) EXPECT_EQ(same[i], image.rgb[i]) << i;
}

TEST(Resize, NothingToResizeIsAnError) {
  EXPECT_EQ(code_of([] { resize(gradient(2, 2), 0, 4); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { resize(io::Image{}, 4, 4); }), ErrorCode::invalid_argument);
}

TEST(Draw, RectangleIsAnOutlineThatStaysInside) {
  io::Image image = io::make_image(6, 6);
  draw_rectangle(image, 1, 1, 4, 4, {255, 0, 0}, 1);
  int marked = 0;
  for (int y = 0; y < 6; ++y) {
    for (int x = 0; x < 6; ++x) marked += image.pixel(x, y)[0] == 255;
  }
  EXPECT_EQ(marked, 12);
  EXPECT_EQ(image.pixel(2, 2)[0], 0);
  EXPECT_EQ(image.pixel(4, 4)[0], 255);
}

TEST(Draw, LineIsAsWideAsAskedAndStopsAtTheEdges) {
  io::Image image = io::make_image(9, 9);
  draw_line(image, {-1000.0f, 4.5f}, {4.5f, 4.5f}, {200, 0, 0}, 3);
  for (int y = 0; y < 9; ++y) EXPECT_EQ(image.pixel(0, y)[0], y >= 3 && y <= 5 ? 200 : 0) << y;
  EXPECT_EQ(image.pixel(8, 4)[0], 0);
  draw_line(image, {2.0f, 8.0f}, {2.0f, 8.0f}, {0, 100, 0}, 2);  // a dot on the corner of four pixels
  EXPECT_EQ(image.pixel(1, 7)[1], image.pixel(2, 8)[1]);
  EXPECT_GT(image.pixel(2, 7)[1], 50);
}

TEST(Draw, CaptionIsReadableAndStaysInside) {
  io::Image image = io::make_image(60, 16);
  draw_caption(image, 0, 0, "Hi\xC3\xA9", {255, 255, 255}, {0, 0, 90}, 1);
  int text = 0, box = 0;
  for (int y = 0; y < 16; ++y) {
    for (int x = 0; x < 60; ++x) {
      text += image.pixel(x, y)[0] == 255;
      box += image.pixel(x, y)[0] == 0 && image.pixel(x, y)[2] == 90;
    }
  }
  EXPECT_GT(text, 15);
  EXPECT_GT(box, text);
  EXPECT_EQ(image.pixel(59, 15)[2], 0);
  draw_caption(image, -20, -5, "beyond every edge of the picture", {255, 255, 255}, {0, 0, 90}, 4);
}

TEST(Draw, MarksBeyondTheEdgeAreCutOff) {
  io::Image image = io::make_image(4, 4);
  draw_rectangle(image, -100, -100, 100, 100, {1, 2, 3}, 2);
  draw_disc(image, 0, 0, 2, {9, 9, 9});
  draw_disc(image, 50, 50, 3, {7, 7, 7});
  EXPECT_EQ(image.pixel(0, 0)[0], 9);
  EXPECT_EQ(image.pixel(2, 0)[0], 9);
  EXPECT_EQ(image.pixel(2, 2)[0], 0);
  EXPECT_EQ(image.pixel(3, 3)[0], 0);
}

}  // namespace
}  // namespace vellum::samples
