// Pictures that one argument names: the files of a folder or of a pattern, or the frames of a video.
#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/file_name.hpp"
#include "io/picture_file.hpp"

namespace vellum::io {

// Returns whether the argument names more than one picture: a folder, a pattern such as "photos/*.jpg" (the
// folder itself has no '*' and '?') if no file has that name, or a file with the extension of a video.
bool is_picture_series(const FileName& argument);

// Reads the pictures one at a time, in the order of their names or as the video has them.
class PictureSeries {
 public:
  // Throws vellum::Error: not_found for a folder or pattern without PNG, JPEG and BMP files, for a missing
  // video and without ffmpeg, which decodes videos; io for a video that ffmpeg cannot read.
  explicit PictureSeries(const FileName& argument);

  struct Item {
    std::string file;   // the picture's, or the video
    std::string label;  // unique in the series, and fit for a file name: "photo", or "video/000001"
    std::size_t frame;  // of a video, from 1; 0 for a picture file
  };
  // Returns the next picture's names, or nothing after the last one.
  std::optional<Item> next();
  // Returns the pixels of the picture that next() returned. Throws the errors of load_picture().
  Picture load() const;

  // Returns the number of pictures; 0 for a video, whose frames are not counted.
  std::size_t count() const { return files_.size(); }

 private:
  bool read_frame();

  struct Close {
    void operator()(std::FILE* pipe) const;
  };
  std::vector<std::filesystem::path> files_;
  std::vector<std::string> labels_;  // of the files
  std::size_t position_ = 0;         // number of pictures that next() returned
  std::string video_;
  std::string stem_;  // of the video
  Picture frame_;     // the video's: the first one, then the one that next() read
  std::unique_ptr<std::FILE, Close> pipe_;
};

}  // namespace vellum::io
