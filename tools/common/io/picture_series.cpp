#include "io/picture_series.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <map>

#include "io/picture_format.hpp"
#include "vellum/error.hpp"

#ifndef _WIN32
#include <sys/wait.h>
#endif

namespace vellum::io {
namespace {

namespace fs = std::filesystem;

bool is_video(const fs::path& path) {
  static constexpr std::array extensions{".avi", ".flv", ".gif",  ".m4v", ".mkv", ".mov", ".mp4",
                                         ".mpg", ".ogv", ".mpeg", ".ts",  ".wmv", ".y4m", ".webm"};
  std::string extension = FileName(path.extension()).text();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::ranges::find(extensions, extension) != extensions.end();
}

bool is_pattern(const FileName& argument) {
  std::error_code ignored;
  return argument.last_part().find_first_of("*?") != std::string::npos &&
         !fs::exists(argument.path(), ignored);
}

// Whether a name fits a pattern: '*' stands for any characters, '?' for one.
bool fits(const std::string& pattern, const std::string& name) {
  std::size_t p = 0, n = 0, star = std::string::npos, after_star = 0;
  while (n < name.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || (pattern[p] == name[n] && pattern[p] != '*'))) {
      ++p, ++n;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++, after_star = n;
    } else if (star != std::string::npos) {
      p = star + 1, n = ++after_star;  // the last '*' takes one character more
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string::npos;
}

// The pictures of a folder or pattern, in the order of their names.
std::vector<fs::path> find_pictures(const FileName& argument) {
  std::error_code failure;
  const bool folder = fs::is_directory(argument.path(), failure);
  const fs::path in = folder                              ? argument.path()
                      : argument.path().has_parent_path() ? argument.path().parent_path()
                                                          : fs::path(".");
  std::vector<fs::path> files;
  for (fs::directory_iterator entry(in, failure), end; !failure && entry != end; entry.increment(failure)) {
    const FileName name(entry->path());
    if (!folder && !fits(argument.last_part(), name.last_part())) continue;
    if (entry->is_regular_file(failure) && is_read(picture_format(name))) files.push_back(entry->path());
  }
  if (files.empty())
    throw Error(ErrorCode::not_found, argument.text() +
                                          (folder ? ": the folder has" : ": the pattern finds") +
                                          " no PNG, JPEG or BMP files");
  std::ranges::sort(files);
  return files;
}

// Stems, or whole names where two files have the same stem.
std::vector<std::string> labels_of(const std::vector<fs::path>& files) {
  std::map<std::string, std::size_t> uses;
  for (const fs::path& file : files) ++uses[FileName(file).stem()];
  std::vector<std::string> labels;
  for (const fs::path& file : files) {
    const FileName name(file);
    labels.push_back(uses[name.stem()] == 1 ? name.stem() : name.last_part());
  }
  return labels;
}

#ifdef _WIN32
std::FILE* open_video(const FileName& file) {
  throw Error(ErrorCode::unsupported,
              file.text() + ": videos are not read on Windows; write their frames to a folder");
}
int close_video(std::FILE*) { return 0; }
bool has_no_program(int) { return false; }
#else
std::string quoted(const std::string& argument) {
  std::string result = "'";
  for (const char c : argument) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

// Frames as PPM files, one after the other: each says its size. "file:" keeps ffmpeg from reading a name as a
// protocol.
std::FILE* open_video(const FileName& file) {
  const std::string command = "ffmpeg -loglevel fatal -nostdin -i " + quoted("file:" + file.text()) +
                              " -vf scale=iw*sar:ih,setsar=1 -f image2pipe -c:v ppm -";
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (!pipe) throw Error(ErrorCode::io, "cannot start ffmpeg");
  return pipe;
}
int close_video(std::FILE* pipe) { return pclose(pipe); }
bool has_no_program(int status) {
  constexpr int kNoSuchProgram = 127;  // the shell's exit status
  return WIFEXITED(status) && WEXITSTATUS(status) == kNoSuchProgram;
}
#endif

}  // namespace

bool is_picture_series(const FileName& argument) {
  std::error_code ignored;
  return fs::is_directory(argument.path(), ignored) || is_pattern(argument) || is_video(argument.path());
}

void PictureSeries::Close::operator()(std::FILE* pipe) const { close_video(pipe); }

PictureSeries::PictureSeries(const FileName& argument) {
  std::error_code ignored;
  if (fs::is_directory(argument.path(), ignored) || is_pattern(argument)) {
    files_ = find_pictures(argument);
    labels_ = labels_of(files_);
    return;
  }
  video_ = argument.text();
  stem_ = argument.stem();
  if (!fs::exists(argument.path(), ignored)) throw Error(ErrorCode::not_found, video_ + ": no such file");
  pipe_.reset(open_video(argument));
  if (read_frame()) return;
  if (has_no_program(close_video(pipe_.release())))
    throw Error(ErrorCode::not_found, video_ + ": videos need ffmpeg, which is not installed");
  throw Error(ErrorCode::io, "ffmpeg reads no frame of " + video_);
}

bool PictureSeries::read_frame() {
  frame_ = {};
  constexpr int kMostSide = 32768, kMostPixels = 1 << 26;
  int width = 0, height = 0;
  if (std::fscanf(pipe_.get(), "P6 %d %d 255", &width, &height) != 2 || std::fgetc(pipe_.get()) != '\n')
    return false;
  if (width < 1 || height < 1 || width > kMostSide || height > kMostPixels / width)
    throw Error(ErrorCode::unsupported, video_ + ": frames of " + std::to_string(width) + "x" +
                                            std::to_string(height) + " pixels; at most " +
                                            std::to_string(kMostPixels) + " are read");
  const std::size_t pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  std::vector<std::uint8_t> rgb(3 * pixels);
  if (std::fread(rgb.data(), 1, rgb.size(), pipe_.get()) != rgb.size()) return false;
  Picture frame{.width = width, .height = height, .bytes = {}, .words = {}};
  frame.bytes.resize(4 * pixels, 255);
  for (std::size_t i = 0; i < pixels; ++i) std::copy_n(&rgb[3 * i], 3, &frame.bytes[4 * i]);
  frame_ = std::move(frame);
  return true;
}

std::optional<PictureSeries::Item> PictureSeries::next() {
  if (!pipe_) {
    if (position_ == files_.size()) return std::nullopt;
    const std::size_t index = position_++;
    return Item{FileName(files_[index]).text(), labels_[index], 0};
  }
  if (position_ > 0 && !read_frame()) return std::nullopt;
  std::string number = std::to_string(++position_);
  number.insert(0, number.size() < 6 ? 6 - number.size() : 0, '0');
  return Item{video_, stem_ + "/" + number, position_};
}

Picture PictureSeries::load() const { return pipe_ ? frame_ : load_picture(files_.at(position_ - 1)); }

}  // namespace vellum::io
