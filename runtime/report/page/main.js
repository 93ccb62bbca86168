// Puts the page together.
function header() {
  byId("title").textContent = data.model;
  document.title = data.model + " – memory and time";
  byId("subtitle").textContent = data.subtitle.join(" · ");
}

function figures() {
  const { naive, planned, bound, allocated } = data.totals;
  const timed = data.tasks.filter((task) => task.ms !== null);
  const total = timed.reduce((sum, task) => sum + task.ms, 0);
  const cards = [
    [bytes(planned), "planned for intermediates, " + percent(planned, naive) + " of naive"],
    [bytes(naive), "naive: each tensor on its own"],
    [bytes(bound), planned === bound ? "lower bound: the plan is optimal" : "lower bound; the plan is " + percent(planned - bound, bound) + " above"],
    [bytes(allocated), "allocated from Vulkan for them"],
    [data.tensors.length + " in " + data.objects.length, "tensors in " + data.places],
    [timed.length ? milliseconds(total) : "–", plural(data.tasks.length, "task") + (timed.length ? " on the device" : ", no timestamps")],
  ];
  byId("figures").replaceChildren(...cards.map(([value, text]) =>
      element("div", { class: "card" }, element("b", { text: value }), element("span", { class: "quiet", text }))));
}

function updateLegend() {
  for (const button of byId("legend").children) button.setAttribute("aria-pressed", String(button.dataset.op === view.op));
}
function legend() {
  byId("legend").replaceChildren(...operators.map((op) => {
    const button = element("button", { type: "button", "data-op": op, "aria-pressed": "false" },
        element("span", { class: "swatch", background: cssColourOf(op) }), document.createTextNode(op));
    button.addEventListener("click", () => { look({ op: view.op === op ? null : op }); updateLegend(); });
    return button;
  }));
  updateLegend();
}

function memoryBars() {
  const { naive, planned, bound, allocated } = data.totals;
  const row = (name, value, colour) => ({ name, value, colour, text: bytes(value) + "  " + percent(value, naive) });
  bars("plans", [row("naive", naive, "var(--c11)"), row("planned", planned, "var(--c0)"), row("allocated", allocated, "var(--c5)"),
                 row("lower bound", bound, "var(--bad)")]);
  const total = data.categories.reduce((sum, category) => sum + category.bytes, 0);
  bars("categories", data.categories.map((category, i) => ({
    name: category.name, value: category.bytes, colour: "var(--c" + i + ")", hint: category.hint,
    text: bytes(category.bytes) + "  " + percent(category.bytes, total),
  })));
}

function operatorBars() {
  const times = new Map();
  for (const task of data.tasks) {
    const entry = times.get(task.op) || { ms: 0, count: 0 };
    entry.ms += task.ms || 0;
    ++entry.count;
    times.set(task.op, entry);
  }
  const total = [...times.values()].reduce((sum, entry) => sum + entry.ms, 0);
  const rows = [...times].map(([op, entry]) => ({
    name: op, value: total ? entry.ms : entry.count, colour: cssColourOf(op), hint: plural(entry.count, "task"),
    text: total ? milliseconds(entry.ms) + "  " + percent(entry.ms, total) : plural(entry.count, "task"),
  }));
  byId("operators-heading").textContent = total ? "Time by operator" : "Tasks by operator";
  bars("operators", rows.sort((a, b) => b.value - a.value).slice(0, 12));
}

function selectLayer(index) {
  for (const line of byId("layers").querySelectorAll("tr[aria-selected]")) line.removeAttribute("aria-selected");
  const line = byId("layers").querySelector('tbody tr[data-index="' + index + '"]');
  if (!line) return;
  line.setAttribute("aria-selected", "true");
  line.scrollIntoView({ block: "center" });
}

function tables() {
  const most = Math.max(1e-9, ...data.tasks.map((task) => task.ms || 0));
  const total = data.tasks.reduce((sum, task) => sum + (task.ms || 0), 0);
  const layers = data.tasks.map((task, index) => ({ ...task, index }));
  new SortedTable("layers", "layers-filter", [
    { title: "#", number: true, value: (r) => r.index, text: (r) => String(r.index) },
    { title: "time", number: true, value: (r) => r.ms, text: (r) => milliseconds(r.ms) },
    { title: "share", number: true, value: (r) => r.ms, text: (r) => percent(r.ms || 0, total) },
    { title: "", value: (r) => r.ms, fill: (r) => [(r.ms || 0) / most, cssColourOf(r.op)] },
    { title: "operator", value: (r) => r.op, text: (r) => r.op },
    { title: "shader", value: (r) => r.shader, text: (r) => r.shader || "(host)" },
    { title: "storage", value: (r) => r.storage, text: (r) => r.storage || "–" },
    { title: "dispatch", value: (r) => r.groups, text: (r) => r.groups || "–" },
    { title: "name", wraps: true, value: (r) => r.name, text: (r) => r.name },
  ], layers, (row, chosen) => look({ task: row.index, ...(chosen ? { begin: 0, end: taskCount } : {}) }));
  const tensors = data.tensors.map((tensor, index) => ({ ...tensor, index }));
  new SortedTable("tensors", "tensors-filter", [
    { title: "name", wraps: true, value: (r) => r.name, text: (r) => r.name },
    { title: "operator", value: (r) => r.op, text: (r) => r.op },
    { title: "shape", value: (r) => r.shape, text: (r) => r.shape },
    { title: "object", number: true, value: (r) => r.object, text: (r) => String(r.object) },
    { title: "address", number: true, value: (r) => r.address, text: (r) => grouped(r.address) },
    { title: "first task", number: true, value: (r) => r.first, text: (r) => String(r.first) },
    { title: "last task", number: true, value: (r) => r.last, text: (r) => String(r.last) },
    { title: "bytes", number: true, value: (r) => r.bytes, text: (r) => grouped(r.bytes) },
  ], tensors, (row, chosen) => (chosen ? choose(row.index) : look({ tensor: row.index })));
}

function kernels() {
  if (!data.kernels) return;
  byId("kernels-section").hidden = false;
  const figure = (title, of) => ({ title, number: true, value: of, text: (r) => (of(r) === null ? "–" : grouped(Math.round(of(r)))) });
  new SortedTable("kernels", "kernels-filter", [
    { title: "#", number: true, value: (r) => r.index, text: (r) => String(r.index) },
    { title: "shader", value: (r) => r.shader, text: (r) => r.shader },
    figure("dispatches", (r) => r.dispatches),
    figure("MACs", (r) => r.macs),
    { title: "predicted", number: true, value: (r) => r.predicted, text: (r) => milliseconds(r.predicted === null ? null : r.predicted / 1000) },
    { title: "workgroup", value: (r) => r.workgroup, text: (r) => r.workgroup },
    figure("subgroup", (r) => r.subgroup),
    figure("registers", (r) => r.registers),
    figure("spills", (r) => r.spills),
    figure("resident", (r) => r.resident),
    figure("instructions", (r) => r.instructions),
    { title: "variant", wraps: true, value: (r) => r.variant, text: (r) => r.variant },
  ], data.kernels.map((kernel, index) => ({ ...kernel, index })), () => {});
}

function controls() {
  byId("zoom-in").addEventListener("click", () => zoom(0.7));
  byId("zoom-out").addEventListener("click", () => zoom(1.4));
  byId("zoom-all").addEventListener("click", () => look({ begin: 0, end: taskCount }));
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const repaint = () => { palette = null; look({}); };
  byId("theme").addEventListener("click", () => {
    const root = document.documentElement, isDark = root.dataset.theme ? root.dataset.theme === "dark" : dark.matches;
    root.dataset.theme = isDark ? "light" : "dark";
    repaint();
  });
  dark.addEventListener("change", repaint);
}

header();
figures();
legend();
byId("lanes-heading").textContent = plural(data.objects.length, "object") + " and what each carries";
const map = new MemoryMap();
new LiveBytes();
new LayerTimes();
new Lanes();
memoryBars();
operatorBars();
tables();
kernels();
controls();
showDetails(-1);
look({});
// For scripts that drive the page: where a tensor is drawn, in CSS pixels of the map.
window.vellumReport = { data, rectangle: (index) => map.rectangle(index), redraw: () => charts.forEach((chart) => chart.draw()) };
