package io.vellum.sample;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import io.vellum.Device;
import io.vellum.FrameFormat;
import io.vellum.FrameInput;
import io.vellum.FrameTransform;
import io.vellum.MemoryReport;
import io.vellum.Model;
import java.awt.image.BufferedImage;
import java.io.File;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.List;
import javax.imageio.ImageIO;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.Test;

/** The app's logic on photos in place of a camera: what it finds is what the samples in C++ find (tests/samples). */
public class SampleTest {
  private static final String DATA = System.getenv("VELLUM_TEST_DATA");
  private static Device device;
  private static List<Task> tasks;

  @BeforeClass
  public static void open() throws Exception {
    device = Device.open();
    tasks = Networks.all(lines(Networks.LABELS), lines(Networks.CHARACTERS));
  }

  private static List<String> lines(String file) throws Exception {
    return Files.readAllLines(Paths.get(DATA, "models", file));
  }

  @AfterClass
  public static void close() {
    device.close();
  }

  private static final class Photo implements Frames {
    final int width;
    final int height;
    final ByteBuffer rgb;

    /** @param degrees by which the camera would have to turn the frame clockwise */
    Photo(String name, int degrees) throws Exception {
      BufferedImage image = ImageIO.read(new File(DATA + "/photos/" + name));
      boolean sideways = degrees == 90;
      width = sideways ? image.getHeight() : image.getWidth();
      height = sideways ? image.getWidth() : image.getHeight();
      rgb = ByteBuffer.allocateDirect(3 * width * height);
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
          int pixel = sideways ? image.getRGB(height - 1 - y, x) : image.getRGB(x, y);
          rgb.put((byte) (pixel >> 16)).put((byte) (pixel >> 8)).put((byte) pixel);
        }
      rgb.flip();
    }

    @Override
    public FrameInput get() {
      return new FrameInput(FrameFormat.RGB8, width, height);
    }

    @Override
    public int rgb(ByteBuffer frame, int x, int y) {
      int at = 3 * (y * width + x);
      return (frame.get(at) & 0xFF) << 16 | (frame.get(at + 1) & 0xFF) << 8 | frame.get(at + 2) & 0xFF;
    }
  }

  private static Model load(String file) {
    String extension = file.matches("face_detection.*barracuda|mlsd.*|ch_PP-OCR.*") ? ".onnx" : ".tflite";
    return Model.load(DATA + "/models/" + file + extension);
  }

  private static Finder open(int task, Photo frame, int degrees) {
    return tasks.get(task).open(device, SampleTest::load, frame, new Upright(frame.width, frame.height, degrees));
  }

  private static List<Mark> find(int task, String photo, int degrees) throws Exception {
    Photo frame = new Photo(photo, degrees);
    try (Finder finder = open(task, frame, degrees)) {
      String memory = Reports.memory(finder.memory());
      assertTrue(memory, memory.contains("objects, ") && memory.contains(" tensors"));
      return finder.find(frame.rgb);
    }
  }

  @Test
  public void theFaceIsFound() throws Exception {
    List<Mark> faces = find(0, "astronaut.png", 0);
    assertEquals(1, faces.size());
    assertEquals(0.9224, faces.get(0).score, 0.0005);
    float[] box = faces.get(0).points;
    assertEquals(0.34, box[0], 0.02);
    assertEquals(0.53, box[2], 0.02);
    assertEquals(0.8767, find(1, "astronaut.png", 0).get(0).score, 0.001);
  }

  /** The frame lies on its side, as a phone's camera delivers it; the face is at the same place of the upright picture. */
  @Test
  public void theFaceIsFoundInATurnedFrame() throws Exception {
    float[] expected = find(0, "astronaut.png", 0).get(0).points;
    List<Mark> faces = find(0, "astronaut.png", 90);
    assertEquals(1, faces.size());
    assertArrayEquals(expected, faces.get(0).points, 0.01f);
  }

  @Test
  public void theCupIsFound() throws Exception {
    List<Mark> objects = find(2, "coffee.png", 0);
    assertEquals(1, objects.size());
    assertEquals("Coffee cup", objects.get(0).label);
    assertEquals(0.557, objects.get(0).score, 0.002);
  }

  @Test
  public void theLinesAreFound() throws Exception {
    assertEquals(15, find(3, "astronaut.png", 0).size());
  }

  @Test
  public void thePersonIsFound() throws Exception {
    assertEquals(0.544, find(4, "astronaut.png", 0).get(0).score, 0.002);
  }

  /** The wall's share is what the mask leaves, and its colours are premultiplied. */
  @Test
  public void theWallIsWhereThePersonIsNot() throws Exception {
    Photo photo = new Photo("astronaut.png", 0);
    try (Finder finder = open(4, photo, 0)) {
      float person = finder.find(photo.rgb).get(0).score;
      byte[] wall = finder.picture().toBytes();
      assertArrayEquals(new long[] {256, 256, 4}, finder.picture().shape());
      double opaque = 0;
      for (int i = 0; i < wall.length; i += 4) {
        double alpha = (wall[i + 3] & 0xFF) / 255.0;
        opaque += alpha;
        assertEquals(0, wall[i]);
        assertEquals((Selfie.WALL >> 8 & 0xFF) * alpha, wall[i + 1] & 0xFF, 1.5);
      }
      assertEquals(1 - person, opaque / (wall.length / 4), 0.003);
    }
    try (Finder faces = open(0, photo, 0)) {
      assertNull(faces.picture());
    }
  }

  /** The tip of the nose is where LiteRT puts it (tests/samples/mesh_test.cpp), also in a turned frame. */
  @Test
  public void theMeshIsFound() throws Exception {
    for (int degrees : new int[] {0, 90}) {
      List<Mark> meshes = find(5, "astronaut.png", degrees);
      assertEquals(1, meshes.size());
      assertTrue(meshes.get(0).score > 0.99f);
      float[] points = meshes.get(0).points;
      assertEquals(2 * 468, points.length);
      assertArrayEquals(new float[] {223.7f / 512, 130.7f / 512}, new float[] {points[2], points[3]}, 2f / 512);
    }
  }

  @Test
  public void theNetworksOfTheMeshShareTheirMemory() throws Exception {
    Photo frame = new Photo("astronaut.png", 0);
    try (Finder finder = open(5, frame, 0)) {
      finder.find(frame.rgb);
      long largest = 0;
      for (MemoryReport report : finder.memory()) largest = Math.max(largest, report.plannedBytes());
      for (MemoryReport report : finder.memory()) assertEquals(largest, report.allocatedBytes(), 0.1 * largest);
    }
  }

  /** The lines that the sample in C++ reads (tests/samples/CMakeLists.txt), of a frame that lies on its side. */
  @Test
  public void theTextIsRead() throws Exception {
    StringBuilder page = new StringBuilder();
    List<Mark> lines = find(6, "page.png", 90);
    for (Mark line : lines) page.append(line.label).append('\n');
    String text = page.toString();
    String[] expected = {"Region-based segmentation", "first determine markers of the coins and the", "object or background"};
    for (String line : expected) assertTrue(text, text.contains(line));
    assertTrue("top to bottom", lines.get(0).points[1] < lines.get(lines.size() - 1).points[1]);
  }

  @Test
  public void camerasFramesHaveTheColoursThatTheNetworksSee() {
    CameraFrames frames = new CameraFrames(4, 2);
    ByteBuffer frame = ByteBuffer.allocateDirect(4 * 2 * 3 / 2);
    int[] bytes = {76, 76, 29, 255, 76, 76, 29, 0, 84, 255, 128, 128}; // red; grey levels
    for (int value : bytes) frame.put((byte) value);
    assertEquals("red", 0xFE0000, frames.rgb(frame, 0, 1));
    assertEquals("white", 0xFFFFFF, frames.rgb(frame, 3, 0));
    assertEquals("dark grey", 0x1D1D1D, frames.rgb(frame, 2, 1));
  }

  @Test
  public void turnedFramesAreMappedToTheUprightPicture() {
    for (int degrees = 0; degrees < 360; degrees += 90) {
      Upright upright = new Upright(400, 300, degrees);
      for (boolean keepsProportions : new boolean[] {false, true}) {
        FrameTransform transform = upright.transform(keepsProportions, 64, 64);
        assertArrayEquals("the middle", new float[] {0.5f, 0.5f}, upright.fractions(transform.toFrame(32, 32)), 1e-4f);
        float[] right = upright.fractions(transform.toFrame(48, 32));
        assertTrue("right is right", right[0] > 0.6f);
        assertEquals("right is not down", 0.5f, right[1], 1e-4f);
        assertTrue("down is down", upright.fractions(transform.toFrame(32, 48))[1] > 0.6f);
      }
    }
  }

  @Test
  public void benchmarksAreJson() throws Exception {
    Photo frame = new Photo("astronaut.png", 0);
    try (Finder finder = open(0, frame, 0)) {
      finder.run(frame.rgb);
      long[] times = {3_000_000, 1_000_000, 2_500_000};
      String json = Reports.benchmark("a \"b\"\\\n", device.info(), finder.memory(), times);
      assertTrue(json, json.startsWith("{\"model\": \"a \\\"b\\\"\\\\\\u000a\", \"device\": \""));
      assertTrue(json, json.contains("\"runs\": 3, \"min_ms\": 1.000, \"median_ms\": 2.500, \"max_ms\": 3.000"));
    }
  }
}
