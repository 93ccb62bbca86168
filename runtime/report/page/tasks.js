// Per task: bytes that are live, and milliseconds. Both share the time axis of the map.
class LiveBytes extends Chart {
  constructor() {
    super("live", 92, 76);
    this.top = 20;
    this.most = Math.max(1, data.totals.planned, ...liveBytes);
  }
  y(count) { return this.height - 6 - (count / this.most) * (this.height - 6 - this.top); }
  draw() {
    const pen = this.begin();
    this.clipToPlot(0, this.height);
    pen.fillStyle = colours().ops[0];
    pen.globalAlpha = 0.65;
    for (let task = Math.floor(view.begin); task < Math.min(taskCount, view.end); ++task) {
      const x = this.x(task);
      pen.fillRect(x, this.y(liveBytes[task]), this.x(task + 1) - x + 0.5, this.y(0) - this.y(liveBytes[task]));
    }
    pen.globalAlpha = 1;
    pen.fillStyle = colours().quiet;
    pen.fillRect(this.left, this.y(data.totals.planned), this.width, 1);
    pen.restore();
    const peak = Math.max(...liveBytes);
    this.label("Live bytes; peak " + bytes(peak) + ", the line is the plan: " + bytes(data.totals.planned), this.left, 8, "left", colours().ink);
    this.label(bytes(this.most), this.left - 8, this.y(this.most), "right");
    this.label("0", this.left - 8, this.y(0), "right");
    this.crosshair(this.top, this.y(0));
  }
}

class LayerTimes extends Chart {
  constructor() {
    super("time", 124, 76);
    this.top = 20;
    this.most = Math.max(1e-9, ...data.tasks.map((task) => task.ms || 0));
    this.timed = data.tasks.some((task) => task.ms !== null);
    this.canvas.addEventListener("click", () => { if (view.task >= 0) selectLayer(view.task); });
  }
  y(value) { return this.height - 34 - (value / this.most) * (this.height - 34 - this.top); }
  draw() {
    const pen = this.begin();
    this.label(this.timed ? "Milliseconds of each task" : "This device has no timestamps", this.left, 8, "left", colours().ink);
    this.clipToPlot(0, this.height);
    data.tasks.forEach((task, i) => {
      if (!task.ms || i + 1 < view.begin || i > view.end) return;
      const x = this.x(i), width = Math.max(1, this.x(i + 1) - x - (this.x(i + 1) - x > 4 ? 1 : 0));
      pen.globalAlpha = view.op !== null && view.op !== task.op ? 0.18 : 1;
      pen.fillStyle = colourOf(task.op);
      pen.fillRect(x, this.y(task.ms), width, this.y(0) - this.y(task.ms));
    });
    pen.globalAlpha = 1;
    pen.restore();
    if (this.timed) this.label(this.most.toPrecision(3) + " ms", this.left - 8, this.y(this.most), "right");
    this.label("0", this.left - 8, this.y(0), "right");
    this.crosshair(this.top, this.y(0));
    this.timeAxis(this.y(0) + 10, "task, in execution order");
  }
}
