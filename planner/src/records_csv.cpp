#include "vellum/planner/records_csv.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <istream>
#include <optional>
#include <ostream>

#include "vellum/planner/plan.hpp"

namespace vellum::planner {
namespace {

constexpr size_t kLongestLine = size_t{1} << 20;

// Reads a CSV file row by row (RFC 4180), and keeps the line number for messages.
class CsvReader {
 public:
  CsvReader(std::istream& in, std::string_view name) : in_(in), name_(name) {}

  [[noreturn]] void fail(const std::string& why) const {
    throw PlanError(name_ + ":" + std::to_string(line_number_) + ": " + why);
  }

  // Returns the next row's fields, or nothing at the end. Skips comments and empty lines.
  std::optional<std::vector<std::string>> row() {
    std::string line;
    while (next_line(line)) {
      if (line.empty() || line.front() == '#') continue;
      return split(std::move(line));
    }
    return std::nullopt;
  }

 private:
  bool next_line(std::string& line) {
    if (!std::getline(in_, line)) {
      if (in_.bad()) fail("cannot read on");
      return false;
    }
    ++line_number_;
    if (line_number_ == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);  // a byte order mark
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.size() > kLongestLine) fail("the line is too long");
    return true;
  }

  std::vector<std::string> split(std::string line) {
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (size_t i = 0;; ++i) {
      if (i == line.size()) {
        if (!quoted) return fields;
        if (!next_line(line)) fail("a quoted field does not end");  // a quoted field may hold line breaks
        fields.back() += '\n';
        i = static_cast<size_t>(-1);
        continue;
      }
      const char c = line[i];
      if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
        fields.back() += c;
        ++i;
      } else if (c == '"') {
        quoted = !quoted;
      } else if (c == ',' && !quoted) {
        fields.emplace_back();
      } else {
        fields.back() += c;
      }
    }
  }

  std::istream& in_;
  std::string name_;
  size_t line_number_ = 0;
};

struct Columns {
  std::optional<size_t> id;
  size_t size = 0, first = 0, last = 0;
  bool last_exclusive = false;
};

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

Columns columns_of(const std::vector<std::string>& header, const CsvReader& reader) {
  const auto find = [&](std::string_view name) -> std::optional<size_t> {
    std::optional<size_t> found;
    for (size_t i = 0; i < header.size(); ++i) {
      if (trimmed(header[i]) != name) continue;
      if (found) reader.fail("column " + std::string(name) + " appears twice in the header");
      found = i;
    }
    return found;
  };
  Columns columns;
  columns.id = find("id");
  auto size = find("size");
  if (!size) size = find("bytes_f32");
  if (!size) reader.fail("the header has no column size (or bytes_f32)");
  columns.size = *size;
  for (const auto& [first_name, last_name] :
       {std::pair("first", "last"), std::pair("first_op", "last_op"), std::pair("lower", "upper")}) {
    const auto first = find(first_name), last = find(last_name);
    if (!first || !last) continue;
    columns.first = *first;
    columns.last = *last;
    columns.last_exclusive = last_name == std::string_view("upper");
    return columns;
  }
  reader.fail("the header has no columns first and last (or first_op and last_op, or lower and upper)");
}

template <typename Integer>
Integer integer(const std::vector<std::string>& row, size_t column, const char* what,
                const CsvReader& reader) {
  const std::string_view text = trimmed(row[column]);
  Integer value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    reader.fail(std::string(what) + " \"" + std::string(text) + "\" is not an integer of 64 bits" +
                (std::is_unsigned_v<Integer> ? ", zero or more" : ""));
  }
  return value;
}

TensorUsageRecord record_of(const std::vector<std::string>& row, const Columns& columns,
                            const CsvReader& reader) {
  const size_t needed = std::max({columns.size, columns.first, columns.last, columns.id.value_or(0)}) + 1;
  if (row.size() < needed) {
    reader.fail("the row has " + std::to_string(row.size()) + " fields, but the header asks for " +
                std::to_string(needed));
  }
  TensorUsageRecord record;
  record.size = Bytes{integer<uint64_t>(row, columns.size, "size", reader)};
  record.first_task = integer<int64_t>(row, columns.first, "first task", reader);
  record.last_task = integer<int64_t>(row, columns.last, "last task", reader);
  if (record.first_task < 0) reader.fail("first task " + std::to_string(record.first_task) + " is negative");
  if (record.last_task < record.first_task ||
      (columns.last_exclusive && record.last_task == record.first_task)) {
    reader.fail("the lifetime ends before it begins");
  }
  if (columns.last_exclusive) --record.last_task;
  if (std::get<Bytes>(record.size).bytes == 0) reader.fail("size is zero");
  return record;
}

// Returns a field as it is written to the file: quoted if necessary.
std::string field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos && !text.starts_with('#'))
    return std::string(text);
  std::string quoted(1, '"');
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  quoted += '"';
  return quoted;
}

std::string extent_text(const Size& size) {
  const auto text = [](std::initializer_list<uint32_t> dims, const TexelFormat& format) {
    std::string joined;
    for (const uint32_t dim : dims) {
      if (!joined.empty()) joined += 'x';
      joined += std::to_string(dim);
    }
    joined += ':';
    joined += std::to_string(format.id);
    return joined;
  };
  if (const auto* flat = std::get_if<Texture2D>(&size))
    return text({flat->width, flat->height}, flat->format);
  if (const auto* solid = std::get_if<Texture3D>(&size)) {
    return text({solid->width, solid->height, solid->depth}, solid->format);
  }
  return {};
}

}  // namespace

RecordsTable read_records_csv(std::istream& in, std::string_view name) {
  CsvReader reader(in, name);
  const auto header = reader.row();
  if (!header) reader.fail("there is no header");
  const Columns columns = columns_of(*header, reader);
  RecordsTable table;
  while (const auto row = reader.row()) {
    table.records.push_back(record_of(*row, columns, reader));
    table.ids.push_back(columns.id ? (*row)[*columns.id] : std::to_string(table.ids.size()));
  }
  return table;
}

RecordsTable read_records_csv(const std::filesystem::path& file) {
  // Opening a FIFO or a device could wait for ever.
  std::error_code error;
  const std::u8string utf8 = file.u8string();
  const std::string name(utf8.begin(), utf8.end());
  if (!std::filesystem::is_regular_file(file, error)) throw PlanError("cannot open " + name + ": no file");
  std::ifstream in(file, std::ios::binary);
  if (!in) throw PlanError("cannot open " + name);
  return read_records_csv(in, name);
}

void write_records_csv(std::ostream& out, std::span<const std::string> ids,
                       std::span<const TensorUsageRecord> records, std::span<const CsvColumn> further) {
  if (ids.size() != records.size()) throw PlanError("records and their ids differ in number");
  for (const CsvColumn& column : further) {
    if (column.values.size() != records.size())
      throw PlanError("column " + column.name + " must have one value per record");
  }
  const bool textures = std::any_of(records.begin(), records.end(),
                                    [](const auto& r) { return !std::holds_alternative<Bytes>(r.size); });
  out << "id,first,last,size" << (textures ? ",extent" : "");
  for (const CsvColumn& column : further) out << ',' << field(column.name);
  out << '\n';
  for (size_t i = 0; i < records.size(); ++i) {
    out << field(ids[i]) << ',' << records[i].first_task << ',' << records[i].last_task << ','
        << byte_size(records[i].size);
    if (textures) out << ',' << extent_text(records[i].size);
    for (const CsvColumn& column : further) out << ',' << column.values[i];
    out << '\n';
  }
  if (!out) throw PlanError("cannot write the records");
}

}  // namespace vellum::planner
