// node screenshot.mjs PAGE.html PICTURE.png [WIDTHxHEIGHT] [dark]: the picture of docs/profile.md.
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { openPage } from "./browser.mjs";

const [page, picture, size = "1280x1000", theme] = process.argv.slice(2);
const [width, height] = size.split("x").map(Number);
const browser = await openPage(process.env.CHROMIUM || "chromium", pathToFileURL(resolve(page)).href,
                               { width, height, dark: theme === "dark" });
try {
  writeFileSync(picture, await browser.screenshot());
} finally {
  await browser.close();
}
