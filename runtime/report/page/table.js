// A table that sorts by any column and filters by text. Long tables begin with their first rows.
const kFirstRows = 400;

class SortedTable {
  // columns: {title, value(row) to sort by, text(row), number, fill(row): share of 1 and colour}
  constructor(id, filterId, columns, rows, onRow) {
    this.table = byId(id);
    this.columns = columns;
    this.rows = rows;
    this.onRow = onRow;
    this.sorted = { column: 0, down: false };
    this.all = false;
    this.heads = columns.map((column, c) => {
      const button = element("button", { type: "button", text: column.title });
      button.addEventListener("click", () => this.sort(c));
      return element("th", { class: column.number ? "number" : "", scope: "col" }, button);
    });
    this.body = element("tbody");
    this.foot = element("tfoot");
    this.table.append(element("thead", {}, element("tr", {}, ...this.heads)), this.body, this.foot);
    this.filter = byId(filterId);
    this.filter.addEventListener("input", () => this.draw());
    this.draw();
  }

  sort(column) {
    const down = this.sorted.column === column ? !this.sorted.down : Boolean(this.columns[column].number && column > 0);
    this.sorted = { column, down };
    this.draw();
  }

  visible() {
    const wanted = this.filter.value.toLowerCase();
    const { column, down } = this.sorted, value = this.columns[column].value;
    const kept = this.rows.filter((row) =>
        !wanted || this.columns.some((c) => c.text && c.text(row).toLowerCase().includes(wanted)));
    return kept.sort((a, b) => {
      const x = value(a), y = value(b);
      if (x === y) return a.index - b.index;
      if (x === null || y === null) return x === null ? 1 : -1;  // what has no value comes last
      return (x < y ? -1 : 1) * (down ? -1 : 1);
    });
  }

  draw() {
    this.heads.forEach((head, c) => {
      if (c === this.sorted.column) head.setAttribute("aria-sort", this.sorted.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
      head.firstChild.textContent = this.columns[c].title + (c === this.sorted.column ? (this.sorted.down ? " ▾" : " ▴") : "");
    });
    const rows = this.visible();
    const shown = this.all ? rows : rows.slice(0, kFirstRows);
    this.body.replaceChildren(...shown.map((row) => this.row(row)));
    this.foot.replaceChildren();
    if (shown.length === rows.length) return;
    const more = element("button", { type: "button", text: "Show all " + rows.length + " rows" });
    more.addEventListener("click", () => { this.all = true; this.draw(); });
    this.foot.append(element("tr", {}, element("td", { colspan: String(this.columns.length) }, more)));
  }

  row(row) {
    const line = element("tr", { "data-index": String(row.index) });
    for (const column of this.columns) {
      const cell = element("td", { class: (column.number ? "number" : column.wraps ? "wraps" : "") + (column.fill ? " share" : "") });
      if (column.fill) {
        const [share, colour] = column.fill(row);
        if (share > 0) cell.append(element("div", { class: "fill", background: colour, width: (100 * share).toFixed(2) + "%" }));
      } else {
        cell.textContent = column.text(row);
      }
      line.append(cell);
    }
    line.addEventListener("mouseenter", () => this.onRow(row, false));
    line.addEventListener("mouseleave", () => look({ tensor: -1, task: -1 }));
    line.addEventListener("click", () => this.onRow(row, true));
    return line;
  }
}

function bars(id, rows) {
  const most = Math.max(1e-12, ...rows.map((row) => row.value));
  byId(id).replaceChildren(...rows.map((row) => {
    const fill = element("div", { class: "fill", background: row.colour, width: ((100 * row.value) / most).toFixed(2) + "%" });
    return element("div", { class: "bar", title: row.hint || "" }, element("div", { class: "name", text: row.name }),
        element("div", { class: "track" }, fill), element("div", { class: "value", text: row.text }));
  }));
}
