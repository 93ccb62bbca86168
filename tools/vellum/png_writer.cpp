#include "png_writer.hpp"

#include <cstdlib>
#include <system_error>

#include "vellum/error.hpp"

namespace vellum::cli {
namespace {

constexpr size_t kChunk = size_t{1} << 16;  // of compressed bytes
constexpr uint8_t kPaeth = 4;               // the filter that serves pictures best on the whole

std::array<uint8_t, 4> big_endian(uint32_t value) {
  return {static_cast<uint8_t>(value >> 24), static_cast<uint8_t>(value >> 16),
          static_cast<uint8_t>(value >> 8), static_cast<uint8_t>(value)};
}

uint8_t paeth(int left, int up, int corner) {
  const int p = left + up - corner;
  const int to_left = std::abs(p - left), to_up = std::abs(p - up), to_corner = std::abs(p - corner);
  if (to_left <= to_up && to_left <= to_corner) return static_cast<uint8_t>(left);
  return static_cast<uint8_t>(to_up <= to_corner ? up : corner);
}

}  // namespace

void PngWriter::EndDeflate::operator()(z_stream* stream) const {
  deflateEnd(stream);
  delete stream;
}

PngWriter::TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
}

PngWriter::PngWriter(const io::FileName& file, uint32_t width, uint32_t height, uint32_t channels)
    : channels_(channels),
      name_(file.text()),
      path_(file.path()),
      part_{std::filesystem::path(path_) += ".part"},
      stream_(part_.path, std::ios::binary),
      deflater_(new z_stream{}),
      last_row_(channels_ * width),
      filtered_(1 + channels_ * width),
      compressed_(kChunk) {
  check(stream_.is_open());
  if (deflateInit(deflater_.get(), Z_DEFAULT_COMPRESSION) != Z_OK)
    throw Error(ErrorCode::out_of_memory, "zlib has not enough memory");
  deflater_->next_out = compressed_.data();
  deflater_->avail_out = kChunk;
  constexpr std::array<uint8_t, 8> signature{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  stream_.write(reinterpret_cast<const char*>(signature.data()), signature.size());
  std::vector<uint8_t> header;
  for (const uint32_t size : {width, height})
    for (const uint8_t byte : big_endian(size)) header.push_back(byte);
  const uint8_t color_type = channels == 4 ? 6 : 2;  // RGBA, RGB
  header.insert(header.end(), {8, color_type, 0, 0, 0});
  put_chunk({'I', 'H', 'D', 'R'}, header);
}

void PngWriter::add_row(std::span<const uint8_t> row) {
  filtered_[0] = kPaeth;
  for (size_t i = 0; i < last_row_.size(); ++i) {
    const bool first = i < channels_;
    const uint8_t left = first ? 0 : row[i - channels_], corner = first ? 0 : last_row_[i - channels_];
    filtered_[1 + i] = static_cast<uint8_t>(row[i] - paeth(left, last_row_[i], corner));
  }
  last_row_.assign(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(last_row_.size()));
  compress(filtered_, Z_NO_FLUSH);
}

void PngWriter::finish() {
  compress({}, Z_FINISH);
  put_chunk({'I', 'E', 'N', 'D'}, {});
  stream_.close();
  check(stream_.good());
  std::error_code failed;
  std::filesystem::rename(part_.path, path_, failed);
  check(!failed);
}

void PngWriter::compress(std::span<const uint8_t> bytes, int flush) {
  deflater_->next_in = const_cast<uint8_t*>(bytes.data());  // zlib does not write it
  deflater_->avail_in = static_cast<uInt>(bytes.size());
  bool is_full = true;
  while (is_full) {
    deflate(deflater_.get(), flush);
    is_full = deflater_->avail_out == 0;
    if (!is_full && flush != Z_FINISH) return;
    put_chunk({'I', 'D', 'A', 'T'}, std::span(compressed_).first(kChunk - deflater_->avail_out));
    deflater_->next_out = compressed_.data();
    deflater_->avail_out = kChunk;
  }
}

void PngWriter::put_chunk(const std::array<char, 4>& type, std::span<const uint8_t> data) {
  std::vector<uint8_t> chunk(type.begin(), type.end());
  chunk.insert(chunk.end(), data.begin(), data.end());
  const auto put = [&](std::span<const uint8_t> bytes) {
    stream_.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  };
  put(big_endian(static_cast<uint32_t>(data.size())));
  put(chunk);
  put(big_endian(static_cast<uint32_t>(crc32(0, chunk.data(), static_cast<uInt>(chunk.size())))));
  check(stream_.good());
}

void PngWriter::check(bool good) const {
  if (!good) throw Error(ErrorCode::io, name_ + ": cannot be written");
}

}  // namespace vellum::cli
