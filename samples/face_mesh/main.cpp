// Finds the faces in a photo and the 468 points of each with MediaPipe's face mesh, on Vellum's public API
// alone.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "common/draw.hpp"
#include "common/json.hpp"
#include "common/region.hpp"
#include "face_detection/detector.hpp"
#include "face_mesh/mesh.hpp"
#include "io/photo.hpp"

namespace vellum::samples {
namespace {

struct Options {
  std::string detector;
  std::string mesh;
  float presence = 0.5f;
  FaceThresholds thresholds;
  RunOptions run;
};

void print_and_draw(const Mesh& mesh, const Region& region, const RunOptions& options, io::Image& image) {
  const float dot =
      std::max(1.5f, std::hypot(region.right.x - region.corner.x, region.right.y - region.corner.y) / 110);
  const auto draw = [&](const std::vector<Point>& points, Color color) {
    for (const Point& point : points) draw_line(image, point, point, color, dot);
  };
  const Point nose = mesh.points[1];  // the tip, in MediaPipe's canonical face
  say(options, "  presence %.4f, nose tip at %.1f, %.1f", mesh.presence, nose.x, nose.y);
  if (!mesh.lips.empty())
    say(options, "; lips %zu points, eyes %zu, irises %zu", mesh.lips.size(), mesh.eyes.size(),
        mesh.irises.size());
  say(options, "\n");
  nlohmann::ordered_json face{{"presence", mesh.presence}, {"points", to_json(mesh.points)}};
  for (const auto& [part, points] :
       {std::pair{"lips", &mesh.lips}, std::pair{"eyes", &mesh.eyes}, std::pair{"irises", &mesh.irises}})
    if (!points->empty()) face[part] = to_json(*points);
  field(options, "faces").push_back(std::move(face));
  draw(mesh.points, {0, 230, 64});
  draw(mesh.lips, {255, 32, 96});
  draw(mesh.eyes, {255, 200, 0});
  draw(mesh.irises, {0, 160, 255});
}

void find_meshes(const Options& options) {
  io::Image image = load_photo(options.run);
  const io::Image photo = image;
  const Device device = open_device(options.run);
  const std::vector<Face> faces =
      FaceDetector(device, options.detector, options.run).find(photo, options.thresholds);
  field(options.run, "faces") = nlohmann::ordered_json::array();
  say(options.run, "%zu face%s found\n", faces.size(), faces.size() == 1 ? "" : "s");
  const Model model = load_model(options.mesh);
  const int side = square_input_side(model, 3, "face mesh");
  const std::string input = model.inputs()[0].name;
  Session session =
      open_session(device, with_frames(model, input, mesh_frame(io::photo_frame(photo))), options.run);
  session.set_input(input, io::photo_bytes(photo));
  const FrameSize network{static_cast<double>(side), static_cast<double>(side)};
  for (const Face& face : faces) {
    const Region region = mesh_region(face);
    // The photo stays on the device; only the region moves.
    const Tensor transform = region_transform(region, network).tensor();
    const Mesh mesh = read_mesh(session.run({{input + ".transform", transform}}), region, side);
    if (mesh.presence >= options.presence) print_and_draw(mesh, region, options.run, image);
  }
  print_reuse_table(session, options.run);
  write_photo(image, options.run);
}

}  // namespace
}  // namespace vellum::samples

int main(int argc, char** argv) {
  using namespace vellum::samples;
  Options options;
  CLI::App app(
      "Finds the faces in a photo and marks the 468 points of MediaPipe's face mesh on a copy of it.",
      "face_mesh");
  app.add_option("detector", options.detector, "BlazeFace as ONNX (front, back) or TFLite (short range)")
      ->required();
  app.add_option("mesh", options.mesh, "face mesh, with or without attention to lips and eyes")->required();
  add_photo_options(app, options.run, "meshes.png");
  add_fraction(app, "--threshold", options.thresholds.score, "least score of a detected face, 0..1");
  add_fraction(app, "--presence", options.presence, "least score that the mesh gives the face, 0..1");
  return run_sample(app, argc, argv, options.run, [&] { find_meshes(options); });
}
