// The option profile_html: the page of a part's memory and times.
#pragma once

#include <filesystem>
#include <string>

#include "vellum/vellum.hpp"

namespace vellum::plugin {

// Writes the page after the first and the second run of a part: the first one may include work of the driver
// that later ones do not repeat.
class ProfilePage {
 public:
  // `file`: empty for no page. Parts after the first add their number to its name: "page.2.html". `engine`:
  // the runtime that loaded the plug-in, which the page names.
  ProfilePage(const std::filesystem::path& file, size_t part, std::string engine);

  // Does nothing without a file. Throws Error(io) if it cannot be written. One thread at a time.
  void write(const Session& session, const std::string& model, const Device& device);

 private:
  std::filesystem::path file_;
  std::string engine_;
  int pages_left_ = 2;
};

}  // namespace vellum::plugin
