#include "vulkan/cache_file.hpp"

#include <cstring>
#include <string>

#include "platform/files.hpp"
#include "platform/private_files.hpp"
#include "platform/utf8_path.hpp"

namespace vellum::gpu {
namespace {

// Written in the machine's byte order: on another machine the magic differs.
struct Header {
  uint32_t magic = 0x564C4D43;  // "VLMC"
  uint32_t version = 1;
  uint64_t payload_bytes = 0;
  platform::Sha256Digest key{};
  platform::Sha256Digest payload_digest{};
};
static_assert(sizeof(Header) == 80, "no padding: the header is written as it is in memory");

constexpr uint64_t kMaxFileBytes = uint64_t{1} << 28;

bool valid(const Header& header, const platform::Sha256Digest& key, std::span<const std::byte> payload) {
  const Header expected;
  return header.magic == expected.magic && header.version == expected.version && header.key == key &&
         header.payload_bytes == payload.size() && header.payload_digest == platform::sha256(payload);
}

}  // namespace

std::optional<std::vector<std::byte>> read_cache_file(const std::filesystem::path& path,
                                                      const platform::Sha256Digest& key,
                                                      const LogCallback& log) {
  if (const auto why = platform::why_untrusted(path)) {
    if (log) log(LogLevel::warning, platform::to_utf8(path) + ": is not used, because " + *why);
    return std::nullopt;
  }
  std::optional<std::vector<std::byte>> file = platform::read_file(path, kMaxFileBytes);
  if (!file) return std::nullopt;
  Header header;
  if (file->size() >= sizeof(Header)) {
    std::memcpy(&header, file->data(), sizeof(Header));
    if (valid(header, key, std::span(*file).subspan(sizeof(Header)))) {
      file->erase(file->begin(), file->begin() + sizeof(Header));
      return file;
    }
  }
  if (log)
    log(LogLevel::warning,
        platform::to_utf8(path) + ": damaged or of another version or device; it will be made anew");
  return std::nullopt;
}

void write_cache_file(const std::filesystem::path& path, const platform::Sha256Digest& key,
                      std::span<const std::byte> payload) {
  Header header;
  header.payload_bytes = payload.size();
  header.key = key;
  header.payload_digest = platform::sha256(payload);
  std::vector<std::byte> file(sizeof(Header) + payload.size());
  std::memcpy(file.data(), &header, sizeof(Header));
  if (!payload.empty()) std::memcpy(file.data() + sizeof(Header), payload.data(), payload.size());
  platform::create_private_folders(path.parent_path());
  platform::write_file_atomically(path, file);
}

}  // namespace vellum::gpu
