#include "io/files.hpp"

#include <fstream>
#include <string>
#include <system_error>

#include "vellum/error.hpp"

namespace vellum::io {

std::vector<std::uint8_t> read_file(const FileName& file) {
  const std::filesystem::path& path = file.path();
  std::error_code failure;
  if (!std::filesystem::exists(path, failure)) {
    throw Error(ErrorCode::not_found, file.text() + ": no such file");
  }
  // Opening a pipe or a device could wait for ever.
  if (!std::filesystem::is_regular_file(path, failure)) {
    throw Error(ErrorCode::io, file.text() + ": is a folder, a device or a pipe, not a file");
  }
  const std::uintmax_t size = std::filesystem::file_size(path, failure);
  std::ifstream stream(path, std::ios::binary);
  if (failure || !stream) {
    throw Error(ErrorCode::io, file.text() + ": cannot be read" + (failure ? ": " + failure.message() : ""));
  }
  std::vector<std::uint8_t> bytes(size);
  stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (static_cast<std::uintmax_t>(stream.gcount()) != size) {
    throw Error(ErrorCode::io, file.text() + ": reading stopped before the end of the file");
  }
  return bytes;
}

std::vector<std::string> read_lines(const FileName& file) {
  std::vector<std::string> lines;
  std::string line;
  const auto end_line = [&] {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(std::move(line));
    line.clear();
  };
  for (const std::uint8_t byte : read_file(file)) {
    if (byte == '\0') throw Error(ErrorCode::invalid_argument, file.text() + ": is no text file");
    if (byte == '\n') {
      end_line();
    } else {
      line += static_cast<char>(byte);
    }
  }
  if (!line.empty()) end_line();
  return lines;
}

void write_file(const FileName& file, std::span<const std::uint8_t> bytes) {
  const std::filesystem::path& path = file.path();
  std::filesystem::path unfinished = path;
  unfinished += ".part";
  std::ofstream stream(unfinished, std::ios::binary | std::ios::trunc);
  stream.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  stream.close();
  std::error_code failure;
  if (stream) {
    std::filesystem::rename(unfinished, path, failure);
  }
  if (!stream || failure) {
    std::error_code ignored;
    std::filesystem::remove(unfinished, ignored);
    throw Error(ErrorCode::io, file.text() + ": cannot be written" +
                                   (failure ? ": " + failure.message() : "") +
                                   "; check the folder, its permissions and the free space");
  }
}

void write_text(const FileName& file, std::string_view text) {
  write_file(file, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

}  // namespace vellum::io
