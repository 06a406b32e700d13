// Every code block of the documentation is executed: shell against a real daemon with the mock agent, TypeScript checked and run, JSON parsed and held
// against the schema it names. A block of another kind must say `text`.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readConfig } from "../../src/daemon/config.ts";
import { eventFault } from "../../src/schema/validate.ts";
import { type Block, blocksOf, pages, root } from "./code-blocks.ts";
import { type Reader, run, startReader } from "./reader.ts";

const LANGUAGES = ["sh", "ts", "tsx", "json", "text"];
const blocks = pages().flatMap(blocksOf);
const of = (...languages: string[]) => blocks.filter(({ language }) => languages.includes(language));
const nameOf = ({ file, line }: Block): string => `${file}:${line}`;
const fileOf = (block: Block): string => `${nameOf(block).replace(/[^\w]+/g, "-")}.${block.language === "tsx" ? "tsx" : "ts"}`;

let reader: Reader;
beforeAll(async () => {
  reader = await startReader();
});
afterAll(() => reader.close());

it("every block says what it is", () => {
  expect(blocks.length).toBeGreaterThan(20);
  expect(blocks.filter(({ language }) => !LANGUAGES.includes(language)).map(nameOf)).toEqual([]);
});

describe("shell", () => {
  for (const block of of("sh")) it(nameOf(block), () => reader.shell(block.code));
});

describe("json", () => {
  for (const block of of("json"))
    it(nameOf(block), () => {
      const value: unknown = JSON.parse(block.code);
      if (block.info === "event") expect(eventFault(value)).toBeNull();
      if (block.info !== "config") return;
      const file = join(reader.home, "config-of-a-page.json");
      writeFileSync(file, block.code);
      expect(readConfig(file)).toEqual(value);
    });
});

describe("TypeScript", { timeout: 240_000 }, () => {
  const out = () => join(reader.project, "out");

  it("is well typed", async () => {
    const source = join(reader.project, "pages");
    mkdirSync(source);
    for (const block of of("ts", "tsx")) writeFileSync(join(source, fileOf(block)), `${block.code}\nexport {};\n`);
    const options = { strict: true, target: "es2023", module: "nodenext", jsx: "react-jsx", skipLibCheck: true };
    writeFileSync(
      join(reader.project, "tsconfig.json"),
      JSON.stringify({ compilerOptions: { ...options, types: ["node"], rootDir: "pages", outDir: "out" }, include: ["pages"] }),
    );
    await run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", reader.project], { cwd: reader.project });
  });

  for (const block of of("ts"))
    it(`${nameOf(block)} runs`, () => reader.node(join(out(), fileOf(block).replace(/\.ts$/, ".js"))));

  for (const block of of("tsx"))
    it(`${nameOf(block)} renders`, async () => {
      const page = pathToFileURL(join(out(), fileOf(block).replace(/\.tsx$/, ".js"))).href;
      const script = join(reader.project, "render.mjs");
      writeFileSync(
        script,
        `import { createElement } from "react";\nimport { renderToString } from "react-dom/server";\nimport Page from ${JSON.stringify(page)};\nrenderToString(createElement(Page, {}));\n`,
      );
      await reader.node(script);
    });
});
