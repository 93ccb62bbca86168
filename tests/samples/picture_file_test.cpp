// Picture files of every kind that is read, and the errors for others.
#include "io/picture_file.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <tuple>

#include "io/exif.hpp"
#include "io/files.hpp"
#include "io/picture_format.hpp"
#include "picture_files.hpp"
#include "support/errors.hpp"
#include "temporary_folder.hpp"
#include "vellum/error.hpp"

namespace vellum::samples {
namespace {

using Rgba = std::array<int, 4>;

class PictureFile : public testing::Test {
 protected:
  io::Picture load(const FileBytes& file) const {
    io::write_file(folder / "picture", file);
    return io::load_picture(folder / "picture");
  }
  FileBytes encoded(const io::Image& image, const char* name) const {
    io::write_image(folder / name, image);
    return io::read_file(folder / name);
  }
  const TemporaryFolder folder;
};

Rgba pixel_of(const io::Picture& picture, int x, int y) {
  const std::size_t at = 4 * (static_cast<std::size_t>(y) * picture.width + x);
  Rgba pixel{};
  for (std::size_t c = 0; c < 4; ++c)
    pixel[c] = picture.is_deep() ? picture.words[at + c] : picture.bytes[at + c];
  return pixel;
}

// Four quarters that JPEG's blocks keep apart: A B over C D.
io::Image quarters(int width, int height) {
  io::Image image = io::make_image(width, height);
  const std::uint8_t colors[2][2][3] = {{{250, 10, 10}, {10, 250, 10}}, {{10, 10, 250}, {240, 240, 10}}};
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) std::copy_n(colors[2 * y / height][2 * x / width], 3, image.pixel(x, y));
  return image;
}

// Which of A, B, C and D is in each quarter of a picture.
std::string quarters_of(const io::Picture& picture) {
  std::string names;
  for (const int row : {1, 3})
    for (const int column : {1, 3}) {
      const Rgba pixel = pixel_of(picture, column * picture.width / 4, row * picture.height / 4);
      const bool red = pixel[0] > 128, green = pixel[1] > 128;
      names += red && green ? 'D' : red ? 'A' : green ? 'B' : 'C';
    }
  return names;
}

constexpr const char* kUpright[] = {"ABCD", "BADC", "DCBA", "CDAB", "ACBD", "CADB", "DBCA", "BDAC"};

TEST_F(PictureFile, EveryOrientationIsTurnedUpright) {
  const FileBytes jpeg = encoded(quarters(64, 32), "picture.jpg");
  const io::Image image = quarters(64, 32);
  for (std::uint32_t orientation = 1; orientation <= 8; ++orientation)
    for (const bool big_endian : {false, true})
      for (const int type : {3, 4}) {
        const FileBytes exif = exif_data(orientation, {.big_endian = big_endian, .type = type});
        const io::Picture from_jpeg = load(jpeg_with_exif(jpeg, exif)),
                          from_png = load(png_file(64, 32, {.exif = exif}, image.rgb, 64 * 3));
        for (const io::Picture& picture : {from_jpeg, from_png}) {
          EXPECT_EQ(quarters_of(picture), kUpright[orientation - 1]) << orientation << big_endian << type;
          EXPECT_EQ(picture.width, orientation >= 5 ? 32 : 64);
          EXPECT_EQ(picture.height, orientation >= 5 ? 64 : 32);
        }
      }
}

TEST_F(PictureFile, OrientationsThatAreNoneAreIgnored) {
  const FileBytes jpeg = encoded(quarters(64, 32), "picture.jpg");
  EXPECT_EQ(io::orientation_of_jpeg(jpeg), 1);
  for (const std::uint32_t value : {0u, 9u, 255u, 65535u})
    EXPECT_EQ(io::orientation_of_exif(exif_data(value, {})), 1) << value;
  EXPECT_EQ(io::orientation_of_exif(exif_data(6, {.count = 0xffffffff})), 1);
  EXPECT_EQ(io::orientation_of_exif(exif_data(6, {.type = 5})), 1) << "a fraction elsewhere";
  EXPECT_EQ(io::orientation_of_exif(exif_data(0x10006, {.type = 4})), 1) << "not cut to 16 bits";
}

// Nothing is read beyond the data (under the address sanitizer), and the picture stays readable.
TEST_F(PictureFile, CorruptExifIsHarmless) {
  constexpr std::uint32_t seed = 5;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const FileBytes jpeg = encoded(quarters(16, 8), "picture.jpg");
  for (const bool big_endian : {false, true}) {
    const FileBytes whole = exif_data(6, {.big_endian = big_endian});
    for (std::size_t length = 0; length <= whole.size(); ++length) {
      const FileBytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
      const int orientation = io::orientation_of_exif(cut);
      EXPECT_TRUE(orientation == 1 || orientation == 6) << length;
      EXPECT_EQ(load(jpeg_with_exif(jpeg, cut)).width, orientation == 6 ? 8 : 16) << length;
    }
    for (int i = 0; i < 20'000; ++i) {
      FileBytes exif = whole;
      for (int k = 0; k < 3; ++k) exif[random() % exif.size()] = static_cast<std::uint8_t>(random());
      const int orientation = io::orientation_of_exif(exif);
      EXPECT_TRUE(orientation >= 1 && orientation <= 8);
    }
  }
  for (int i = 0; i < 2'000; ++i) {
    FileBytes file = jpeg_with_exif(jpeg, exif_data(6, {}));
    for (int k = 0; k < 4; ++k) file[2 + random() % 60] = static_cast<std::uint8_t>(random());
    EXPECT_GE(io::orientation_of_jpeg(file), 1);
    io::jpeg_is_whole(file);
  }
}

TEST_F(PictureFile, AlphaIsThatOfTheFile) {
  const io::Picture rgba = load(png_file(2, 1, {.color_type = 6}, {10, 20, 30, 40, 50, 60, 70, 255}, 8));
  EXPECT_EQ(pixel_of(rgba, 0, 0), (Rgba{10, 20, 30, 40}));
  EXPECT_EQ(pixel_of(rgba, 1, 0), (Rgba{50, 60, 70, 255}));
  EXPECT_TRUE(rgba.has_alpha);
  const io::Picture grey_alpha = load(png_file(2, 1, {.color_type = 4}, {10, 40, 50, 255}, 4));
  EXPECT_EQ(pixel_of(grey_alpha, 0, 0), (Rgba{10, 10, 10, 40}));
  EXPECT_TRUE(grey_alpha.has_alpha);
  const PngKind palette{.depth = 8, .color_type = 3, .palette = {1, 2, 3, 4, 5, 6}, .transparency = {128}};
  const io::Picture indexed = load(png_file(2, 1, palette, {1, 0}, 2));
  EXPECT_EQ(pixel_of(indexed, 0, 0), (Rgba{4, 5, 6, 255}));
  EXPECT_EQ(pixel_of(indexed, 1, 0), (Rgba{1, 2, 3, 128}));
  EXPECT_TRUE(indexed.has_alpha);
  const PngKind keyed{.color_type = 2, .transparency = {0, 9, 0, 8, 0, 7}};  // one colour is clear
  const io::Picture clear = load(png_file(2, 1, keyed, {9, 8, 7, 9, 8, 6}, 6));
  EXPECT_EQ(pixel_of(clear, 0, 0)[3], 0);
  EXPECT_EQ(pixel_of(clear, 1, 0), (Rgba{9, 8, 6, 255}));
  EXPECT_TRUE(clear.has_alpha);
}

TEST_F(PictureFile, WithoutAlphaItIsOpaque) {
  for (const auto& [kind, row] : {std::tuple<PngKind, FileBytes>{{.color_type = 2}, {10, 20, 30}},
                                  {{.color_type = 0}, {10}},
                                  {{.color_type = 3, .palette = {10, 20, 30}}, {0}},
                                  {{.color_type = 6}, {10, 20, 30, 255}}}) {
    const io::Picture picture = load(png_file(1, 1, kind, row, row.size()));
    EXPECT_EQ(pixel_of(picture, 0, 0)[3], 255) << kind.color_type;
    EXPECT_EQ(pixel_of(picture, 0, 0)[0], 10) << kind.color_type;
    EXPECT_FALSE(picture.has_alpha) << kind.color_type;
  }
  EXPECT_FALSE(load(encoded(quarters(16, 8), "picture.jpg")).has_alpha);
  EXPECT_FALSE(load(encoded(quarters(16, 8), "picture.bmp")).has_alpha);
}

TEST_F(PictureFile, SixteenBitsStay) {
  const io::Picture deep = load(png_file(1, 1, {.depth = 16}, {0x12, 0x34, 0x00, 0x80, 0xff, 0xff}, 6));
  ASSERT_TRUE(deep.is_deep());
  EXPECT_EQ(pixel_of(deep, 0, 0), (Rgba{0x1234, 0x0080, 0xffff, 0xffff}));
  EXPECT_FALSE(deep.has_alpha);
  EXPECT_EQ(pixel_of(io::with_bytes(deep), 0, 0), (Rgba{0x12, 0, 255, 255})) << "rounded";
  const io::Picture grey = load(png_file(1, 1, {.depth = 16, .color_type = 4}, {0x12, 0x34, 0x56, 0x78}, 4));
  EXPECT_EQ(pixel_of(grey, 0, 0), (Rgba{0x1234, 0x1234, 0x1234, 0x5678}));
  EXPECT_TRUE(grey.has_alpha);
  for (const int depth : {1, 2, 4, 8}) {
    const io::Picture shallow = load(png_file(1, 1, {.depth = depth, .color_type = 0}, {0xff}, 1));
    EXPECT_EQ(pixel_of(shallow, 0, 0), (Rgba{255, 255, 255, 255})) << depth;
    EXPECT_FALSE(shallow.is_deep());
  }
  io::write_file(folder / "deep.png", png_file(1, 1, {.depth = 16}, {0x12, 0xb4, 0x00, 0x81, 0xff, 0xff}, 6));
  EXPECT_EQ(io::load_image(folder / "deep.png").rgb, (std::vector<std::uint8_t>{0x13, 1, 255}))
      << "rounded, not cut";
}

TEST_F(PictureFile, IsWrittenAsItsNameSays) {
  const io::Image image = quarters(32, 16);
  for (const auto& [name, format] : {std::pair{"a.png", "PNG"},
                                     {"a.jpg", "JPEG"},
                                     {"a.JPEG", "JPEG"},
                                     {"a.bmp", "BMP"},
                                     {"a.Png", "PNG"},
                                     {"plain", "PNG"}}) {
    io::write_image(folder / name, image);
    EXPECT_EQ(io::picture_format(io::FileName(folder / name)), format) << name;
    EXPECT_EQ(quarters_of(io::load_picture(folder / name)), "ABCD") << name;
    if (std::string_view(format) != "JPEG") {
      EXPECT_EQ(io::load_image(folder / name).rgb, image.rgb) << name;
    }
  }
  for (const char* name : {"a.webp", "a.tga", "a.npy", "a.png.tmp"})
    EXPECT_VELLUM_ERROR(io::write_image(folder / name, image), ErrorCode::invalid_argument, name);
  EXPECT_VELLUM_ERROR(io::require_encodable("a.jpg", 70'000, 5), ErrorCode::unsupported, "70000x5");
}

TEST_F(PictureFile, OtherFormatsAreRefusedByName) {
  using namespace std::string_view_literals;
  for (const auto& [begin, format] : {std::pair{"RIFF\x10\0\0\0WEBPVP8 "sv, "WebP"},
                                      {"GIF89a"sv, "GIF"},
                                      {"II*\0\x08\0\0\0"sv, "TIFF"},
                                      {"MM\0*\0\0\0\x08"sv, "TIFF"},
                                      {"\0\0\0\x20"
                                       "ftypavif\0\0\0\0"sv,
                                       "AVIF"},
                                      {"\0\0\0\x20"
                                       "ftypheic\0\0\0\0"sv,
                                       "HEIC"},
                                      {"\0\0\0\x20"
                                       "ftypmif1\0\0\0\0"sv,
                                       "HEIF"},
                                      {"\xff\x0a\0\0"sv, "JPEG XL"},
                                      {"P6\n4 4\n255\n"sv, "PNM"}}) {
    FileBytes file;
    append_text(file, begin);
    EXPECT_VELLUM_ERROR(load(file), ErrorCode::unsupported, format);
  }
  FileBytes text;
  append_text(text, "BMX is a bicycle, and this is a text that begins as a BMP does");
  EXPECT_VELLUM_ERROR(load(text), ErrorCode::invalid_argument, "no picture");
  EXPECT_EQ(io::picture_format(io::FileName(folder / "absent")), "");
  EXPECT_EQ(io::picture_format(io::FileName(folder / ".")), "");
}

// The decoder alone would fill the rest with any colour.
TEST_F(PictureFile, FilesThatEndEarlyAreRefused) {
  for (const char* name : {"picture.png", "picture.jpg", "picture.bmp"}) {
    FileBytes file = encoded(quarters(200, 100), name);
    for (const std::size_t part : {1, 2, 3, 9}) {
      const FileBytes cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(file.size() * part / 10));
      EXPECT_VELLUM_ERROR(load(cut), ErrorCode::invalid_argument, "picture") << name << part;
    }
    append_text(file, "what follows the picture");
    EXPECT_EQ(quarters_of(load(file)), "ABCD") << name;
  }
}

}  // namespace
}  // namespace vellum::samples
