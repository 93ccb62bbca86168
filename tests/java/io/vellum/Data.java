package io.vellum;

import static org.junit.Assert.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** Models, values and the results of the `vellum` tool, which is C++ over the same library. */
final class Data {
  static final String FACES = "face_detection_front_128x128_barracuda.onnx";

  private Data() {}

  static String model(String name) {
    return folder() + "/models/" + name;
  }

  static String folder() {
    String folder = System.getenv("VELLUM_TEST_DATA");
    if (folder == null) throw new IllegalStateException("VELLUM_TEST_DATA is not set");
    return folder;
  }

  /** Values in -1..1, the same for the same seed. */
  static float[] values(int count, long seed) {
    Random random = new Random(seed);
    float[] values = new float[count];
    for (int i = 0; i < count; ++i) values[i] = 2 * random.nextFloat() - 1;
    return values;
  }

  /** A tensor of random values for an input of floats. */
  static Tensor random(TensorInfo input, long seed) {
    return Tensor.of(values((int) (input.byteSize() / 4), seed), input.shape());
  }

  /** Runs `vellum run MODEL -i INPUT=values OPTION...` and returns the bytes of its outputs in the order of `outputs`. */
  static List<byte[]> runTool(String model, TensorInfo input, Tensor values, List<TensorInfo> outputs, String... options)
      throws IOException, InterruptedException {
    Path folder = Files.createTempDirectory("vellum_java");
    try {
      Path npy = folder.resolve("input.npy");
      writeNpy(npy, values);
      List<String> arguments =
          new ArrayList<>(Arrays.asList("run", model, "-i", input.name() + "=" + npy, "-o", folder.toString()));
      arguments.addAll(Arrays.asList(options));
      call(arguments.toArray(new String[0]));
      List<byte[]> results = new ArrayList<>();
      for (TensorInfo output : outputs)
        results.add(readNpy(folder.resolve(output.name().replaceAll("[^A-Za-z0-9._-]", "_") + ".npy")));
      return results;
    } finally {
      for (File file : folder.toFile().listFiles()) file.delete();
      Files.delete(folder);
    }
  }

  /** Runs the tool, which must succeed. */
  static void call(String... arguments) throws IOException, InterruptedException {
    output(arguments);
  }

  /** Does the same and returns what it prints. */
  static String output(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(Arrays.asList(arguments));
    command.add(0, System.getProperty("vellum.tool"));
    Process tool = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(readAll(tool.getInputStream()), StandardCharsets.UTF_8);
    assertEquals(said, 0, tool.waitFor());
    return said;
  }

  private static void writeNpy(Path file, Tensor values) throws IOException {
    StringBuilder shape = new StringBuilder();
    for (long dim : values.shape()) shape.append(dim).append(',');
    String header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }";
    while ((header.length() + 11) % 64 != 0) header += ' ';
    header += '\n';
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    bytes.write(new byte[] {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (byte) header.length(), (byte) (header.length() >> 8)});
    bytes.write(header.getBytes(StandardCharsets.US_ASCII));
    bytes.write(values.toBytes());
    Files.write(file, bytes.toByteArray());
  }

  private static byte[] readNpy(Path file) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    ByteBuffer header = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    assertEquals("version of " + file, 1, header.get(6));
    return Arrays.copyOfRange(bytes, 10 + (header.getShort(8) & 0xFFFF), bytes.length);
  }

  private static byte[] readAll(InputStream from) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    byte[] part = new byte[4096];
    for (int count = from.read(part); count >= 0; count = from.read(part)) bytes.write(part, 0, count);
    return bytes.toByteArray();
  }
}
