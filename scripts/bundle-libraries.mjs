// Puts the code of libraries into the files of dist/ that re-export them, so that an install does not carry packages of which little is used. Their licences
// are collected in dist/THIRD-PARTY.txt.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("..", import.meta.url));
const FILES = ["dist/mcp/sdk.js"];

export async function bundleLibraries() {
  const packages = new Set();
  for (const file of FILES) {
    const bundle = await rolldown({ input: join(root, file), platform: "node", logLevel: "warn" });
    const { output } = await bundle.generate({ format: "esm", codeSplitting: false, minify: false });
    await bundle.close();
    const [{ code, moduleIds }] = output;
    for (const id of moduleIds) packages.add(packageOf(id));
    writeFileSync(join(root, file), code);
  }
  packages.delete(undefined);
  writeFileSync(join(root, "dist/THIRD-PARTY.txt"), [...packages].sort().map(notice).join("\n"));
}

/** The folder of the package that a module belongs to. */
function packageOf(id) {
  const found = /^(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(id);
  return found?.[1];
}

function notice(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  const text = file && existsSync(join(folder, file)) ? readFileSync(join(folder, file), "utf8").trim() : "";
  return `${name} ${version} (${license})\n\n${text}\n\n${"-".repeat(80)}\n`;
}
