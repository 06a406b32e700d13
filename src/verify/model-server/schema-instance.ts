// The smallest value that fits a JSON schema, for side calls that want structured answers. Not a general generator.

import { arrayOf, isObject, type JsonObject, objectOf, objectsOf, stringOf } from "./json.ts";

const TEXTS: Readonly<Record<string, string>> = { title: "Scripted session", next_speaker: "user", reasoning: "Scripted." };

export function schemaInstance(schema: JsonObject, name = ""): unknown {
  if (schema.const !== undefined) return schema.const;
  const choices = arrayOf(schema.enum);
  if (choices.length > 0) return choices.includes(TEXTS[name]) ? TEXTS[name] : choices[0];
  const [alternative] = [...objectsOf(schema.anyOf), ...objectsOf(schema.oneOf)];
  if (alternative) return schemaInstance(alternative, name);
  const type = (Array.isArray(schema.type) ? stringOf(schema.type[0]) : stringOf(schema.type)).toLowerCase();
  switch (type) {
    case "string":
      return TEXTS[name] ?? "scripted";
    case "number":
    case "integer":
      return typeof schema.minimum === "number" ? schema.minimum : 0;
    case "boolean":
      return false;
    case "null":
      return null;
    case "array":
      return Array.from({ length: typeof schema.minItems === "number" ? schema.minItems : 0 }, () =>
        schemaInstance(objectOf(schema.items)),
      );
    default:
      return objectInstance(schema);
  }
}

function objectInstance(schema: JsonObject): JsonObject {
  const properties = objectOf(schema.properties);
  const required = arrayOf(schema.required);
  const wanted = Object.entries(properties).filter(([name]) => required.length === 0 || required.includes(name));
  return Object.fromEntries(wanted.map(([name, value]) => [name, isObject(value) ? schemaInstance(value, name) : null]));
}
