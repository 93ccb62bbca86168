package io.vellum;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.Test;

/** Pictures larger than memory: each tile is read and written by the application. */
public class LargePictureTest {
  /** x [1,3,28,28] to y [1,3,30,30]: means of 3x3 windows. Debian: libonnx-testdata. */
  private static final String POOL = "/usr/share/libonnx-testdata/data/node/test_averagepool_2d_pads/model.onnx";

  /** A dim_value of 28 or 30; with an empty dim_param in its place the dimension is open. */
  private static final int DIM_VALUE = 0x08;
  private static final int DIM_PARAM = 0x12;
  private static final int SIDE = 28;
  private static final int RESULT_SIDE = 30;

  private static Device device;
  private static Model model;
  private static float[] photo;
  private static byte[] expected;

  @BeforeClass
  public static void open() throws Exception {
    device = Device.open();
    model = openModel();
    try (Model fixed = Model.load(POOL)) {
      TensorInfo input = fixed.inputs().get(0);
      Tensor values = Data.random(input, 5);
      photo = values.toFloats();
      expected = Data.runTool(POOL, input, values, fixed.outputs()).get(0);
    }
  }

  private static Model openModel() throws IOException {
    byte[] bytes = Files.readAllBytes(Paths.get(POOL));
    for (int i = 0; i + 3 < bytes.length; ++i) {
      boolean isDimension = bytes[i] == 0x0a && bytes[i + 1] == 2 && bytes[i + 2] == DIM_VALUE;
      if (!isDimension || bytes[i + 3] != SIDE && bytes[i + 3] != RESULT_SIDE) continue;
      bytes[i + 2] = DIM_PARAM;
      bytes[i + 3] = 0;
    }
    return Model.load(ByteBuffer.wrap(bytes));
  }

  private static SessionOptions whole() {
    return new SessionOptions().inputShape("x", 1, 3, SIDE, SIDE);
  }

  @AfterClass
  public static void close() {
    model.close();
    device.close();
  }

  private static LargePicture tiled() {
    return LargePicture.create(device, model, whole(), 12, 9);
  }

  private static void read(PictureRegion region, ByteBuffer values) {
    FloatBuffer to = values.asFloatBuffer();
    assertEquals(3 * region.height() * region.width(), to.remaining());
    assertEquals(0, region.tensor());
    assertEquals(2, region.rowsAxis());
    for (int row = 0; row < 3 * region.height(); ++row) to.put(photo, begin(region, row, SIDE), (int) region.width());
  }

  private static int begin(PictureRegion region, int row, int side) {
    int channel = row / (int) region.height();
    int y = (int) region.top() + row % (int) region.height();
    return (channel * side + y) * side + (int) region.left();
  }

  private static RegionWriter writerTo(float[] result) {
    return (region, values) -> {
      FloatBuffer from = values.asFloatBuffer();
      for (int row = 0; row < 3 * region.height(); ++row)
        from.get(result, begin(region, row, RESULT_SIDE), (int) region.width());
      assertFalse(region.toString(), from.hasRemaining());
    };
  }

  private static void expectTheToolsBits(LargePicture picture) {
    float[] result = new float[3 * RESULT_SIDE * RESULT_SIDE];
    picture.run(LargePictureTest::read, writerTo(result));
    assertArrayEquals(expected, Tensor.of(result, 1, 3, RESULT_SIDE, RESULT_SIDE).toBytes());
  }

  @Test
  public void tilesHaveTheBitsThatTheToolWritesOfTheWhole() {
    try (LargePicture one = LargePicture.create(device, model, whole().memoryBudget(64 << 20));
        LargePicture tiled = tiled()) {
      assertEquals(1, one.tiles().count());
      PictureTiles tiles = tiled.tiles();
      assertTrue(tiles.toString(), tiles.height() <= 12 && tiles.width() <= 9 && tiles.down() * tiles.across() > 4);
      for (LargePicture picture : Arrays.asList(one, tiled)) {
        assertArrayEquals(new long[] {1, 3, SIDE, SIDE}, picture.inputs().get(0).shape());
        assertArrayEquals(new long[] {1, 3, RESULT_SIDE, RESULT_SIDE}, picture.outputs().get(0).shape());
        expectTheToolsBits(picture);
      }
      assertTrue(one.peakBytes() > 0 && one.peakBytes() <= 64 << 20);
      assertEquals(0, tiled.peakBytes());
    }
  }

  @Test
  public void aRunCanBeWatchedAndEnded() {
    try (LargePicture picture = tiled()) {
      long total = picture.tiles().count();
      List<Long> seen = new ArrayList<>();
      RegionWriter ignore = (region, values) -> {};
      VellumException cancelled = assertThrows(
          VellumException.class,
          () -> picture.run(LargePictureTest::read, ignore, (done, of) -> {
            assertEquals(total, of);
            seen.add(done);
            return done < 2;
          }));
      assertEquals(Status.CANCELLED, cancelled.status());
      assertEquals(Arrays.asList(0L, 1L, 2L), seen);
      expectTheToolsBits(picture);
    }
  }

  @Test
  public void whatTheApplicationThrowsEndsTheRunAndIsPassedOn() {
    IllegalArgumentException own = new IllegalArgumentException("own");
    try (LargePicture picture = tiled()) {
      RegionReader badReader = (region, values) -> { throw own; };
      RegionWriter badWriter = (region, values) -> { throw own; };
      TileListener badListener = (done, total) -> { throw own; };
      RegionWriter ignore = (region, values) -> {};
      assertEquals(own, assertThrows(IllegalArgumentException.class, () -> picture.run(badReader, ignore)));
      assertEquals(own, assertThrows(IllegalArgumentException.class, () -> picture.run(LargePictureTest::read, badWriter)));
      assertEquals(
          own,
          assertThrows(IllegalArgumentException.class, () -> picture.run(LargePictureTest::read, ignore, badListener)));
      expectTheToolsBits(picture);
    }
  }

  @Test
  public void misuseIsAnException() {
    List<ByteBuffer> kept = new ArrayList<>();
    LargePicture picture = tiled();
    assertThrows(NullPointerException.class, () -> picture.run(null, (region, values) -> {}));
    assertThrows(NullPointerException.class, () -> LargePicture.create(device, null, null));
    assertThrows(
        IllegalStateException.class,
        () -> picture.run((region, values) -> expectTheToolsBits(picture), (region, values) -> {}));
    picture.run(
        (region, values) -> {
          kept.add(values);
          picture.close(); // once the run is over
        },
        (region, values) -> kept.add(values));
    for (ByteBuffer values : kept) values.get(0);
    assertThrows(IllegalStateException.class, () -> picture.run(LargePictureTest::read, (region, values) -> {}));
    VellumException small = assertThrows(
        VellumException.class, () -> LargePicture.create(device, model, whole().memoryBudget(1000)));
    assertEquals(Status.OUT_OF_MEMORY, small.status());
    VellumException open = assertThrows(VellumException.class, () -> LargePicture.create(device, model, null));
    assertEquals(Status.INVALID_ARGUMENT, open.status());
    try (Model faces = Model.load(Data.model(Data.FACES))) {
      VellumException global = assertThrows(VellumException.class, () -> LargePicture.create(device, faces, null));
      assertEquals(Status.UNSUPPORTED, global.status());
    }
  }
}
