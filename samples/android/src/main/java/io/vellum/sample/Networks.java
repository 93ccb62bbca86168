package io.vellum.sample;

import java.util.Arrays;
import java.util.List;

/** The entries of the menu. samples/android/bundles.sh writes the bundles of their networks. */
final class Networks {
  static final String LABELS = "object_detection_oidv4_labelmap.txt";
  static final String CHARACTERS = "ppocr_keys_v1.txt";

  private Networks() {}

  /** The lines of LABELS and of CHARACTERS. */
  static List<Task> all(List<String> labels, List<String> characters) {
    Network near = new BlazeFace("Faces, near", "face_detection_front_128x128_barracuda");
    return Arrays.asList(
        near,
        new BlazeFace("Faces, far", "face_detection_back_256x256_barracuda"),
        new Ssd("Objects", "object_detection_ssd_mobilenetv2_oidv4_fp16", labels),
        new Mlsd("Lines", "mlsd_320x320_tiny"),
        new Selfie("Selfie", "selfie_segmentation"),
        new FaceMesh("Face mesh", near, "face_landmark"),
        new Ocr("Text", characters));
  }
}
