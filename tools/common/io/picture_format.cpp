#include "io/picture_format.hpp"

#include <algorithm>
#include <array>
#include <fstream>

#include "vellum/error.hpp"

namespace vellum::io {
namespace {

using namespace std::string_view_literals;

struct Magic {
  std::string_view format;
  std::size_t at;
  std::string_view bytes;
};

constexpr Magic kMagics[] = {
    {"PNG", 0, "\x89PNG"sv},
    {"JPEG", 0, "\xff\xd8\xff"sv},
    {"GIF", 0, "GIF8"sv},
    {"TIFF", 0, "II*\0"sv},
    {"TIFF", 0, "MM\0*"sv},
    {"TIFF", 0, "II+\0"sv},
    {"TIFF", 0, "MM\0+"sv},
    {"AVIF", 4, "ftypavi"sv},
    {"HEIC", 4, "ftyphe"sv},
    {"HEIF", 4, "ftypmif1"sv},
    {"HEIF", 4, "ftypmsf1"sv},
    {"JPEG XL", 0, "\xff\x0a"sv},
    {"JPEG XL", 4, "JXL \r\n\x87\n"sv},
    {"JPEG 2000", 4, "jP  \r\n\x87\n"sv},
    {"JPEG 2000", 0, "\xff\x4f\xff\x51"sv},
    {"Photoshop", 0, "8BPS"sv},
    {"OpenEXR", 0, "\x76\x2f\x31\x01"sv},
    {"QOI", 0, "qoif"sv},
};

bool has(std::span<const std::uint8_t> begin, std::size_t at, std::string_view bytes) {
  return begin.size() >= at + bytes.size() &&
         std::equal(bytes.begin(), bytes.end(), begin.begin() + static_cast<std::ptrdiff_t>(at),
                    [](char want, std::uint8_t got) { return static_cast<std::uint8_t>(want) == got; });
}

// "BM" alone could begin any text: the size of the header that follows is one of a few.
bool is_bmp(std::span<const std::uint8_t> begin) {
  constexpr std::array<std::uint8_t, 7> sizes{12, 40, 52, 56, 64, 108, 124};
  return has(begin, 0, "BM") && begin.size() >= 18 && std::ranges::count(sizes, begin[14]) > 0 &&
         has(begin, 15, "\0\0\0"sv);
}

// PBM, PGM, PPM and PAM: "P6" and white space.
bool is_pnm(std::span<const std::uint8_t> begin) {
  return has(begin, 0, "P") && begin.size() >= 3 && begin[1] >= '1' && begin[1] <= '7' &&
         (begin[2] == '\n' || begin[2] == ' ' || begin[2] == '\r' || begin[2] == '\t');
}

}  // namespace

std::string_view picture_format(std::span<const std::uint8_t> begin) {
  for (const Magic& magic : kMagics)
    if (has(begin, magic.at, magic.bytes)) return magic.format;
  if (has(begin, 0, "RIFF") && has(begin, 8, "WEBP")) return "WebP";
  if (is_bmp(begin)) return "BMP";
  if (is_pnm(begin)) return "PNM";
  return {};
}

std::string_view picture_format(const FileName& file) {
  std::array<std::uint8_t, kFormatBytes> bytes{};
  std::error_code failure;
  // Opening a pipe or a device could wait for ever.
  if (!std::filesystem::is_regular_file(file.path(), failure)) return {};
  std::ifstream stream(file.path(), std::ios::binary);
  stream.read(reinterpret_cast<char*>(bytes.data()), bytes.size());
  return picture_format(std::span(bytes).first(static_cast<std::size_t>(stream.gcount())));
}

bool is_read(std::string_view format) { return format == "PNG" || format == "JPEG" || format == "BMP"; }

PictureEncoding encoding_of(const FileName& file) {
  std::string ending = FileName(file.path().extension()).text();
  for (char& c : ending)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (ending.empty() || ending == ".png") return PictureEncoding::png;
  if (ending == ".jpg" || ending == ".jpeg") return PictureEncoding::jpeg;
  if (ending == ".bmp") return PictureEncoding::bmp;
  throw Error(ErrorCode::invalid_argument,
              file.text() + ": pictures are written as .png, .jpg, .jpeg or .bmp files, not as " + ending);
}

}  // namespace vellum::io
