#include "import/onnx/external_data.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <system_error>

#include "import/onnx/names.hpp"
#include "platform/mapped_file.hpp"
#include "platform/system_message.hpp"
#include "platform/utf8_path.hpp"
#include "vellum/error.hpp"

namespace vellum::onnx {
namespace {

namespace fs = std::filesystem;

struct Location {
  std::string file;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};

uint64_t parse_number(const std::string& text, const std::string& key, const std::string& what) {
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) {
    throw Error(ErrorCode::corrupt_model,
                what + ": external data: '" + key + "' is not a number of bytes: " + quoted_name(text));
  }
  return number;
}

Location parse_location(const schema::TensorProto& tensor, const std::string& what) {
  Location location;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") location.file = entry.value();
    if (entry.key() == "offset") location.offset = parse_number(entry.value(), entry.key(), what);
    if (entry.key() == "length") location.length = parse_number(entry.value(), entry.key(), what);
  }
  if (location.file.empty())
    throw Error(ErrorCode::corrupt_model, what + ": external data without a location");
  return location;
}

fs::path path_of(const std::string& location, const std::string& what) {
  try {
    return platform::utf8_path(location);
  } catch (const Error& error) {
    throw Error(ErrorCode::corrupt_model, what + ": external data: " + error.what());
  }
}

// Returns whether a file is in a folder. Both paths are canonical: they contain no links.
bool is_within(const fs::path& file, const fs::path& folder) {
  const auto [in_folder, in_file] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return in_folder == folder.end() && in_file != file.end();
}

// A folder for links that cannot be read is the caller's mistake, not the file's.
bool is_allowed_link(const fs::path& file, const fs::path& links_within, const std::string& what) {
  if (links_within.empty()) return false;
  std::error_code error;
  const fs::path folder = fs::canonical(links_within, error);
  if (error)
    throw Error(ErrorCode::invalid_argument, what + ": LoadLimits::links_within " +
                                                 platform::to_utf8(links_within) + ": " +
                                                 platform::system_message(error));
  return is_within(file, folder);
}

// A model file is untrusted. It must not cause /etc/passwd to be read into a tensor that an application then
// shows.
fs::path resolve(const std::string& location, const std::string& what, const ExternalFiles& files) {
  const auto refuse = [&](const std::string& why) {
    return Error(ErrorCode::corrupt_model, what + ": external data " + quoted_name(location) + " " + why);
  };
  if (location.find('\0') != std::string::npos) throw refuse("has a zero byte in its name");
  const fs::path relative = path_of(location, what);
  if (relative.is_absolute() || relative.has_root_path())
    throw refuse("must be a path relative to the model");
  if (std::find(relative.begin(), relative.end(), fs::path("..")) != relative.end()) {
    throw refuse("must not leave the model's folder");
  }
  std::error_code error;
  const fs::path root = fs::canonical(files.folder(), error);
  if (error) throw refuse("cannot be read: the model's folder: " + platform::system_message(error));
  fs::path file = fs::canonical(root / relative, error);
  if (error) {
    throw Error(ErrorCode::not_found, what + ": external data " + quoted_name(location) + " not found in " +
                                          platform::to_utf8(root) + ": " + platform::system_message(error));
  }
  if (!is_within(file, root) && !is_allowed_link(file, files.links_within(), what))
    throw refuse(
        "must not leave the model's folder through a symbolic link" +
        (files.links_within().empty()
             ? std::string("; LoadLimits::links_within (--load-limit links-within=FOLDER) may name a "
                           "folder into which links may lead")
             : ", nor " + platform::to_utf8(files.links_within()) + ", the folder for links"));
  if (!fs::is_regular_file(file, error)) throw refuse("is not a regular file");
  return file;
}

void check_range(const Location& location, uint64_t expected, uint64_t file_size, const std::string& what) {
  if (location.length && *location.length != expected) {
    throw Error(ErrorCode::corrupt_model,
                what + ": external data: length " + std::to_string(*location.length) +
                    ", but its type and dims need " + std::to_string(expected) + " bytes");
  }
  if (location.offset > file_size || expected > file_size - location.offset) {
    throw Error(ErrorCode::corrupt_model,
                what + ": external data: bytes " + std::to_string(location.offset) + " to " +
                    std::to_string(location.offset) + "+" + std::to_string(expected) + " are not in " +
                    quoted_name(location.file) + ", which has " + std::to_string(file_size));
  }
}

}  // namespace

void ExternalFiles::count(const fs::path& file, uint64_t file_bytes, uint64_t bytes,
                          const std::string& what) {
  constexpr uint64_t kMostCopies = 16;  // a 4-bit float takes four bytes, and each may exist twice
  if (known_.insert(file).second) bytes_left_ += kMostCopies * file_bytes;
  if (bytes > bytes_left_)
    throw Error(ErrorCode::unsupported,
                what + ": the external data of the model are many times the files that hold them");
  bytes_left_ -= bytes;
}

std::shared_ptr<const std::byte> read_external_data(const schema::TensorProto& tensor,
                                                    const std::string& what, ExternalFiles& files,
                                                    uint64_t expected_bytes, uint64_t made_bytes) {
  if (files.folder().empty()) {
    throw Error(ErrorCode::unsupported,
                what +
                    ": its data are in another file, and a model read from memory has no "
                    "folder to look in; import the model from its file");
  }
  const Location location = parse_location(tensor, what);
  const fs::path file = resolve(location.file, what, files);
  std::error_code error;
  const uint64_t file_size = fs::file_size(file, error);
  if (error)
    throw Error(ErrorCode::io,
                what + ": external data " + platform::to_utf8(file) + ": " + platform::system_message(error));
  check_range(location, expected_bytes, file_size, what);
  files.count(file, file_size, std::max(expected_bytes, made_bytes), what);

  // Large weights are paged in when they are read, and can be paged out again. HostTensor copies unaligned
  // bytes.
  constexpr uint64_t kWorthMapping = 64 << 10;
  if (expected_bytes >= kWorthMapping) {
    const auto mapped = std::make_shared<platform::MappedFile>(file, location.offset, expected_bytes);
    return {mapped, mapped->bytes().data()};
  }
  const std::shared_ptr<std::byte[]> bytes(new std::byte[std::max<uint64_t>(expected_bytes, 1)]);
  std::ifstream stream(file, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(location.offset));
  stream.read(reinterpret_cast<char*>(bytes.get()), static_cast<std::streamsize>(expected_bytes));
  if (!stream) throw Error(ErrorCode::io, what + ": external data: cannot read " + platform::to_utf8(file));
  return {bytes, bytes.get()};
}

}  // namespace vellum::onnx
