// The built client runs anywhere fetch does: nothing of Node is imported, little is depended upon, and what is not used is not shipped.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { expect, it } from "vitest";

const ENTRY = fileURLToPath(new URL("../../dist/client/index.js", import.meta.url));

/** Static imports of a module, as the compiler wrote them. */
const importsOf = (file: string): string[] =>
  Array.from(
    readFileSync(file, "utf8").matchAll(/^(?:import|export)\s(?:[^;]*?\sfrom\s*)?["']([^"']+)["']/gm),
    ([, name]) => name ?? "",
  );

function graph(entry: string): { files: Set<string>; packages: Set<string> } {
  const files = new Set([entry]);
  const packages = new Set<string>();
  for (const file of files)
    for (const name of importsOf(file)) {
      if (!name.startsWith(".")) packages.add(name);
      else {
        const target = join(dirname(file), name);
        expect(existsSync(target), target).toBe(true);
        files.add(target);
      }
    }
  return { files, packages };
}

it("imports nothing but the SSE parser, and nothing of the daemon", () => {
  const { files, packages } = graph(ENTRY);
  expect(files.size).toBeGreaterThan(8);
  expect([...packages]).toEqual(["eventsource-parser"]);
  const rooms = new Set([...files].map((file) => file.split("/dist/")[1]?.split("/")[0]));
  expect([...rooms].sort()).toEqual(["client", "schema"]);
});

async function bundle(code: string): Promise<string> {
  const result = await build({
    configFile: false,
    logLevel: "error",
    plugins: [
      {
        name: "entry",
        resolveId: (id) => (id === "virtual:entry" ? "\0entry" : id === "dragoman/client" ? ENTRY : null),
        load: (id) => (id === "\0entry" ? code : null),
      },
    ],
    build: { write: false, minify: false, rollupOptions: { input: "virtual:entry", preserveEntrySignatures: "strict" } },
  });
  const outputs = [result].flat() as { output: { type: string; code?: string }[] }[];
  return outputs.flatMap(({ output }) => output.map((chunk) => chunk.code ?? "")).join("\n");
}

it("bundles for browsers as it is", async () => {
  const code = await bundle(`export * from "dragoman/client";`);
  expect(code).toContain("events/sse");
  expect(code).not.toMatch(/from\s*["']node:|import\(["']node:|require\(/);
  expect(code).not.toContain("__vite-browser-external");
});

it("leaves out what is not used", async () => {
  const code = await bundle(`export { foldItems } from "dragoman/client";`);
  expect(code).toContain("item.delta");
  expect(code).not.toContain("events/sse");
  expect(code).not.toContain("DragomanError");
});
