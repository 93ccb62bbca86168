// A packed model: one file with the graph of a model, its weights as they are and as kernels want them, and
// SPIR-V.
//
// The file is a header, a flatbuffer (schema.fbs) and the data that this speaks of, in which every piece
// begins at a multiple of kAlignment. It is mapped, not read.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/fingerprint.hpp"
#include "platform/sha256.hpp"

namespace vellum::packfile {

namespace schema {
struct Model;
struct Bytes;
}  // namespace schema

struct Header {
  static constexpr std::array<char, 8> kMagic{'V', 'E', 'L', 'L', 'U', 'M', 'P', 'K'};
  static constexpr uint32_t kVersion = 1;
  static constexpr uint32_t kByteOrder = 0x01020304;  // reads otherwise on a machine of the other byte order

  std::array<char, 8> magic = kMagic;
  uint32_t version = kVersion, byte_order = kByteOrder;
  uint64_t description_bytes = 0;  // of the flatbuffer behind the header
  uint64_t data_offset = 0, data_bytes = 0;
  uint64_t reserved = 0;
  platform::Fingerprint description;
};
static_assert(sizeof(Header) == 64, "the header is written as it lies in memory");

inline constexpr uint64_t kAlignment = 64;

// Whether a file that begins so is a packed model, of whatever version.
bool is_packed(std::string_view head);

// A file that was found to be whole, but for the data, each piece of which is checked when it is asked for.
// What the functions give lives as long as the object. Thread-safe.
class File {
 public:
  // Error(corrupt_model) or Error(unsupported), naming the file.
  explicit File(const std::filesystem::path& path);
  // Copies the bytes.
  explicit File(std::span<const std::byte> bytes);

  const std::string& source() const { return source_; }  // for messages
  const schema::Model& description() const { return *description_; }
  // The piece; Error(corrupt_model) where it is not as it was written.
  std::span<const std::byte> bytes(const schema::Bytes& piece, std::string_view what) const;
  std::shared_ptr<const std::byte> share(std::span<const std::byte> bytes) const {
    return {owner_, bytes.data()};
  }

  // Empty where the file has none such.
  std::span<const std::byte> weight(const std::string& key) const;
  std::vector<uint32_t> shader(const platform::Sha256Digest& digest) const;

 private:
  void open(std::span<const std::byte> all);
  [[noreturn]] void refuse(const std::string& what) const;

  std::string source_;
  std::shared_ptr<const void> owner_;
  const schema::Model* description_ = nullptr;
  std::span<const std::byte> data_;
  std::map<std::string, const schema::Bytes*, std::less<>> weights_;
  std::map<platform::Sha256Digest, const schema::Bytes*> shaders_;
  mutable std::mutex mutex_;
  mutable std::set<const schema::Bytes*> whole_;  // those that were checked
};

}  // namespace vellum::packfile
