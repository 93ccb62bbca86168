// The two ends of the live sample's test: makes a raw NV12 video in which a photo moves, and looks for the
// box around the face in a screenshot.
//   live_video make PHOTO VIDEO WIDTH HEIGHT FRAMES
//   live_video check SCREENSHOT LEFT TOP RIGHT BOTTOM
//   live_video color SCREENSHOT X Y RED GREEN BLUE     whether the pixel has this colour, nearly
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "io/files.hpp"
#include "io/image.hpp"
#include "nv12_frame.hpp"

namespace {

using vellum::io::Image;

void make(const std::vector<std::string>& arguments) {
  const Image photo = vellum::io::load_image(arguments.at(0));
  const int width = std::stoi(arguments.at(2)), height = std::stoi(arguments.at(3)),
            frames = std::stoi(arguments.at(4));
  std::vector<std::uint8_t> video;
  for (int i = 0; i < frames; ++i) {
    const std::vector<std::uint8_t> frame = vellum::samples::nv12_frame(
        photo, width, height, (width - photo.width) / 2 + 2 * i, (height - photo.height) / 2);
    video.insert(video.end(), frame.begin(), frame.end());
  }
  vellum::io::write_file(arguments.at(1), video);
}

// The sample draws outlines in one colour that the photo does not have.
bool is_outline(const std::uint8_t* rgb) { return rgb[0] == 0 && rgb[1] == 230 && rgb[2] == 64; }

int check(const std::vector<std::string>& arguments) {
  const Image image = vellum::io::load_image(arguments.at(0));
  int left = image.width, top = image.height, right = -1, bottom = -1, inside = 0;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      if (!is_outline(image.pixel(x, y))) continue;
      left = std::min(left, x), right = std::max(right, x);
      top = std::min(top, y), bottom = std::max(bottom, y);
      ++inside;
    }
  }
  // Within some pixels, and a frame of lines, not an area.
  const int found[] = {left, top, right, bottom};
  bool is_there = inside > right - left && inside < (right - left) * (bottom - top) / 4;
  for (std::size_t i = 0; i < 4; ++i) is_there &= std::abs(found[i] - std::stoi(arguments.at(i + 1))) <= 8;
  // The face itself is below the box: skin in its middle.
  const std::uint8_t* middle = image.pixel((left + right) / 2, (top + bottom) / 2);
  is_there = is_there && middle[0] > 120 && middle[0] > middle[2];
  std::printf("the box is at %d, %d to %d, %d\n", left, top, right, bottom);
  return is_there ? 0 : 1;
}

int check_color(const std::vector<std::string>& arguments) {
  const Image image = vellum::io::load_image(arguments.at(0));
  const std::uint8_t* pixel = image.pixel(std::stoi(arguments.at(1)), std::stoi(arguments.at(2)));
  std::printf("the pixel is %d, %d, %d\n", pixel[0], pixel[1], pixel[2]);
  for (std::size_t i = 0; i < 3; ++i)
    if (std::abs(pixel[i] - std::stoi(arguments.at(3 + i))) > 12) return 1;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + std::min(argc, 2), argv + argc);
  try {
    if (argc > 1 && std::string(argv[1]) == "check") return check(arguments);
    if (argc > 1 && std::string(argv[1]) == "color") return check_color(arguments);
    make(arguments);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "live_video: %s\n", error.what());
    return 1;
  }
}
