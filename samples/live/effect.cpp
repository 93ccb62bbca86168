#include "live/effect.hpp"

#include <utility>

#include "common/detection.hpp"
#include "common/sample.hpp"
#include "face_detection/blazeface.hpp"
#include "face_mesh/mesh.hpp"
#include "io/photo.hpp"
#include "line_detection/mlsd.hpp"
#include "ocr/text_lines.hpp"
#include "pose/pose.hpp"
#include "vellum/picture.hpp"

namespace vellum::samples {
namespace {

// The frame alone, beside an output whose values are decoded.
PictureOutput frame_alone(const std::string& input) {
  return {.palette = {{0, 0, 0, 0}}, .over = input, .name = "picture"};
}

Marks no_marks(const Outputs&) { return {}; }

std::vector<Point> corners(const Region& region) {
  return {region.corner, region.right, region.to_image({1, 1}), region.down};
}

// Finds faces, in pixels of the frame; the frame alone is the picture.
struct FaceFinder {
  Effect effect;
  std::function<std::vector<Face>(const Outputs&)> find;
};

FaceFinder face_finder(const Model& model, const FrameInput& frame) {
  const std::string input = model.inputs()[0].name;
  const int side = square_input_side(model, 3, "BlazeFace");
  const FrameInput seen = blazeface_frame(frame, side);
  const auto find = [part = *seen.transform, side](const Outputs& outputs) {
    std::vector<Face> faces =
        merge_overlapping(decode_blazeface(find_blazeface_outputs(outputs), side, 0.5f), 0.3f);
    for (Face& face : faces) face = in_frame(face, side, part);
    return faces;
  };
  const Model framed = with_frames(model, input, seen);
  return {{with_picture(framed, model.outputs()[0].name, frame_alone(input)), input, "picture", no_marks, {}},
          find};
}

Effect faces(const std::vector<Model>& models, const FrameInput& frame) {
  FaceFinder finder = face_finder(models[0], frame);
  finder.effect.decode = [find = finder.find](const Outputs& outputs) {
    Marks marks;
    for (const Face& face : find(outputs)) {
      const Point a = face.top_left, b = face.bottom_right;
      marks.outlines.push_back({a, {b.x, a.y}, b, {a.x, b.y}});
      marks.dots.insert(marks.dots.end(), face.keypoints.begin(), face.keypoints.end());
    }
    return marks;
  };
  return finder.effect;
}

// The follower sees any part of the frame. `seen`: how.
Follower follower(const Model& model, const FrameInput& seen, int side) {
  const std::string input = model.inputs()[0].name;
  const auto length = static_cast<double>(side);
  return {with_frames(model, input, seen), input, {length, length}, {}, {}};
}

// The points of the best face's mesh.
Effect mesh(const std::vector<Model>& models, const FrameInput& frame) {
  FaceFinder finder = face_finder(models[0], frame);
  const int side = square_input_side(models[1], 3, "face mesh");
  Follower next = follower(models[1], mesh_frame(frame), side);
  next.find = [find = finder.find](const Outputs& outputs) {
    const std::vector<Face> faces = find(outputs);
    return faces.empty() ? std::nullopt : std::optional(mesh_region(faces[0]));
  };
  next.decode = [side](const Outputs& outputs, const Region& region) {
    const Mesh mesh = read_mesh(outputs, region, side);
    Marks marks;
    if (mesh.presence >= 0.5f) marks = {{corners(region)}, mesh.points};
    return marks;
  };
  finder.effect.follower = std::move(next);
  return finder.effect;
}

// The landmarks of the best person.
Effect pose(const std::vector<Model>& models, const FrameInput& frame) {
  const std::string input = models[0].inputs()[0].name;
  const int detector_side = square_input_side(models[0], 3, "pose detector");
  const FrameInput seen = pose_detector_frame(frame, detector_side);
  const int side = square_input_side(models[1], 3, "pose landmark network");
  Follower next = follower(models[1], pose_frame(frame), side);
  next.find = [part = *seen.transform, detector_side](const Outputs& outputs) {
    const std::vector<Detection> people = decode_pose_detector(outputs, detector_side, 0.5f);
    return people.empty() ? std::nullopt
                          : std::optional(pose_region(in_frame(people[0], detector_side, part)));
  };
  next.decode = [side](const Outputs& outputs, const Region& region) {
    const Pose pose = read_pose(outputs, region, side);
    Marks marks;
    if (pose.presence < 0.5f) return marks;
    const auto is_visible = [&](int i) { return pose.landmarks.at(i).visibility >= 0.5f; };
    for (const auto& [from, to] : pose_connections())
      if (is_visible(from) && is_visible(to))
        marks.outlines.push_back({pose.landmarks.at(from).point, pose.landmarks.at(to).point});
    return marks;
  };
  const Model framed = with_frames(models[0], input, seen);
  return {with_picture(framed, models[0].outputs()[0].name, frame_alone(input)), input, "picture", no_marks,
          std::move(next)};
}

// The person before a blue wall, blended on the device.
Effect people(const std::vector<Model>& models, const FrameInput& frame) {
  const Model& model = models[0];
  const std::string input = model.inputs()[0].name, output = model.outputs()[0].name;
  const Shape& shape = model.inputs()[0].shape;
  FrameInput seen = frame;
  seen.scale.fill(1 / 255.0f);
  seen.transform = FrameTransform::stretch(io::size_of(frame),
                                           {static_cast<double>(shape[2]), static_cast<double>(shape[1])});
  // The wall hides pixels that are a person with a probability below 0.4: they would be a fringe of
  // background.
  const PictureOutput wall{
      .low = 0.4f, .high = 0.9f, .palette = {{24, 72, 160, 255}, {24, 72, 160, 0}}, .over = input};
  return {with_picture(with_frames(model, input, seen), output, wall), input, output, no_marks};
}

Effect lines(const std::vector<Model>& models, const FrameInput& frame) {
  const Model& model = models[0];
  const std::string input = model.inputs()[0].name;
  const auto width = static_cast<float>(frame.width), height = static_cast<float>(frame.height);
  const auto decode = [width, height](const Outputs& outputs) {
    const MlsdOutputs found = find_mlsd_outputs(outputs);
    Marks marks;
    for (const Line& line : decode_mlsd(found.scores, found.displacements, found.side, {}))
      marks.outlines.push_back(
          {{line.start.x * width, line.start.y * height}, {line.end.x * width, line.end.y * height}});
    return marks;
  };
  const Model framed = with_frames(model, input, mlsd_frame(frame, square_input_side(model, 4, "M-LSD")));
  return {with_picture(framed, model.outputs()[0].name, frame_alone(input)), input, "picture", decode};
}

// Red where there is text, and a box around each line.
Effect text(const std::vector<Model>& models, const FrameInput& frame) {
  const Model& model = models[0];
  const std::string input = model.inputs()[0].name, output = model.outputs()[0].name;
  const FrameInput seen = text_frame(frame, 640);
  const auto height = static_cast<int>(seen.network_shape[2]),
             width = static_cast<int>(seen.network_shape[3]);
  const auto decode = [part = *seen.transform, output, width, height](const Outputs& outputs) {
    Marks marks;
    for (const TextLine& line : find_text_lines(outputs.at(output).as<float>(), width, height, {})) {
      std::vector<Point> corners;
      for (const Point& corner : line.corners)
        corners.push_back(to_point(part.to_frame({corner.x, corner.y})));
      marks.outlines.push_back(corners);
    }
    return marks;
  };
  const PictureOutput heat{
      .palette = {{255, 32, 32, 0}, {255, 32, 32, 96}}, .over = input, .name = "picture"};
  return {with_picture(with_frames(model, input, seen), output, heat), input, "picture", decode};
}

}  // namespace

const std::vector<EffectKind>& effect_kinds() {
  static constexpr const char* kBlazeFace = "face_detection_front_128x128_barracuda.onnx";
  static const std::vector<EffectKind> kinds{
      {"faces", {kBlazeFace}, faces},
      {"mesh", {kBlazeFace, "face_landmark.tflite"}, mesh},
      {"pose", {"pose_detection.tflite", "pose_landmark_lite.tflite"}, pose},
      {"people", {"selfie_segmentation.tflite"}, people},
      {"lines", {"mlsd_320x320_tiny.onnx"}, lines},
      {"text", {"ch_PP-OCRv4_det_infer.onnx"}, text}};
  return kinds;
}

}  // namespace vellum::samples
