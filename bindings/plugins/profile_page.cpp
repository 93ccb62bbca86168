#include "profile_page.hpp"

#include <fstream>
#include <utility>

#include "platform/utf8_path.hpp"
#include "vellum/report.hpp"

namespace vellum::plugin {

ProfilePage::ProfilePage(const std::filesystem::path& file, size_t part, std::string engine)
    : file_(file), engine_(std::move(engine)) {
  if (part == 0 || file.empty()) return;
  const std::filesystem::path extension = file.extension();
  file_.replace_extension("." + std::to_string(part + 1));
  file_ += extension;
}

void ProfilePage::write(const Session& session, const std::string& model, const Device& device) {
  if (file_.empty() || pages_left_ == 0) return;
  --pages_left_;
  ProfileReport report;
  report.model = model.empty() ? "network" : model;
  report.subtitle = {device.info().name, engine_};
  report.memory = session.memory();
  report.layers = report.run = session.layer_times();
  const std::string page = profile_html(report);
  std::ofstream file(file_, std::ios::binary);
  if (!(file << page).flush())
    throw Error(ErrorCode::io, "cannot write the page of option profile_html: " + platform::to_utf8(file_));
}

}  // namespace vellum::plugin
