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
  out << by_count("refused", refused);
  return out.str();
}

std::string by_count(const std::string& what, const Reasons& reasons) {
  std::map<std::string, size_t> counts;
  for (const auto& [test, text] : reasons) ++counts[text];
  std::vector<std::pair<size_t, std::string>> ordered;
  for (const auto& [text, count] : counts) ordered.emplace_back(count, text);
  std::sort(ordered.rbegin(), ordered.rend());
  std::ostringstream out;
  for (const auto& [count, text] : ordered) out << "  " << what << ' ' << count << ": " << text << '\n';
  return out.str();
}

std::string reason(const std::string& message) {
  const auto colon = message.rfind(": ");
  return colon == std::string::npos ? message : message.substr(colon + 2);
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
