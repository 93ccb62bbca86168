#include "live/effect.hpp"

#include "common/photo.hpp"
#include "common/sample.hpp"
#include "face_detection/blazeface.hpp"
#include "line_detection/mlsd.hpp"
#include "ocr/text_lines.hpp"
#include "vellum/picture.hpp"

namespace vellum::samples {
namespace {

// The frame alone, beside an output whose values are decoded.
PictureOutput frame_alone(const std::string& input) {
  return {.palette = {{0, 0, 0, 0}}, .over = input, .name = "picture"};
}

Marks no_marks(const std::map<std::string, Tensor>&) { return {}; }

Effect faces(const Model& model, const FrameInput& frame) {
  const std::string input = model.inputs()[0].name;
  const int side = square_input_side(model, 3, "BlazeFace");
  const FrameInput seen = blazeface_frame(frame, side);
  const auto decode = [part = *seen.transform, side](const std::map<std::string, Tensor>& outputs) {
    const auto pixel = [&](Point point) {
      const auto length = static_cast<float>(side);
      return to_point(part.to_frame({length * point.x, length * point.y}));
    };
    Marks marks;
    for (const Face& face :
         merge_overlapping(decode_blazeface(find_blazeface_outputs(outputs), side, 0.5f), 0.3f)) {
      const Point a = face.top_left, b = face.bottom_right;
      marks.outlines.push_back({pixel(a), pixel({b.x, a.y}), pixel(b), pixel({a.x, b.y})});
      for (const Point point : face.keypoints) marks.dots.push_back(pixel(point));
    }
    return marks;
  };
  const Model framed = with_frames(model, input, seen);
  return {with_picture(framed, model.outputs()[0].name, frame_alone(input)), input, "picture", decode};
}

// The person before a blue wall, blended on the device.
Effect people(const Model& model, const FrameInput& frame) {
  const std::string input = model.inputs()[0].name, output = model.outputs()[0].name;
  const Shape& shape = model.inputs()[0].shape;
  FrameInput seen = frame;
  seen.scale.fill(1 / 255.0f);
  seen.transform =
      FrameTransform::stretch(size_of(frame), {static_cast<double>(shape[2]), static_cast<double>(shape[1])});
  const PictureOutput wall{.palette = {{24, 72, 160, 255}, {24, 72, 160, 0}}, .over = input};
  return {with_picture(with_frames(model, input, seen), output, wall), input, output, no_marks};
}

Effect lines(const Model& model, const FrameInput& frame) {
  const std::string input = model.inputs()[0].name;
  const auto width = static_cast<float>(frame.width), height = static_cast<float>(frame.height);
  const auto decode = [width, height](const std::map<std::string, Tensor>& outputs) {
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
Effect text(const Model& model, const FrameInput& frame) {
  const std::string input = model.inputs()[0].name, output = model.outputs()[0].name;
  const FrameInput seen = text_frame(frame, 640);
  const auto height = static_cast<int>(seen.network_shape[2]),
             width = static_cast<int>(seen.network_shape[3]);
  const auto decode = [part = *seen.transform, output, width,
                       height](const std::map<std::string, Tensor>& outputs) {
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
  static const std::vector<EffectKind> kinds{{"faces", "face_detection_front_128x128_barracuda.onnx", faces},
                                             {"people", "selfie_segmentation.tflite", people},
                                             {"lines", "mlsd_320x320_tiny.onnx", lines},
                                             {"text", "ch_PP-OCRv4_det_infer.onnx", text}};
  return kinds;
}

}  // namespace vellum::samples
