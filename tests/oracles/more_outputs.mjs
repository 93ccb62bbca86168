// Makes values of an ONNX model outputs of it, without a protobuf library: fields of a message that occurs twice are
// merged, repeated ones by appending (https://protobuf.dev/programming-guides/encoding/#last-one-wins), so a second
// graph with nothing but outputs, appended to the file, adds them. Field numbers are those of onnx.proto.
const MODEL_GRAPH = 7;
const GRAPH_NODE = 1;
const GRAPH_OUTPUT = 12;
const NODE_OUTPUT = 2;
const VALUE_NAME = 1;

const VARINT = 0;
const FIXED64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED32 = 5;

function readVarint(bytes, position) {
  let value = 0;
  for (let factor = 1; ; factor *= 128) {
    if (position >= bytes.length) throw new Error('truncated protobuf message');
    const byte = bytes[position++];
    value += (byte & 127) * factor;
    if (byte < 128) return { value, position };
  }
}

// The payloads of the length-delimited fields with this number.
function* fields(bytes, number) {
  let position = 0;
  while (position < bytes.length) {
    const tag = readVarint(bytes, position);
    position = tag.position;
    const wireType = tag.value % 8;
    if (wireType === VARINT) {
      position = readVarint(bytes, position).position;
    } else if (wireType === FIXED64) {
      position += 8;
    } else if (wireType === FIXED32) {
      position += 4;
    } else if (wireType === LENGTH_DELIMITED) {
      const length = readVarint(bytes, position);
      position = length.position + length.value;
      if (position > bytes.length) throw new Error('truncated protobuf message');
      if (Math.floor(tag.value / 8) === number) yield bytes.subarray(length.position, position);
    } else {
      throw new Error(`unknown protobuf wire type ${wireType}`);
    }
  }
}

function field(number, payload) {
  const varint = (value) => (value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))]);
  return Buffer.concat([Buffer.from([...varint(number * 8 + LENGTH_DELIMITED), ...varint(payload.length)]), payload]);
}

// The names of what the nodes compute.
export function valueNames(model) {
  const names = new Set();
  for (const graph of fields(model, MODEL_GRAPH)) {
    for (const node of fields(graph, GRAPH_NODE)) {
      for (const name of fields(node, NODE_OUTPUT)) names.add(name.toString('utf8'));
    }
  }
  names.delete(''); // an optional output that the node leaves out
  return [...names];
}

// The model with these values as outputs, behind those that it has.
export function withOutputs(model, names) {
  const present = new Set();
  for (const graph of fields(model, MODEL_GRAPH)) {
    for (const output of fields(graph, GRAPH_OUTPUT)) {
      for (const name of fields(output, VALUE_NAME)) present.add(name.toString('utf8'));
    }
  }
  const added = names.filter((name) => !present.has(name));
  if (added.length === 0) return model;
  const outputs = added.map((name) => field(GRAPH_OUTPUT, field(VALUE_NAME, Buffer.from(name, 'utf8'))));
  return Buffer.concat([model, field(MODEL_GRAPH, Buffer.concat(outputs))]);
}
