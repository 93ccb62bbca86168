#include "png_writer.hpp"

#include <algorithm>
#include <cstdlib>

#include "vellum/error.hpp"

namespace vellum::cli {
namespace {

constexpr size_t kPixel = 3;
constexpr size_t kBlock = size_t{1} << 20;  // of rows that are compressed together
constexpr size_t kHashes = size_t{1} << 15;
constexpr size_t kFarthest = 32768, kLongest = 258, kShortest = 3;

std::array<uint8_t, 4> big_endian(uint32_t value) {
  return {static_cast<uint8_t>(value >> 24), static_cast<uint8_t>(value >> 16),
          static_cast<uint8_t>(value >> 8), static_cast<uint8_t>(value)};
}

std::array<uint32_t, 256> crc_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t n = 0; n < 256; ++n) {
    uint32_t c = n;
    for (int k = 0; k < 8; ++k) c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
    table[n] = c;
  }
  return table;
}

uint32_t crc(uint32_t sum, std::span<const uint8_t> bytes) {
  static const std::array<uint32_t, 256> table = crc_table();
  for (const uint8_t byte : bytes) sum = table[(sum ^ byte) & 0xff] ^ (sum >> 8);
  return sum;
}

uint8_t paeth(int left, int up, int corner) {
  const int p = left + up - corner;
  const int to_left = std::abs(p - left), to_up = std::abs(p - up), to_corner = std::abs(p - corner);
  if (to_left <= to_up && to_left <= to_corner) return static_cast<uint8_t>(left);
  return static_cast<uint8_t>(to_up <= to_corner ? up : corner);
}

uint32_t hash(const uint8_t* at) {
  const uint32_t value = at[0] | uint32_t{at[1]} << 8 | uint32_t{at[2]} << 16;
  return (value * 2654435761u) >> 17;
}

// The codes of lengths and distances (RFC 1951, 3.2.5): the first value of each, and its extra bits.
struct Range {
  uint32_t first;
  int extra;
};
constexpr std::array<Range, 29> kLengths{
    {{3, 0},  {4, 0},  {5, 0},  {6, 0},   {7, 0},   {8, 0},   {9, 0},   {10, 0},  {11, 1}, {13, 1},
     {15, 1}, {17, 1}, {19, 2}, {23, 2},  {27, 2},  {31, 2},  {35, 3},  {43, 3},  {51, 3}, {59, 3},
     {67, 4}, {83, 4}, {99, 4}, {115, 4}, {131, 5}, {163, 5}, {195, 5}, {227, 5}, {258, 0}}};
constexpr std::array<Range, 30> kDistances{
    {{1, 0},     {2, 0},     {3, 0},     {4, 0},      {5, 1},      {7, 1},     {9, 2},     {13, 2},
     {17, 3},    {25, 3},    {33, 4},    {49, 4},     {65, 5},     {97, 5},    {129, 6},   {193, 6},
     {257, 7},   {385, 7},   {513, 8},   {769, 8},    {1025, 9},   {1537, 9},  {2049, 10}, {3073, 10},
     {4097, 11}, {6145, 11}, {8193, 12}, {12289, 12}, {16385, 13}, {24577, 13}}};

template <size_t N>
size_t code_of(const std::array<Range, N>& ranges, uint32_t value) {
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), value,
                       [](uint32_t wanted, const Range& range) { return wanted < range.first; });
  return static_cast<size_t>(after - ranges.begin()) - 1;
}

}  // namespace

PngWriter::PngWriter(const samples::FileName& file, uint32_t width, uint32_t height)
    : name_(file.text()),
      stream_(file.path(), std::ios::binary),
      row_bytes_(kPixel * width),
      last_row_(row_bytes_, 0) {
  constexpr std::array<uint8_t, 8> signature{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  stream_.write(reinterpret_cast<const char*>(signature.data()), signature.size());
  std::vector<uint8_t> header;
  for (const uint32_t size : {width, height})
    for (const uint8_t byte : big_endian(size)) header.push_back(byte);
  for (const uint8_t byte : {8, 2, 0, 0, 0}) header.push_back(byte);  // 8 bits, RGB
  put_chunk("IHDR", header);
  data_ = {0x78, 0x01};  // zlib: deflate, window of 32 KiB
}

// With the Paeth filter, which serves pictures best on the whole.
void PngWriter::add_row(std::span<const uint8_t> rgb) {
  filtered_.push_back(4);
  for (size_t i = 0; i < row_bytes_; ++i) {
    const uint8_t left = i < kPixel ? 0 : rgb[i - kPixel], corner = i < kPixel ? 0 : last_row_[i - kPixel];
    filtered_.push_back(static_cast<uint8_t>(rgb[i] - paeth(left, last_row_[i], corner)));
  }
  last_row_.assign(rgb.begin(), rgb.begin() + static_cast<std::ptrdiff_t>(row_bytes_));
  if (filtered_.size() < kBlock) return;
  compress();
  put_data();
}

void PngWriter::finish() {
  compress();
  put_bits(1, 1);  // the last block: empty
  put_bits(1, 2);
  put_symbol(256);
  if (bit_count_ > 0) put_bits(0, 8 - bit_count_);
  for (const uint8_t byte : big_endian(adler_b_ << 16 | adler_a_)) data_.push_back(byte);
  put_data();
  put_chunk("IEND", {});
  stream_.close();
  check();
}

void PngWriter::check() const {
  if (!stream_) throw Error(ErrorCode::io, name_ + ": cannot be written");
}

void PngWriter::put_chunk(const char* type, std::span<const uint8_t> data) {
  std::vector<uint8_t> chunk(type, type + 4);
  chunk.insert(chunk.end(), data.begin(), data.end());
  const auto put = [&](std::span<const uint8_t> bytes) {
    stream_.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  };
  put(big_endian(static_cast<uint32_t>(data.size())));
  put(chunk);
  put(big_endian(~crc(~0u, chunk)));
  check();
}

void PngWriter::put_data() {
  if (!data_.empty()) put_chunk("IDAT", data_);
  data_.clear();
}

void PngWriter::put_bits(uint32_t bits, int count) {
  bits_ |= uint64_t{bits} << bit_count_;
  for (bit_count_ += count; bit_count_ >= 8; bit_count_ -= 8, bits_ >>= 8)
    data_.push_back(static_cast<uint8_t>(bits_));
}

// Huffman codes begin with their highest bit.
void PngWriter::put_code(uint32_t code, int count) {
  uint32_t reversed = 0;
  for (int i = 0; i < count; ++i) reversed |= (code >> i & 1) << (count - 1 - i);
  put_bits(reversed, count);
}

// The fixed code (RFC 1951, 3.2.6).
void PngWriter::put_symbol(uint32_t symbol) {
  if (symbol < 144)
    put_code(0x30 + symbol, 8);
  else if (symbol < 256)
    put_code(0x190 + symbol - 144, 9);
  else if (symbol < 280)
    put_code(symbol - 256, 7);
  else
    put_code(0xc0 + symbol - 280, 8);
}

void PngWriter::put_match(uint32_t length, uint32_t distance) {
  const size_t of_length = code_of(kLengths, length), of_distance = code_of(kDistances, distance);
  put_symbol(static_cast<uint32_t>(257 + of_length));
  put_bits(length - kLengths[of_length].first, kLengths[of_length].extra);
  put_code(static_cast<uint32_t>(of_distance), 5);
  put_bits(distance - kDistances[of_distance].first, kDistances[of_distance].extra);
}

// One block, with the last place of three bytes of each hash as the only candidate of a match.
void PngWriter::compress() {
  const std::vector<uint8_t>& bytes = filtered_;
  put_bits(0, 1);
  put_bits(1, 2);
  std::vector<size_t> places(kHashes, SIZE_MAX);
  for (size_t at = 0; at < bytes.size();) {
    size_t length = 0, from = SIZE_MAX;
    if (at + kShortest <= bytes.size()) {
      size_t& place = places[hash(bytes.data() + at)];
      from = place;
      place = at;
      const size_t most = std::min(kLongest, bytes.size() - at);
      if (from != SIZE_MAX && at - from <= kFarthest)
        while (length < most && bytes[from + length] == bytes[at + length]) ++length;
    }
    if (length < kShortest) {
      put_symbol(bytes[at++]);
      continue;
    }
    put_match(static_cast<uint32_t>(length), static_cast<uint32_t>(at - from));
    at += length;
  }
  put_symbol(256);
  for (const uint8_t byte : bytes) {
    adler_a_ = (adler_a_ + byte) % 65521;
    adler_b_ = (adler_b_ + adler_a_) % 65521;
  }
  filtered_.clear();
}

}  // namespace vellum::cli
