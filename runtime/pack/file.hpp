// Reads a bundle: one file with the graph of a model, its constants, prepacked weights, and SPIR-V. The file
// is mapped, not read.
//
//   | Header, 64 bytes | description (flatbuffer, schema.fbs) | data: blobs at multiples of kAlignment |
//                        the graph, and the offset, length
//                        and fingerprint of every blob
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
#include <utility>
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
  // kVersion is the newest version that is read. A bundle is written in the oldest version that can express
  // it: only bundles with a signature need version 2.
  static constexpr uint32_t kVersion = 2, kVersionWithoutSignature = 1;
  static constexpr uint32_t kByteOrder = 0x01020304;  // reads differently in the other byte order

  std::array<char, 8> magic = kMagic;
  uint32_t version = kVersionWithoutSignature, byte_order = kByteOrder;
  uint64_t description_bytes = 0;  // of the flatbuffer after the header
  uint64_t data_offset = 0, data_bytes = 0;
  uint64_t reserved = 0;
  platform::Fingerprint description;
};
static_assert(sizeof(Header) == 64, "the header is written as it is in memory");

inline constexpr uint64_t kAlignment = 64;

// Returns whether a file that begins with `head` is a bundle, of any version.
bool is_packed(std::string_view head);

// An open bundle. Header and description are checked when it is opened, each blob when it is first used. The
// results of all functions are valid as long as the object. Thread-safe.
class File {
 public:
  // Maps a file. Throws Error(corrupt_model) or Error(unsupported) that names the file.
  explicit File(const std::filesystem::path& path);
  // Opens a bundle in memory, which it copies.
  explicit File(std::span<const std::byte> bytes);
  // Opens a bundle in memory and keeps the bytes. Copies them if they do not begin at a multiple of 8.
  File(std::shared_ptr<const std::byte> bytes, size_t byte_count);

  const std::string& source() const { return source_; }  // for messages
  const schema::Model& description() const { return *description_; }
  std::span<const std::byte> description_bytes() const { return description_bytes_; }
  // Returns a blob; throws Error(corrupt_model) that names `what` if its fingerprint does not match.
  std::span<const std::byte> bytes(const schema::Bytes& blob, std::string_view what) const;
  // Returns the caps of the device that the bundle was made for, as the text of a caps file; empty in older
  // bundles.
  std::string_view caps() const;
  // Returns a pointer to bytes of this file that keeps the mapping alive.
  std::shared_ptr<const std::byte> share(std::span<const std::byte> bytes) const {
    return {owner_, bytes.data()};
  }

  // Returns a prepacked weight, or SPIR-V; empty if the file has none.
  std::span<const std::byte> weight(const std::string& key) const;
  std::vector<uint32_t> shader(const platform::Sha256Digest& digest) const;
  bool has_shader(const platform::Sha256Digest& digest) const { return shaders_.contains(digest); }

 private:
  void open(std::span<const std::byte> all);
  void open_copy(std::span<const std::byte> bytes);
  [[noreturn]] void refuse(const std::string& what) const;

  std::string source_;
  std::shared_ptr<const void> owner_;
  const schema::Model* description_ = nullptr;
  std::span<const std::byte> description_bytes_;
  std::span<const std::byte> data_;
  std::map<std::string, const schema::Bytes*, std::less<>> weights_;
  std::map<platform::Sha256Digest, const schema::Bytes*> shaders_;
  mutable std::mutex mutex_;
  mutable std::set<std::pair<uint64_t, uint64_t>> whole_;  // offset and size of blobs that passed their check
  mutable uint64_t checked_bytes_ = 0;                     // total bytes of these blobs
};

}  // namespace vellum::packfile
