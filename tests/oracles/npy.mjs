// NumPy's .npy files (format 1.0 and 2.0, https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html),
// row-major and little-endian, as tensors { dtype, shape, data }.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';

// dtype as ONNX Runtime names it, NumPy's descriptor, and the array that holds the elements.
const TYPES = [
  { dtype: 'float32', descr: '<f4', array: Float32Array },
  { dtype: 'int32', descr: '<i4', array: Int32Array },
  { dtype: 'int64', descr: '<i8', array: BigInt64Array },
  { dtype: 'uint8', descr: '|u1', array: Uint8Array },
  { dtype: 'bool', descr: '|b1', array: Uint8Array },
];

const MAGIC = Buffer.from('\x93NUMPY', 'latin1');

export function elementCount(shape) {
  return shape.reduce((product, size) => product * size, 1);
}

export function readNpy(path) {
  const bytes = readFileSync(path);
  if (bytes.length < 12 || !bytes.subarray(0, 6).equals(MAGIC)) throw new Error(`${path}: not a .npy file`);
  const wide = bytes[6] >= 2;
  const headerStart = wide ? 12 : 10;
  const headerEnd = headerStart + (wide ? bytes.readUInt32LE(8) : bytes.readUInt16LE(8));
  const header = bytes.toString('latin1', headerStart, headerEnd);
  const descr = /'descr':\s*'([^']*)'/.exec(header)?.[1];
  const dims = /'shape':\s*\(([^)]*)\)/.exec(header)?.[1];
  if (descr === undefined || dims === undefined) throw new Error(`${path}: malformed .npy header`);
  if (/'fortran_order':\s*True/.test(header)) throw new Error(`${path}: column-major order is not supported`);
  const type = TYPES.find((candidate) => candidate.descr === descr);
  if (!type) throw new Error(`${path}: element type ${descr} is not supported`);
  const shape = dims.split(',').map((part) => part.trim()).filter((part) => part !== '').map(Number);
  const size = elementCount(shape) * type.array.BYTES_PER_ELEMENT;
  if (bytes.length - headerEnd < size) throw new Error(`${path}: truncated`);
  const copy = Uint8Array.prototype.slice.call(bytes, headerEnd, headerEnd + size); // aligned, unlike the file
  return { dtype: type.dtype, shape, data: new type.array(copy.buffer, copy.byteOffset, elementCount(shape)) };
}

export function writeNpy(path, { dtype, shape, data }) {
  const type = TYPES.find((candidate) => candidate.dtype === dtype);
  if (!type) throw new Error(`${path}: element type ${dtype} is not supported`);
  const dims = shape.length === 1 ? `${shape[0]},` : shape.join(', ');
  let header = `{'descr': '${type.descr}', 'fortran_order': False, 'shape': (${dims}), }`;
  header = header.padEnd(Math.ceil((header.length + 11) / 64) * 64 - 11) + '\n'; // data starts at a multiple of 64
  const prefix = Buffer.alloc(10);
  MAGIC.copy(prefix);
  prefix[6] = 1;
  prefix.writeUInt16LE(header.length, 8);
  const body = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  writeFileSync(`${path}.part`, Buffer.concat([prefix, Buffer.from(header, 'latin1'), body]));
  renameSync(`${path}.part`, path);
}
