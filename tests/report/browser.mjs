// Headless Chromium through its DevTools protocol over a pipe: file descriptors 3 and 4, messages end with a zero byte.
import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export async function openPage(program, url, { width = 1280, height = 1000, dark = false } = {}) {
  const profile = mkdtempSync(join(tmpdir(), "vellum-browser-"));
  // The sandbox needs kernel features that containers often lack; the page under test is our own file.
  const browser = spawn(program, ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
                                  "--disable-dev-shm-usage", "--no-first-run", "--user-data-dir=" + profile],
                        { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
  const waiting = new Map(), messages = [];
  let number = 0, pending = "", session;
  const failed = new Promise((_, reject) => {
    browser.on("error", reject);
    browser.on("exit", () => reject(new Error("the browser ended")));
  });
  failed.catch(() => {});
  const loaded = {};
  loaded.event = new Promise((resolve) => (loaded.resolve = resolve));
  browser.stdio[4].on("data", (chunk) => {
    const parts = (pending + chunk.toString("utf8")).split("\0");
    pending = parts.pop();
    for (const part of parts) receive(JSON.parse(part));
  });
  function receive(message) {
    if (message.id) {
      const { resolve, reject } = waiting.get(message.id);
      waiting.delete(message.id);
      if (message.error) reject(new Error(message.error.message));
      else resolve(message.result);
    } else if (message.method === "Page.loadEventFired") {
      loaded.resolve();
    } else if (message.method === "Runtime.exceptionThrown") {
      messages.push("exception: " + (message.params.exceptionDetails.exception?.description ?? message.params.exceptionDetails.text));
    } else if (message.method === "Runtime.consoleAPICalled") {
      messages.push("console: " + message.params.args.map((a) => a.value ?? a.description).join(" "));
    } else if (message.method === "Log.entryAdded") {
      messages.push("log: " + message.params.entry.text);
    } else if (message.method === "Network.requestWillBeSent" && !message.params.request.url.startsWith("file:")) {
      messages.push("request: " + message.params.request.url);
    }
  }
  const send = (method, params = {}) => {
    const id = ++number;
    browser.stdio[3].write(JSON.stringify({ id, method, params, sessionId: session }) + "\0");
    return Promise.race([new Promise((resolve, reject) => waiting.set(id, { resolve, reject })), failed]);
  };
  const close = async () => {
    const ended = new Promise((resolve) => browser.once("exit", resolve));
    browser.kill();
    await ended;
    // Its helper processes may outlive it for a moment and go on writing.
    await rm(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  };

  const { targetId } = await send("Target.createTarget", { url: "about:blank" });
  session = (await send("Target.attachToTarget", { targetId, flatten: true })).sessionId;
  for (const domain of ["Page", "Runtime", "Log", "Network"]) await send(domain + ".enable");
  await send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
  await send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }] });
  await send("Page.navigate", { url });
  await Promise.race([loaded.event, failed]);

  const evaluate = async (expression) => {
    const result = await send("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
    if (result.exceptionDetails) throw new Error(result.exceptionDetails.exception?.description ?? result.exceptionDetails.text);
    return result.result.value;
  };
  const settle = () => evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))");
  await settle();
  return {
    messages, evaluate, settle, close,
    move: async (x, y) => { await send("Input.dispatchMouseEvent", { type: "mouseMoved", x, y }); await settle(); },
    press: async (key) => {
      await send("Input.dispatchKeyEvent", { type: "keyDown", key });
      await send("Input.dispatchKeyEvent", { type: "keyUp", key });
      await settle();
    },
    screenshot: async (wholePage = false) =>
        Buffer.from((await send("Page.captureScreenshot", { captureBeyondViewport: wholePage })).data, "base64"),
  };
}
