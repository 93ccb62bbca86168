// The data of the page, colours, and what is looked at: shared by all charts.
const data = JSON.parse(byId("data").textContent);
const taskCount = Math.max(1, data.tasks.length, ...data.tensors.map((tensor) => tensor.last + 1));

// Operators by the bytes they write, then by time: the first ones get a colour of their own.
const operators = (() => {
  const weight = new Map();
  for (const tensor of data.tensors) weight.set(tensor.op, (weight.get(tensor.op) || 0) + tensor.bytes);
  for (const task of data.tasks) if (!weight.has(task.op)) weight.set(task.op, 0);
  return [...weight.keys()].sort((a, b) => weight.get(b) - weight.get(a) || (a < b ? -1 : 1));
})();
const kOwnColours = 11;
const colourIndex = new Map(operators.map((op, i) => [op, Math.min(i, kOwnColours)]));

let palette = null;
function colours() {
  if (palette) return palette;
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(name).trim();
  palette = { ops: [] };
  for (let i = 0; i <= kOwnColours; ++i) palette.ops.push(read("--c" + i));
  for (const name of ["ink", "quiet", "line", "lane", "accent", "edge", "card", "bad", "good"]) palette[name] = read("--" + name);
  return palette;
}
const colourOf = (op) => colours().ops[colourIndex.get(op) ?? kOwnColours];

// The colour as a CSS variable, for elements, which follows the theme.
const cssColourOf = (op) => "var(--c" + (colourIndex.get(op) ?? kOwnColours) + ")";

// State that all charts share. Change it through look(), which redraws them once a frame.
const view = { begin: 0, end: taskCount, tensor: -1, pinned: -1, task: -1, op: null };
const charts = [];
let frame = 0;
function look(changes) {
  Object.assign(view, changes);
  if (!frame) frame = requestAnimationFrame(() => { frame = 0; for (const chart of charts) chart.draw(); });
}

function zoom(factor, around) {
  const span = clamp((view.end - view.begin) * factor, Math.min(4, taskCount), taskCount);
  const centre = around === undefined ? (view.begin + view.end) / 2 : around;
  const share = (centre - view.begin) / (view.end - view.begin);
  const begin = clamp(centre - span * share, 0, taskCount - span);
  look({ begin, end: begin + span });
}
function pan(tasks) {
  const span = view.end - view.begin;
  const begin = clamp(view.begin + tasks, 0, taskCount - span);
  look({ begin, end: begin + span });
}
function showTask(first, last) {
  const span = view.end - view.begin;
  if (first < view.begin) pan(first - view.begin);
  else if (last + 1 > view.end) pan(Math.min(last + 1 - view.end, first - view.begin));
}

function tensorFacts(index) {
  const tensor = data.tensors[index], object = data.objects[tensor.object], task = data.tasks[tensor.first];
  const facts = [["operator", tensor.op], ["shape", tensor.shape || "scalar"]];
  if (tensor.role !== "intermediate") facts.push(["role", tensor.role]);
  facts.push(["object", object ? "#" + object.id + " " + object.label + ", carries " + object.reuse : "–"]);
  facts.push(["lives", "tasks " + tensor.first + " to " + tensor.last + " (" + (tensor.last - tensor.first + 1) + ")"]);
  facts.push(["bytes", grouped(tensor.bytes) + " (" + bytes(tensor.bytes) + ")"]);
  facts.push(["address", grouped(tensor.address)]);
  if (task && task.ms !== null) facts.push(["written in", milliseconds(task.ms)]);
  return facts;
}
function taskFacts(index) {
  const task = data.tasks[index];
  if (!task) return [];
  return [["task", String(index)], ["operator", task.op], ["shader", task.shader || "(host)"],
          ["storage", task.storage || "–"], ["time", milliseconds(task.ms)], ["live", bytes(liveBytes[index])]];
}

// Bytes of memory that hold live tensors at each task; memory that tensors share counts once.
const liveBytes = data.live;
