// Finds the people in a photo and 33 landmarks of the body of each with MediaPipe's pose networks, on
// Vellum's public API alone.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "common/draw.hpp"
#include "common/json.hpp"
#include "common/region.hpp"
#include "common/sample.hpp"
#include "io/photo.hpp"
#include "pose/pose.hpp"

namespace vellum::samples {
namespace {

struct Options {
  std::string detector;
  std::string landmarks;
  float score = 0.5f, presence = 0.5f, visibility = 0.5f;
  RunOptions run;
};

std::vector<Detection> find_people(const Device& device, const io::Image& photo, const Options& options,
                                   const MemoryPool& pool) {
  const Model model = load_model(options.detector);
  const int side = square_input_side(model, 3, "pose detector");
  const std::string input = model.inputs()[0].name;
  const FrameInput frame = pose_detector_frame(io::photo_frame(photo), side);
  Session session = open_session(device, with_frames(model, input, frame), options.run, {}, pool);
  std::vector<Detection> people =
      decode_pose_detector(session.run({{input, io::photo_bytes(photo)}}), side, options.score);
  for (Detection& person : people) person = in_frame(person, side, *frame.transform);
  return people;
}

void print_and_draw(const Pose& pose, const Options& options, io::Image& image) {
  const auto visible = [&](int i) { return pose.landmarks.at(i).visibility >= options.visibility; };
  const float width = std::max(1.5f, static_cast<float>(std::min(image.width, image.height)) / 200);
  for (const auto& [from, to] : pose_connections())
    if (visible(from) && visible(to))
      draw_line(image, pose.landmarks.at(from).point, pose.landmarks.at(to).point, {0, 230, 64}, width);
  int count = 0;
  for (int i = 0; i < static_cast<int>(pose.landmarks.size()); ++i) {
    if (!visible(i)) continue;
    ++count;
    draw_line(image, pose.landmarks.at(i).point, pose.landmarks.at(i).point, {255, 32, 96}, 2 * width);
  }
  const Point nose = pose.landmarks[0].point, left = pose.landmarks[11].point,
              right = pose.landmarks[12].point;
  say(options.run, "  presence %.4f, %d of 33 landmarks visible\n", pose.presence, count);
  say(options.run, "    nose %.1f, %.1f; left shoulder %.1f, %.1f; right shoulder %.1f, %.1f\n", nose.x,
      nose.y, left.x, left.y, right.x, right.y);
  nlohmann::ordered_json landmarks = nlohmann::ordered_json::array();
  for (const Landmark& landmark : pose.landmarks)
    landmarks.push_back({{"point", to_json(landmark.point)}, {"visibility", landmark.visibility}});
  field(options.run, "people").push_back({{"presence", pose.presence}, {"landmarks", std::move(landmarks)}});
}

void find_poses(const Options& options) {
  io::Image image = load_photo(options.run);
  const io::Image photo = image;
  const Device device = open_device(options.run);
  const MemoryPool pool(device);
  const std::vector<Detection> people = find_people(device, photo, options, pool);
  field(options.run, "people") = nlohmann::ordered_json::array();
  say(options.run, "%zu %s found\n", people.size(), people.size() == 1 ? "person" : "people");
  const Model model = load_model(options.landmarks);
  const int side = square_input_side(model, 3, "pose landmark network");
  const std::string input = model.inputs()[0].name;
  Session session = open_session(device, with_frames(model, input, pose_frame(io::photo_frame(photo))),
                                 options.run, {}, pool);
  session.set_input(input, io::photo_bytes(photo));
  const FrameSize network{static_cast<double>(side), static_cast<double>(side)};
  for (const Detection& person : people) {
    const Region region = pose_region(person);
    // The photo stays on the device; only the region moves.
    const Tensor transform = region_transform(region, network).tensor();
    const Pose pose = read_pose(session.run({{input + ".transform", transform}}), region, side);
    if (pose.presence >= options.presence) print_and_draw(pose, options, image);
  }
  print_reuse_table(session, options.run);
  write_photo(image, options.run);
}

}  // namespace
}  // namespace vellum::samples

int main(int argc, char** argv) {
  using namespace vellum::samples;
  Options options;
  CLI::App app("Finds the people in a photo and draws the 33 landmarks of MediaPipe's pose on a copy of it.",
               "pose");
  app.add_option("detector", options.detector, "pose_detection.tflite")->required();
  app.add_option("landmarks", options.landmarks, "pose_landmark_lite.tflite, _full or _heavy")->required();
  add_photo_options(app, options.run, "poses.png");
  add_fraction(app, "--threshold", options.score, "least score of a detected person, 0..1");
  add_fraction(app, "--presence", options.presence,
               "least score that the landmark network gives the person, 0..1");
  add_fraction(app, "--visibility", options.visibility, "least visibility of a landmark that is drawn, 0..1");
  return run_sample(app, argc, argv, options.run, [&] { find_poses(options); });
}
