#include "scoreboard.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace vellum::conformance {

std::string Scoreboard::text(const std::string& suite) const {
  std::ostringstream out;
  out << suite << ": " << passed.size() << " passed, " << refused.size() << " refused, " << failed.size()
      << " failed, of " << passed.size() + refused.size() + failed.size() << '\n';
  for (const auto& [test, reason] : failed) out << "  FAILED " << test << ": " << reason << '\n';
  std::map<std::string, size_t> reasons;
  for (const auto& [test, reason] : refused) ++reasons[reason];
  std::vector<std::pair<size_t, std::string>> by_count;
  for (const auto& [reason, count] : reasons) by_count.emplace_back(count, reason);
  std::sort(by_count.rbegin(), by_count.rend());
  for (const auto& [count, reason] : by_count) out << "  refused " << count << ": " << reason << '\n';
  return out.str();
}

std::set<std::string> read_names(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) throw std::runtime_error("cannot read " + file.string());
  std::set<std::string> names;
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty() && line[0] != '#') names.insert(line);
  }
  return names;
}

}  // namespace vellum::conformance
