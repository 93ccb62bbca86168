// Tensors as rectangles: over addresses (the strip packing), or in a lane for each object.
class TensorChart extends Chart {
  constructor(id, height, left) {
    super(id, height, left);
    this.order = data.tensors.map((_, i) => i).sort(
        (a, b) => data.tensors[a].first - data.tensors[b].first || data.tensors[a].address - data.tensors[b].address);
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("click", (event) => this.click(event));
  }

  click(event) {
    if (this.moved) return;
    const box = this.canvas.getBoundingClientRect();
    choose(this.tensorAt(event.clientX - box.left, event.clientY - box.top));
  }

  // [x, y, width, height] in CSS pixels.
  rectangle(index) {
    const tensor = data.tensors[index];
    const left = this.x(tensor.first), right = this.x(tensor.last + 1);
    const [top, bottom] = this.vertical(tensor);
    return [left, top, Math.max(1, right - left), Math.max(1, bottom - top)];
  }

  tensorAt(x, y) {
    for (let i = data.tensors.length - 1; i >= 0; --i) {
      const [left, top, width, height] = this.rectangle(i);
      if (x >= left && x < left + width && y >= top && y < top + height) return i;
    }
    return -1;
  }

  drawTensors(top, bottom) {
    const pen = this.pen;
    this.clipToPlot(top, bottom);
    data.tensors.forEach((tensor, i) => {
      if (tensor.last + 1 < view.begin || tensor.first > view.end) return;
      const [x, y, width, height] = this.rectangle(i);
      pen.globalAlpha = view.op !== null && view.op !== tensor.op ? 0.18 : 1;
      pen.fillStyle = colourOf(tensor.op);
      pen.fillRect(x, y, width, height);
      if (width > 3 && height > 3) {
        pen.strokeStyle = colours().edge;
        pen.lineWidth = 1;
        pen.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
      }
      if (width > 46 && height > 13) this.nameInside(tensor, x, y, width, height);
    });
    pen.globalAlpha = 1;
    for (const index of new Set([view.pinned, view.tensor])) if (index >= 0) this.outline(index);
    pen.restore();
  }

  nameInside(tensor, x, y, width, height) {
    const begin = Math.max(x, this.left);
    const room = Math.floor((Math.min(x + width, this.width - this.right) - begin - 8) / 6);
    if (room < 5) return;
    this.label(cut(tensor.short, room), begin + 4, y + Math.min(height / 2, 9), "left", "#10151d");
  }

  outline(index) {
    const [x, y, width, height] = this.rectangle(index);
    this.pen.lineWidth = 2.5;
    this.pen.strokeStyle = colours().ink;
    this.pen.strokeRect(x, y, width, height);
    this.pen.lineWidth = 1;
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = this.order.indexOf(view.pinned);
    const step = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10 }[event.key];
    if (step) choose(this.order[clamp(at < 0 ? 0 : at + step, 0, this.order.length - 1)] ?? -1);
    else if (event.key === "ArrowUp" || event.key === "ArrowDown") choose(this.neighbour(event.key === "ArrowUp"));
    else if (event.key === "Home") choose(this.order[0] ?? -1);
    else if (event.key === "End") choose(this.order[this.order.length - 1] ?? -1);
    else if (event.key === "+" || event.key === "=") zoom(0.7, this.middleOfChoice());
    else if (event.key === "-") zoom(1.4, this.middleOfChoice());
    else if (event.key === "0") look({ begin: 0, end: taskCount });
    else if (event.key === "Enter" && view.pinned >= 0) look({ op: view.op ? null : data.tensors[view.pinned].op });
    else if (event.key === "Escape") { choose(-1); look({ op: null }); }
    else return;
    event.preventDefault();
    updateLegend();
  }

  middleOfChoice() {
    const tensor = data.tensors[view.pinned];
    return tensor ? (tensor.first + tensor.last + 1) / 2 : undefined;
  }

  // The next tensor above or below the chosen one among those that are live with it.
  neighbour(above) {
    const chosen = data.tensors[view.pinned];
    if (!chosen) return this.order[0] ?? -1;
    let best = view.pinned;
    data.tensors.forEach((tensor, i) => {
      if (i === view.pinned || tensor.last < chosen.first || tensor.first > chosen.last) return;
      if (above ? tensor.address <= chosen.address : tensor.address >= chosen.address) return;
      const nearer = Math.abs(tensor.address - chosen.address) < Math.abs(data.tensors[best].address - chosen.address);
      if (best === view.pinned || nearer) best = i;
    });
    return best;
  }
}

function choose(index) {
  if (index >= 0) showTask(data.tensors[index].first, data.tensors[index].last);
  look({ pinned: index, tensor: -1 });
  showDetails(index);
}

class MemoryMap extends TensorChart {
  constructor() {
    super("map", clamp(140 + 26 * data.objects.length, 260, 460), 76);
    this.top = 10;
    this.total = Math.max(1, data.totals.planned, data.totals.bound, ...data.tensors.map((t) => t.address + t.bytes));
    this.canvas.setAttribute("aria-label", "Memory map: " + plural(data.tensors.length, "tensor") + " in " +
        plural(data.objects.length, "object") + ". Arrow keys move from tensor to tensor.");
  }
  get bottom() { return this.height - 20; }
  y(address) { return this.bottom - (address / this.total) * (this.bottom - this.top); }
  vertical(tensor) { return [this.y(tensor.address + tensor.bytes), this.y(tensor.address)]; }

  draw() {
    const pen = this.begin();
    const begin = this.x(Math.max(0, view.begin)), end = this.x(Math.min(taskCount, view.end));
    data.objects.forEach((object, i) => {
      pen.fillStyle = colours().lane;
      pen.globalAlpha = i % 2 ? 0.55 : 1;
      pen.fillRect(begin, this.y(object.base + object.bytes), end - begin, this.y(object.base) - this.y(object.base + object.bytes));
    });
    pen.globalAlpha = 1;
    this.drawTensors(this.top - 2, this.bottom);
    const step = tickStep(this.total, 5, true);
    for (let address = 0; address <= this.total; address += step) {
      this.label(bytes(address), this.left - 8, this.y(address), "right");
      pen.fillStyle = colours().line;
      pen.fillRect(this.left - 5, this.y(address), 4, 1);
    }
    this.bound(pen, begin, end);
    this.crosshair(this.top, this.bottom);
    this.timeAxis(this.height - 8);
  }

  bound(pen, begin, end) {
    if (!data.totals.bound || data.totals.bound > this.total) return;
    const y = this.y(data.totals.bound);
    pen.strokeStyle = colours().bad;
    pen.setLineDash([6, 4]);
    pen.beginPath();
    pen.moveTo(begin, y);
    pen.lineTo(end, y);
    pen.stroke();
    pen.setLineDash([]);
    const text = "lower bound " + bytes(data.totals.bound), width = pen.measureText(text).width;
    pen.fillStyle = colours().card;
    pen.fillRect(end - width - 10, y - 8, width + 8, 16);
    this.label(text, end - 6, y, "right", colours().bad);
  }
}

class Lanes extends TensorChart {
  constructor() {
    const lane = clamp(Math.floor(420 / Math.max(1, data.objects.length)), 16, 46);
    super("lanes", lane * data.objects.length + 26, 232);
    this.lane = lane;
    this.right = 74;
    this.canvas.setAttribute("aria-label", "Shared objects, one lane each. Arrow keys move from tensor to tensor.");
  }
  vertical(tensor) {
    const object = data.objects[tensor.object];
    const bottom = (tensor.object + 1) * this.lane - 2, most = this.lane - 4;
    // Arenas hold several tensors at once: there a block lies where it lies.
    const share = (count) => (object && object.bytes ? count / object.bytes : 1);
    const below = object ? share(tensor.address - object.base) * most : 0;
    return [bottom - below - Math.max(3, share(tensor.bytes) * most), bottom - below];
  }
  draw() {
    const pen = this.begin();
    data.objects.forEach((object, i) => {
      const y = i * this.lane, middle = y + this.lane / 2;
      pen.fillStyle = colours().lane;
      pen.fillRect(this.left, y + 1, this.width - this.left - this.right, this.lane - 2);
      this.label("#" + object.id + "  " + cut(object.label, 26), 4, middle, "left", colours().ink);
      this.label(bytes(object.bytes), this.left - 8, middle, "right");
      this.label(plural(object.reuse, "tensor"), this.width - this.right + 8, middle, "left", colours().ink);
    });
    this.drawTensors(0, this.lane * data.objects.length);
    this.crosshair(0, this.lane * data.objects.length);
    this.timeAxis(this.height - 12);
  }
}
