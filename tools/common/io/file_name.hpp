// The name of a file, as text in UTF-8 or as a path.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

namespace vellum::io {

// The parameter of functions that open a file. On Windows std::filesystem::path converts char in the code
// page of the process, but the command line is UTF-8 (cmake/windows/program.manifest).
class FileName {
 public:
  FileName(std::filesystem::path path) : path_(std::move(path)) {}
  FileName(const std::string& utf8) : path_(std::u8string(utf8.begin(), utf8.end())) {}
  FileName(const char* utf8) : FileName(std::string(utf8)) {}

  const std::filesystem::path& path() const { return path_; }
  // The name in UTF-8.
  std::string text() const {
    const std::u8string utf8 = path_.u8string();
    return std::string(utf8.begin(), utf8.end());
  }
  // Return the name without its folder, and without its folder and extension.
  std::string last_part() const { return FileName(path_.filename()).text(); }
  std::string stem() const { return FileName(path_.stem()).text(); }

 private:
  std::filesystem::path path_;
};

}  // namespace vellum::io
