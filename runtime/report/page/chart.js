// Base of every chart: a canvas at the screen's resolution, a time axis, and a pointer that reports its position.
class Chart {
  constructor(id, height, left) {
    this.canvas = byId(id);
    this.left = left;
    this.right = 12;
    this.height = height;
    this.pen = this.canvas.getContext("2d");
    charts.push(this);
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("pointerleave", () => { hideTip(); look({ tensor: -1, task: -1 }); });
    this.canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.canvas.addEventListener("pointerdown", (event) => this.grab(event));
    new ResizeObserver(() => look({})).observe(this.canvas);
  }

  // Clears the canvas and returns the pen in CSS pixels.
  begin() {
    const scale = window.devicePixelRatio || 1, width = this.canvas.clientWidth;
    this.width = width;
    this.canvas.style.height = this.height + "px";
    if (this.canvas.width !== Math.round(width * scale) || this.canvas.height !== Math.round(this.height * scale)) {
      this.canvas.width = Math.round(width * scale);
      this.canvas.height = Math.round(this.height * scale);
    }
    this.pen.setTransform(scale, 0, 0, scale, 0, 0);
    this.pen.clearRect(0, 0, width, this.height);
    this.pen.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    this.pen.textBaseline = "middle";
    return this.pen;
  }

  x(task) {
    return this.left + ((task - view.begin) / (view.end - view.begin)) * (this.width - this.left - this.right);
  }
  taskAt(x) {
    return view.begin + ((x - this.left) / (this.width - this.left - this.right)) * (view.end - view.begin);
  }

  label(text, x, y, align, colour) {
    this.pen.fillStyle = colour || colours().quiet;
    this.pen.textAlign = align;
    this.pen.fillText(text, x, y);
  }

  timeAxis(y, title) {
    // As many as there is room for: the charts beside long labels are narrow on a phone.
    const room = this.width - this.left - this.right, label = this.pen.measureText(String(taskCount)).width + 12;
    const step = Math.max(1, tickStep(view.end - view.begin, clamp(Math.floor(room / label), 1, 10), false));
    for (let task = Math.ceil(view.begin / step) * step; task < view.end; task += step)
      this.label(String(task), this.x(task + 0.5), y, "center");
    if (title) this.label(title, this.width - this.right, y + 14, "right");
  }

  crosshair(top, bottom) {
    if (view.task < 0) return;
    this.pen.fillStyle = colours().accent;
    this.pen.globalAlpha = 0.16;
    this.pen.fillRect(this.x(view.task), top, Math.max(1, this.x(view.task + 1) - this.x(view.task)), bottom - top);
    this.pen.globalAlpha = 1;
  }

  clipToPlot(top, bottom) {
    this.pen.save();
    this.pen.beginPath();
    this.pen.rect(this.left, top, this.width - this.left - this.right, bottom - top);
    this.pen.clip();
  }

  point(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    if (this.grabbed !== undefined && event.buttons & 1) {
      const perPixel = (view.end - view.begin) / (this.width - this.left - this.right);
      pan((this.grabbed - x) * perPixel);
      this.moved = this.moved || Math.abs(this.grabbed - x) > 2;
      this.grabbed = x;
      return;
    }
    const task = Math.floor(this.taskAt(x));
    const inside = x >= this.left && x <= this.width - this.right && task >= 0 && task < taskCount;
    const tensor = inside && this.tensorAt ? this.tensorAt(x, y) : -1;
    look({ tensor, task: inside ? task : -1 });
    if (tensor >= 0) showTip(data.tensors[tensor].name, tensorFacts(tensor), event.clientX, event.clientY);
    else if (inside && data.tasks[task]) showTip(data.tasks[task].name, taskFacts(task), event.clientX, event.clientY);
    else hideTip();
  }

  grab(event) {
    this.grabbed = event.clientX - this.canvas.getBoundingClientRect().left;
    this.moved = false;
  }

  wheel(event) {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      zoom(event.deltaY > 0 ? 1.25 : 0.8, this.taskAt(event.clientX - this.canvas.getBoundingClientRect().left));
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      pan(((event.deltaX || event.deltaY) / 600) * (view.end - view.begin));
    }
  }
}

function showTip(title, facts, x, y) {
  const tip = byId("tip");
  tip.replaceChildren(element("b", { text: title }), definitions(facts));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = clamp(x + 14, 4, window.innerWidth - box.width - 4) + "px";
  tip.style.top = (y + 18 + box.height > window.innerHeight ? Math.max(4, y - box.height - 12) : y + 18) + "px";
}
function hideTip() { byId("tip").hidden = true; }

// Below the map, and read out by screen readers: the tensor that was chosen.
function showDetails(index) {
  const details = byId("details");
  if (index < 0) {
    details.replaceChildren(element("span", { class: "quiet", text: "Click a tensor, or reach it with the arrow keys, to keep it here." }));
    return;
  }
  details.replaceChildren(element("b", { text: data.tensors[index].name }), definitions(tensorFacts(index), true));
}
