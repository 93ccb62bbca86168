#include "ocr/reading.hpp"

#include <algorithm>
#include <cmath>

#include "common/region.hpp"
#include "io/files.hpp"
#include "vellum/error.hpp"

namespace vellum::samples {

std::vector<float> line_strip(const io::Image& image, const TextLine& line, int width, int height) {
  const float scale = static_cast<float>(height) / std::max(line.height(), 1.0f);
  const int text_width = std::clamp(static_cast<int>(std::lround(line.width() * scale)), 1, width);
  const std::vector<float> rgb =
      cut_out(image, {line.corners[0], line.corners[1], line.corners[3]}, text_width, height);
  const std::size_t plane = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  std::vector<float> strip(3 * plane);
  for (std::size_t i = 0; i < rgb.size() / 3; ++i) {
    const auto columns = static_cast<std::size_t>(text_width);
    const std::size_t to = i / columns * static_cast<std::size_t>(width) + i % columns;
    for (std::size_t channel = 0; channel < 3; ++channel)
      strip[channel * plane + to] = rgb[3 * i + 2 - channel] / 127.5f - 1;
  }
  return strip;
}

std::vector<std::string> read_characters(const io::FileName& file) {
  std::vector<std::string> characters = io::read_lines(file);
  characters.insert(characters.begin(), "");
  characters.emplace_back(" ");
  return characters;
}

ReadText spell(std::span<const float> probabilities, std::size_t classes,
               const std::vector<std::string>& characters) {
  if (classes == 0 || classes != characters.size() || probabilities.size() % classes != 0) {
    throw Error(ErrorCode::invalid_argument, "the text reader has " + std::to_string(classes) +
                                                 " classes, but the characters' file makes " +
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
