/**
 * Type declarations without TypeBox. The schema is written once, as TypeBox; who uses the client only wants the types that follow from it, and not a package
 * that computes them. Each `Static<typeof X>` becomes the type that the schema X describes, with the descriptions of its fields as comments.
 */

/** `schemas`: exported schemas by name, of the module itself. `nameOf`: what another schema is called from there, if it has a name. */
export function plainTypes(text, schemas, nameOf) {
  const used = statements(text)
    .filter((statement) => !isSchema(statement))
    .map((statement) =>
      statement
        .replace(/^(\/\*\*[\s\S]*?\*\/\n)?import (type )?[^\n]* from "typebox";\n/m, "$1")
        .replace(/\bkeyof typeof eventData\b/, () => keys(schemas.eventData))
        .replace(/(?:Type\.)?Static<\(typeof eventData\)\[T\]>/, () => `${table(schemas.eventData, nameOf)}[T]`)
        .replace(/(?:Type\.)?Static<typeof (\w+)>/g, (_, name) => typeOf(schemas[name], nameOf, 0, name)),
    );
  return used.join("");
}

/** Top-level statements with the comments before them: each begins at the margin. */
function statements(text) {
  const found = [];
  let current = "";
  let comment = false;
  for (const line of text.split(/(?<=\n)/)) {
    const starts = /^(export|import|declare|\/\*\*|\/\/)/.test(line);
    if (starts && !comment && current !== "") {
      found.push(current);
      current = "";
    }
    current += line;
    comment = starts && /^\/[*/]/.test(line) ? true : comment && !/^(export|import|declare)/.test(line) ? comment : false;
  }
  return [...found, current];
}

/** A declared value whose type is TypeBox's. */
const isSchema = (statement) =>
  /^(export )?declare const \w+: (Type\.T|[^=]*\bType\.T)/m.test(statement) ||
  /^(export )?declare const eventSchemas\b|^declare const eventSchema\b/m.test(statement);

const keys = (schemas) =>
  Object.keys(schemas)
    .map((key) => JSON.stringify(key))
    .join(" | ");

const table = (schemas, nameOf) =>
  `{\n${Object.entries(schemas)
    .map(([key, schema]) => `    ${JSON.stringify(key)}: ${typeOf(schema, nameOf, 1)};\n`)
    .join("")}}`;

/** `own`: the name that is being declared; it cannot be its own definition. */
function typeOf(schema, nameOf, depth, own) {
  if (schema === undefined) throw new Error(`There is no schema ${own}.`);
  const known = nameOf(schema);
  if (known !== undefined && known !== own) return known;
  const inside = (each) => typeOf(each, nameOf, depth);
  if (schema.anyOf) return union(schema.anyOf.map(inside));
  if (schema.allOf) return schema.allOf.map((each) => group(inside(each), each)).join(" & ");
  if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)));
  if ("const" in schema) return JSON.stringify(schema.const);
  switch (schema.type) {
    case "object":
      return objectType(schema, nameOf, depth);
    case "array":
      return `${group(inside(schema.items ?? {}), schema.items ?? {})}[]`;
    case "integer":
    case "number":
      return "number";
    case "string":
    case "boolean":
    case "null":
      return schema.type;
    case undefined:
      return "unknown";
    default:
      throw new Error(`No type for ${JSON.stringify(schema).slice(0, 200)}`);
  }
}

function objectType({ properties, required = [], patternProperties }, nameOf, depth) {
  if (patternProperties) return `{ [name: string]: ${typeOf(Object.values(patternProperties)[0], nameOf, depth)} }`;
  const margin = "    ".repeat(depth + 1);
  const fields = Object.entries(properties ?? {}).map(([name, schema]) => {
    const comment = schema.description ? `${margin}/** ${schema.description.replaceAll("*/", "* /")} */\n` : "";
    const key = /^\w+$/.test(name) ? name : JSON.stringify(name);
    return `${comment}${margin}${key}${required.includes(name) ? "" : "?"}: ${typeOf(schema, nameOf, depth + 1)};\n`;
  });
  return fields.length === 0 ? "{}" : `{\n${fields.join("")}${"    ".repeat(depth)}}`;
}

const union = (types) => [...new Set(types)].join(" | ");
/** In brackets where more follows. A name is one word. */
const group = (type, { anyOf, allOf, enum: values }) =>
  (anyOf || allOf || values) && !/^(import\([^)]*\)\.)?\w+$/.test(type) ? `(${type})` : type;
