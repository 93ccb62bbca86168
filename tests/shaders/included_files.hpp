// The files of a shader.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "shaders/sources.hpp"

namespace vellum::test {

// Adds the name of a source and of all that it includes. Headers of C++ are among the names, but have no
// embedded source.
inline void add_with_includes(const std::string& name, std::set<std::string>& files) {
  if (!files.insert(name).second) return;
  const std::string text(find_shader_source(name).value_or(""));
  constexpr std::string_view directive = "#include \"";
  for (size_t at = text.find(directive); at != text.npos; at = text.find(directive, at + 1)) {
    const size_t begin = at + directive.size();
    add_with_includes(text.substr(begin, text.find('"', begin) - begin), files);
  }
}

}  // namespace vellum::test
