#include "live/frame_source.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "common/resize.hpp"
#include "io/files.hpp"
#include "io/image.hpp"
#include "io/picture_format.hpp"
#include "vellum/error.hpp"

namespace vellum::samples {
namespace {

using Clock = std::chrono::steady_clock;

FrameInput frame_format(FrameFormat format, const SourceOptions& options) {
  FrameInput frame{.format = format,
                   .width = static_cast<uint32_t>(options.width),
                   .height = static_cast<uint32_t>(options.height),
                   .filter = FrameFilter::area};
  frame.bytes();  // refuses sizes out of range
  return frame;
}

// The photo in the middle of a frame, as large as fits.
io::Image fitted(const io::Image& photo, int width, int height) {
  const double scale =
      std::min(static_cast<double>(width) / photo.width, static_cast<double>(height) / photo.height);
  const int inner_width = std::clamp(static_cast<int>(std::lround(photo.width * scale)), 1, width),
            inner_height = std::clamp(static_cast<int>(std::lround(photo.height * scale)), 1, height);
  const std::vector<float> values = resize(photo, inner_width, inner_height);
  io::Image frame = io::make_image(width, height);
  const int left = (width - inner_width) / 2, top = (height - inner_height) / 2;
  auto value = values.begin();
  for (int y = 0; y < inner_height; ++y)
    for (int x = 0; x < 3 * inner_width; ++x)
      frame.pixel(left, top + y)[x] = static_cast<std::uint8_t>(std::lround(*value++));
  return frame;
}

class Photos : public FrameSource {
 public:
  explicit Photos(const SourceOptions& options) : format_(frame_format(FrameFormat::rgb8, options)) {
    const std::filesystem::path name(options.photo);
    if (!std::filesystem::is_directory(name)) {
      photos_.push_back(fitted(io::load_image(options.photo), options.width, options.height));
      return;
    }
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(name)) {
      if (io::is_read(io::picture_format(io::FileName(entry.path())))) files.push_back(entry.path().string());
    }
    std::ranges::sort(files);
    for (const std::string& file : files)
      photos_.push_back(fitted(io::load_image(file), options.width, options.height));
    if (photos_.empty()) throw Error(ErrorCode::not_found, options.photo + " has no PNG, JPEG or BMP files");
  }

  FrameInput format() const override { return format_; }
  bool next(std::span<std::byte> frame) override {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start_).count();
    const io::Image& photo = photos_[static_cast<std::size_t>(seconds) % photos_.size()];
    std::ranges::copy(std::as_bytes(std::span(photo.rgb)), frame.begin());
    return true;
  }

 private:
  FrameInput format_;
  std::vector<io::Image> photos_;
  Clock::time_point start_ = Clock::now();
};

class RawVideo : public FrameSource {
 public:
  explicit RawVideo(const SourceOptions& options)
      : format_(frame_format(FrameFormat::nv12, options)), bytes_(io::read_file(options.nv12)) {
    frames_ = bytes_.size() / format_.bytes();
    if (frames_ == 0)
      throw Error(ErrorCode::io, options.nv12 + " is shorter than one frame of " +
                                     std::to_string(format_.bytes()) +
                                     " bytes: give its size, --width and --height");
  }

  FrameInput format() const override { return format_; }
  bool next(std::span<std::byte> frame) override {
    const std::size_t size = format_.bytes(), begin = next_++ % frames_ * size;
    std::ranges::copy(std::as_bytes(std::span(bytes_).subspan(begin, size)), frame.begin());
    return true;
  }

 private:
  FrameInput format_;
  std::vector<std::uint8_t> bytes_;
  std::size_t frames_ = 0, next_ = 0;
};

std::string quoted(const std::string& argument) {
  std::string result = "'";
  for (const char c : argument) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

// ffmpeg's filters for a picture in the middle of a frame, as large as fits, as fitted() does for photos.
// Pixels that are not square are made so first; NV12 has no odd positions.
std::string fitting_filters(int width, int height) {
  const std::string size = std::to_string(width) + ":" + std::to_string(height);
  return "scale=iw*sar:ih,setsar=1,scale=" + size +
         ":flags=area:force_original_aspect_ratio=decrease:force_divisible_by=2,pad=" + size +
         ":floor((ow-iw)/4)*2:floor((oh-ih)/4)*2";
}

// Frames that ffmpeg writes to a pipe, in the size that was asked for. The first one is read at once, so that
// a file or camera without frames is refused before the window shows anything.
class Ffmpeg : public FrameSource {
 public:
  Ffmpeg(const SourceOptions& options, const std::string& source, const std::string& input)
      : format_(frame_format(FrameFormat::nv12, options)), first_(format_.bytes()) {
    const std::string filters = fitting_filters(options.width, options.height);
    const std::string command =
        "ffmpeg -loglevel fatal -nostdin " + input + " -vf '" + filters + "' -f rawvideo -pix_fmt nv12 -";
    pipe_.reset(popen(command.c_str(), "r"));
    if (!pipe_) throw Error(ErrorCode::io, "cannot start ffmpeg");
    if (!read(first_)) {
      constexpr int kNoSuchProgram = 127;  // the shell's exit status
      const int status = pclose(pipe_.release());
      if (WIFEXITED(status) && WEXITSTATUS(status) == kNoSuchProgram)
        throw Error(ErrorCode::not_found, "--video and --camera need ffmpeg, which is not installed");
      throw Error(ErrorCode::io, "ffmpeg reads no frame of " + source);
    }
  }

  FrameInput format() const override { return format_; }
  bool next(std::span<std::byte> frame) override {
    if (first_.empty()) return read(frame);
    std::ranges::copy(first_, frame.begin());
    first_.clear();
    return true;
  }

 private:
  bool read(std::span<std::byte> frame) {
    return std::fread(frame.data(), 1, frame.size(), pipe_.get()) == frame.size();
  }

  struct Close {
    void operator()(std::FILE* pipe) const { pclose(pipe); }
  };
  FrameInput format_;
  std::vector<std::byte> first_;  // empty once it was given
  std::unique_ptr<std::FILE, Close> pipe_;
};

}  // namespace

std::unique_ptr<FrameSource> open_source(const SourceOptions& options) {
  const std::string* const given[] = {&options.photo, &options.video, &options.camera, &options.nv12};
  if (std::ranges::count_if(given, [](const std::string* one) { return !one->empty(); }) != 1)
    throw Error(ErrorCode::invalid_argument, "give one of --photo, --video, --camera and --nv12");
  if (!options.photo.empty()) return std::make_unique<Photos>(options);
  if (!options.nv12.empty()) return std::make_unique<RawVideo>(options);
  if (!options.video.empty())
    return std::make_unique<Ffmpeg>(options, options.video,
                                    "-re -stream_loop -1 -i " + quoted(options.video));
  const std::string size = std::to_string(options.width) + "x" + std::to_string(options.height);
  return std::make_unique<Ffmpeg>(options, options.camera,
                                  "-f v4l2 -video_size " + size + " -i " + quoted(options.camera));
}

}  // namespace vellum::samples
