#include "ocr/reading.hpp"

#include <algorithm>
#include <cmath>

#include "common/files.hpp"
#include "vellum/error.hpp"

namespace vellum::samples {
namespace {

// Linear between pixel centres, the border repeated.
float sample(const Image& image, Point at, int channel) {
  const float x = std::clamp(at.x - 0.5f, 0.0f, static_cast<float>(image.width - 1));
  const float y = std::clamp(at.y - 0.5f, 0.0f, static_cast<float>(image.height - 1));
  const int left = static_cast<int>(x), top = static_cast<int>(y);
  const int right = std::min(left + 1, image.width - 1), bottom = std::min(top + 1, image.height - 1);
  const float u = x - static_cast<float>(left), v = y - static_cast<float>(top);
  const auto value = [&](int column, int row) {
    return static_cast<float>(image.pixel(column, row)[channel]);
  };
  return (value(left, top) * (1 - u) + value(right, top) * u) * (1 - v) +
         (value(left, bottom) * (1 - u) + value(right, bottom) * u) * v;
}

}  // namespace

std::vector<float> line_strip(const Image& image, const TextLine& line, int width, int height) {
  const float scale = static_cast<float>(height) / std::max(line.height(), 1.0f);
  const int text_width = std::clamp(static_cast<int>(std::lround(line.width() * scale)), 1, width);
  const auto [corner, right, opposite, down] = line.corners;
  const std::size_t plane = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  std::vector<float> strip(3 * plane);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < text_width; ++x) {
      const float u = (static_cast<float>(x) + 0.5f) / static_cast<float>(text_width);
      const float v = (static_cast<float>(y) + 0.5f) / static_cast<float>(height);
      const Point at{corner.x + u * (right.x - corner.x) + v * (down.x - corner.x),
                     corner.y + u * (right.y - corner.y) + v * (down.y - corner.y)};
      const std::size_t to =
          static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
      for (int channel = 0; channel < 3; ++channel)
        strip[static_cast<std::size_t>(channel) * plane + to] = sample(image, at, 2 - channel) / 127.5f - 1;
    }
  }
  return strip;
}

std::vector<std::string> read_characters(const std::filesystem::path& path) {
  std::vector<std::string> characters{""};
  std::string line;
  for (const std::uint8_t byte : read_file(path)) {
    if (byte == '\n') {
      characters.push_back(std::move(line));
      line.clear();
    } else if (byte != '\r') {
      line += static_cast<char>(byte);
    }
  }
  if (!line.empty()) characters.push_back(line);
  characters.emplace_back(" ");
  return characters;
}

ReadText spell(std::span<const float> probabilities, std::size_t classes,
               const std::vector<std::string>& characters) {
  if (classes == 0 || classes != characters.size() || probabilities.size() % classes != 0) {
    throw Error(ErrorCode::invalid_argument, "the text reader tells " + std::to_string(classes) +
                                                 " classes apart, but the characters' file makes " +
                                                 std::to_string(characters.size()) + " of them");
  }
  ReadText read;
  std::size_t last = 0, count = 0;
  for (std::size_t step = 0; step < probabilities.size(); step += classes) {
    const auto scores = probabilities.subspan(step, classes);
    const auto best =
        static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
    if (best != 0 && best != last) {
      read.text += characters[best];
      read.confidence += scores[best];
      ++count;
    }
    last = best;
  }
  if (count) read.confidence /= static_cast<float>(count);
  return read;
}

}  // namespace vellum::samples
