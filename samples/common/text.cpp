#include "common/text.hpp"

#include <stb/stb_easy_font.h>

#include <array>
#include <cmath>
#include <cstring>
#include <vector>

namespace vellum::samples {
namespace {

// As stb_easy_font lays a vertex out.
struct Vertex {
  float x, y, z;
  std::array<unsigned char, 4> color;
};
using Quad = std::array<Vertex, 4>;
static_assert(sizeof(Quad) == 64);

std::string printable(std::string text) {
  for (char& character : text)
    if (character < ' ' || character > '~') character = '?';
  return text;
}

// In the font's own pixels.
std::vector<Quad> quads_of(const std::string& text) {
  std::string characters = printable(text);
  std::vector<Quad> quads(32 * (characters.size() + 1));  // no character has more strokes
  const int count = stb_easy_font_print(0, 0, characters.data(), nullptr, quads.data(),
                                        static_cast<int>(quads.size() * sizeof(Quad)));
  quads.resize(static_cast<std::size_t>(count));
  return quads;
}

}  // namespace

void draw_text(io::Image& image, int left, int top, const std::string& text, Color color, int scale) {
  for (const Quad& quad : quads_of(text)) {
    const auto x = [&](const Vertex& vertex) {
      return left + static_cast<int>(std::lround(vertex.x)) * scale;
    };
    const auto y = [&](const Vertex& vertex) {
      return top + static_cast<int>(std::lround(vertex.y)) * scale;
    };
    fill_rectangle(image, x(quad[0]), y(quad[0]), x(quad[2]) - 1, y(quad[2]) - 1, color);
  }
}

int text_width(const std::string& text, int scale) {
  std::string characters = printable(text);
  return scale * stb_easy_font_width(characters.data());
}

void draw_caption(io::Image& image, int left, int top, const std::string& text, Color text_color,
                  Color box_color, int scale) {
  fill_rectangle(image, left, top, left + text_width(text, scale) + 2 * scale - 1, top + 11 * scale - 1,
                 box_color);
  draw_text(image, left + scale, top + 2 * scale, text, text_color, scale);
}

}  // namespace vellum::samples
