// Reads FlatBuffers (https://flatbuffers.dev/internals/) and FlexBuffers (https://flatbuffers.dev/flexbuffers/) as far
// as cutting a TFLite model into parts needs it. A field is known by its number in the schema.

export class Table {
  constructor(view, position) {
    this.view = view;
    this.position = position;
  }

  static root(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return new Table(view, view.getUint32(0, true));
  }

  // Where a field's value stands; 0 where the table leaves it out.
  field(number) {
    const vtable = this.position - this.view.getInt32(this.position, true);
    const entry = 4 + 2 * number;
    if (entry >= this.view.getUint16(vtable, true)) return 0;
    const offset = this.view.getUint16(vtable + entry, true);
    return offset === 0 ? 0 : this.position + offset;
  }

  integer(number, otherwise = 0) {
    const at = this.field(number);
    return at === 0 ? otherwise : this.view.getInt32(at, true);
  }

  byte(number, otherwise = 0) {
    const at = this.field(number);
    return at === 0 ? otherwise : this.view.getInt8(at);
  }

  // Start of the elements and their number.
  vector(number) {
    const at = this.field(number);
    if (at === 0) return { start: 0, length: 0 };
    const start = at + this.view.getUint32(at, true);
    return { start: start + 4, length: this.view.getUint32(start, true) };
  }

  integers(number) {
    const { start, length } = this.vector(number);
    return Array.from({ length }, (_, index) => this.view.getInt32(start + 4 * index, true));
  }

  bytes(number) {
    const { start, length } = this.vector(number);
    return new Uint8Array(this.view.buffer, this.view.byteOffset + start, length);
  }

  string(number) {
    return Buffer.from(this.bytes(number)).toString('utf8');
  }

  tables(number) {
    const { start, length } = this.vector(number);
    return Array.from({ length }, (_, index) => {
      const at = start + 4 * index;
      return new Table(this.view, at + this.view.getUint32(at, true));
    });
  }
}

const INT = 1;
const UINT = 2;
const FLOAT = 3;
const MAP = 9;
const VECTOR_INT = 11;
const VECTOR_UINT = 12;

function readNumber(view, at, width, kind) {
  if (kind === FLOAT) return width === 8 ? view.getFloat64(at, true) : view.getFloat32(at, true);
  const name = `get${kind === INT ? (width === 8 ? 'BigInt' : 'Int') : width === 8 ? 'BigUint' : 'Uint'}${8 * width}`;
  return Number(width === 1 ? view[name](at) : view[name](at, true));
}

function readValue(view, at, parentWidth, packed) {
  const width = 1 << (packed & 3);
  const type = packed >> 2;
  if (type >= INT && type <= FLOAT) return readNumber(view, at, parentWidth, type);
  const target = at - readNumber(view, at, parentWidth, UINT);
  const indirect = { 6: INT, 7: UINT, 8: FLOAT }[type];
  if (indirect) return readNumber(view, target, width, indirect);
  if (type === VECTOR_INT || type === VECTOR_UINT) {
    const kind = type === VECTOR_INT ? INT : UINT;
    const length = readNumber(view, target - width, width, UINT);
    return Array.from({ length }, (_, index) => readNumber(view, target + index * width, width, kind));
  }
  throw new Error(`a FlexBuffer value of type ${type} is not read here`);
}

// The root map as an object of numbers and lists of integers.
export function readFlexMap(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const rootWidth = bytes[bytes.length - 1];
  const packed = bytes[bytes.length - 2];
  if (packed >> 2 !== MAP) throw new Error('the options are no FlexBuffer map');
  const width = 1 << (packed & 3);
  const root = bytes.length - 2 - rootWidth;
  const values = root - readNumber(view, root, rootWidth, UINT);
  const length = readNumber(view, values - width, width, UINT);
  const keyWidth = readNumber(view, values - 2 * width, width, UINT);
  const keys = values - 3 * width - readNumber(view, values - 3 * width, width, UINT);
  const map = {};
  for (let index = 0; index < length; ++index) {
    const at = keys + index * keyWidth;
    const key = at - readNumber(view, at, keyWidth, UINT);
    const name = Buffer.from(bytes.subarray(key, bytes.indexOf(0, key))).toString('utf8');
    map[name] = readValue(view, values + index * width, width, bytes[values + length * width + index]);
  }
  return map;
}
