/**
 * Writes clients/python/dragoman_client/types.py: the schemas of the OpenAPI document as Python types. `--check` says whether the file is up to date. Needs a
 * build: the document is asked from the daemon itself.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startDaemon, stopped } from "./daemon.mjs";

const FILE = fileURLToPath(new URL("../clients/python/dragoman_client/types.py", import.meta.url));
const KEYWORDS = new Set([
  "from",
  "class",
  "global",
  "import",
  "in",
  "is",
  "pass",
  "return",
  "with",
  "as",
  "def",
  "not",
  "or",
  "and",
]);

const HEAD = `"""Generated from the OpenAPI document by scripts/python-types.mjs. Do not edit."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, Optional, TypedDict, Union
`;

export function pythonTypes(document) {
  const { schemas } = document.components;
  const writer = new Writer(Object.keys(schemas));
  for (const [name, schema] of Object.entries(schemas)) writer.declare(pythonName(name), schema);
  return `${HEAD}\n${writer.text}`;
}

/** \`session.started\` is an event, and a class has a name like one. */
const pythonName = (name) => pascal(name) + (name.includes(".") ? "Event" : "");
const pascal = (text) =>
  text
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");

class Writer {
  #blocks = [];
  #taken;
  #nested = new Map();

  constructor(names) {
    this.#taken = new Set(names.map(pythonName));
  }

  get text() {
    return `${this.#blocks.join("\n\n")}\n`;
  }

  declare(name, schema) {
    const merged = mergedObject(schema);
    if (merged) return this.#class(name, merged, schema.description);
    this.#blocks.push(`${name} = ${this.#type(schema, name)}`);
  }

  #class(name, { properties, required }, description) {
    // The place in the file is kept: what is inside comes after.
    const at = this.#blocks.push("") - 1;
    const fields = Object.entries(properties).map(([key, schema]) => {
      const type = this.#type(schema, `${name}${pascal(key)}`);
      return { key, type: required.has(key) ? type : `NotRequired[${type}]`, about: schema.description };
    });
    const plain = fields.every(({ key }) => /^[A-Za-z_]\w*$/.test(key) && !KEYWORDS.has(key));
    this.#blocks[at] = plain ? classText(name, fields, description) : dictText(name, fields);
  }

  /** In quotes, because it may be defined further down. */
  #type(schema, name) {
    if (schema.$ref) return JSON.stringify(pythonName(schema.$ref.split("/").at(-1)));
    if (schema.enum) return this.#literal(schema.enum);
    if ("const" in schema) return this.#literal([schema.const]);
    const union = schema.anyOf ?? schema.oneOf;
    if (union) return this.#union(union, name);
    if (mergedObject(schema)) return this.#named(name, schema);
    switch (schema.type) {
      case "array":
        return `list[${this.#type(schema.items ?? {}, `${name}Entry`)}]`;
      case "object":
        return `dict[str, ${this.#type(Object.values(schema.patternProperties ?? {})[0] ?? {}, `${name}Value`)}]`;
      case "integer":
        return "int";
      case "number":
        return "float";
      case "string":
        return "str";
      case "boolean":
        return "bool";
      case "null":
        return "None";
      default:
        return "Any";
    }
  }

  #literal(values) {
    return `Literal[${values.map((value) => (typeof value === "boolean" ? (value ? "True" : "False") : JSON.stringify(value))).join(", ")}]`;
  }

  #union(parts, name) {
    const constants = parts.filter((part) => "const" in part).map((part) => part.const);
    const rest = parts.filter((part) => part.type !== "null" && !("const" in part));
    const types = [
      ...(constants.length > 0 ? [this.#literal(constants)] : []),
      ...rest.map((part, at) => this.#type(part, rest.length > 1 ? `${name}${at + 1}` : name)),
    ];
    const distinct = [...new Set(types)];
    const type = distinct.length === 1 ? distinct[0] : `Union[${distinct.join(", ")}]`;
    return rest.length + constants.length < parts.length || parts.some((part) => part.type === "null")
      ? `Optional[${type}]`
      : type;
  }

  /** What has the same fields is the same type: inside of several schemas it gets one name. */
  #named(name, schema) {
    const content = JSON.stringify(schema);
    const known = this.#nested.get(content);
    if (known !== undefined) return JSON.stringify(known);
    let free = name;
    for (let count = 2; this.#taken.has(free); count++) free = `${name}${count}`;
    this.#taken.add(free);
    this.#nested.set(content, free);
    this.declare(free, schema);
    return JSON.stringify(free);
  }
}

/** The fields of an object, or of several that are one; undefined for everything else. References are not looked into. */
function mergedObject(schema) {
  const parts = schema.allOf ?? [schema];
  if (!parts.every((part) => part.type === "object" && part.properties)) return undefined;
  return {
    properties: Object.assign({}, ...parts.map((part) => part.properties)),
    required: new Set(parts.flatMap((part) => part.required ?? [])),
  };
}

function classText(name, fields, description) {
  const lines = fields.flatMap(({ key, type, about }) => [...(about ? [`    #: ${oneLine(about)}`] : []), `    ${key}: ${type}`]);
  const doc = description ? [`    """${oneLine(description)}"""`, ""] : [];
  return ["", `class ${name}(TypedDict):`, ...doc, ...(lines.length > 0 ? lines : ["    pass"])].join("\n");
}

const dictText = (name, fields) =>
  `${name} = TypedDict(\n    "${name}",\n    {\n${fields.map(({ key, type }) => `        ${JSON.stringify(key)}: ${type},\n`).join("")}    },\n)`;

const oneLine = (text) => text.replaceAll(/\s+/g, " ").replaceAll("\\", "\\\\").replaceAll('"""', "'''");

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const dataDir = mkdtempSync(join(tmpdir(), "dragoman-types-"));
  const { url, token, child } = await startDaemon(dataDir);
  const text = pythonTypes(await (await fetch(`${url}/openapi.json`, { headers: { authorization: `Bearer ${token}` } })).json());
  await stopped(child);
  rmSync(dataDir, { recursive: true, force: true });
  if (!process.argv.includes("--check")) writeFileSync(FILE, text);
  else if (readFileSync(FILE, "utf8") !== text) {
    process.stderr.write(
      "clients/python/dragoman_client/types.py is not up to date. Run: npm run build && node scripts/python-types.mjs\n",
    );
    process.exit(1);
  }
}
