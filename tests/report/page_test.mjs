// node page_test.mjs REPORT_PAGES CHROMIUM: the profile page as a reader meets it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { openPage } from "./browser.mjs";

const [pages, chromium] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "vellum-pages-"));
execFileSync(pages, [folder]);

async function visit(file, options, look) {
  const page = await openPage(chromium, pathToFileURL(join(folder, file)).href, options);
  try {
    await look(page);
    assert.deepEqual(page.messages, [], file + ": the console and the network stay silent");
  } finally {
    await page.close();
  }
}

const tip = "document.getElementById('tip')";
const colours = (id) => `(() => {
  const c = document.getElementById('${id}'), seen = new Set();
  const d = new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer);
  for (const value of d) seen.add(value);
  return seen.size;
})()`;
// The middle of a tensor's rectangle, in the window.
const middle = (index) => `(() => {
  document.getElementById('map').scrollIntoView({ block: 'center' });
  const box = document.getElementById('map').getBoundingClientRect(), [x, y, w, h] = vellumReport.rectangle(${index});
  return [box.left + x + w / 2, box.top + y + h / 2];
})()`;

async function hoverTells(page, index, parts) {
  await page.move(...(await page.evaluate(middle(index))));
  assert.equal(await page.evaluate(`${tip}.hidden`), false);
  const text = await page.evaluate(`${tip}.textContent`);
  for (const part of parts) assert.ok(text.includes(part), `hovering shows ${part}: ${text}`);
}

// The charts in which a label of the time axis touches the one before it.
const merged = `(() => {
  const seen = {}, pen = CanvasRenderingContext2D.prototype, fillText = pen.fillText;
  pen.fillText = function (text, x, y) {
    const half = this.measureText(text).width / 2;
    if (this.textAlign === "center") (seen[this.canvas.id] ??= []).push([x - half, x + half]);
    fillText.call(this, text, x, y);
  };
  vellumReport.redraw();
  pen.fillText = fillText;
  const touches = (at) => at.some((one, i) => i > 0 && one[0] < at[i - 1][1] + 3);
  return Object.keys(seen).length < 3 ? ["no labels"] : Object.keys(seen).filter((id) => touches(seen[id]));
})()`;

try {
  for (const width of [360, 500, 1280])
    await visit("large.html", { width, height: 900 }, async (page) => {
      assert.deepEqual(await page.evaluate(merged), [], width + " pixels: labels of time stay apart");
    });

  await visit("large.html", {}, async (page) => {
    for (const chart of ["map", "live", "time", "lanes"])
      assert.ok((await page.evaluate(colours(chart))) > 4, chart + " is drawn");
    await hoverTells(page, 7, ["block/7/Conv:0", "Conv", "1x4x1024x1", "#7", "tasks 7 to 11", "16,384"]);
    await page.move(2, 2);
    assert.equal(await page.evaluate(`${tip}.hidden`), true);

    // By keyboard alone: from tensor to tensor, and zooming.
    await page.evaluate("document.getElementById('map').focus()");
    const details = () => page.evaluate("document.getElementById('details').textContent");
    await page.press("Home");
    assert.match(await details(), /block\/0\/Conv:0/);
    await page.press("ArrowRight");
    assert.match(await details(), /block\/1\/Add:0/);
    await page.press("End");
    assert.match(await details(), /block\/1499\//);
    const width = () => page.evaluate("vellumReport.rectangle(1490)[2]");
    const before = await width();
    await page.press("+");
    assert.ok((await width()) > 1.2 * before, "+ zooms in");
    await page.press("Escape");
    assert.doesNotMatch(await details(), /block/);

    // Sorting and filtering; the slowest layer first.
    await page.evaluate("document.querySelectorAll('#layers th button')[1].click()");
    assert.equal(await page.evaluate("document.querySelectorAll('#layers th')[1].getAttribute('aria-sort')"), "descending");
    assert.equal(await page.evaluate("document.querySelector('#layers tbody tr td:nth-child(2)').textContent"), "0.0900 ms");
    await page.evaluate("(() => { const f = document.getElementById('tensors-filter'); f.value = 'block/1234/'; f.dispatchEvent(new Event('input')); })()");
    assert.equal(await page.evaluate("document.querySelectorAll('#tensors tbody tr').length"), 1);

    assert.equal(await page.evaluate("document.getElementById('kernels-section').hidden"), true, "the driver reports none");

    const frame = await page.evaluate(`(async () => {
      const begin = performance.now();
      for (let i = 0; i < 10; ++i) { vellumReport.redraw(); }
      return (performance.now() - begin) / 10;
    })()`);
    assert.ok(frame < 200, `1500 tensors are drawn in ${frame} ms`);
  });
  await visit("hostile.html", { dark: true }, async (page) => {
    assert.match(await page.evaluate("document.title"), /memory and time$/);
    assert.equal(await page.evaluate("document.querySelectorAll('img, svg, b b, script').length"), 2, "nothing but our scripts");
    await hoverTells(page, 1, ["<img src=x onerror=alert(1)>", "Add", "#1"]);
    assert.equal(await page.evaluate("document.getElementById('kernels-section').hidden"), false);
    const kernel = "[...document.querySelectorAll('#kernels tbody tr:first-child td')].map((cell) => cell.textContent)";
    assert.deepEqual(await page.evaluate(kernel), ["0", "<img src=x onerror=alert(1)>", "2", "1,000", "0.0140 ms", "64x1x1", "64",
      "72", "0", "–", "1,234", "TILE_P=4"]);
    const background = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
    const dark = await background();
    await page.evaluate("document.getElementById('theme').click()");
    assert.notEqual(await background(), dark);
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
