/** Schemas of the OpenAPI document as people read them: a type in a word, the fields of an object as a table. */
import { esc, isRecord, type Json, list, record, text } from "./api-page-values.ts";

export function typeHtml(schema: Json): string {
  if (typeof schema.$ref === "string") {
    const name = schema.$ref.split("/").at(-1) ?? "";
    return `<a href="#schema-${esc(name)}">${esc(name)}</a>`;
  }
  if (schema.const !== undefined) return `<code>${esc(JSON.stringify(schema.const))}</code>`;
  if (Array.isArray(schema.enum)) return esc(schema.enum.join(" | "));
  const forms = [...list(schema.anyOf), ...list(schema.allOf)].map(record);
  if (forms.length > 0) return forms.map(typeHtml).join(schema.anyOf ? " | " : " &amp; ");
  if (schema.type === "array") return `${typeHtml(record(schema.items))}[]`;
  if (schema.type === "object") return "object";
  return esc(text(schema.type) || "any");
}

/** The fields of the schema, or of the one it refers to. */
export function fieldsHtml(schema: Json, schemas: Json): string {
  const target = typeof schema.$ref === "string" ? record(schemas[schema.$ref.split("/").at(-1) ?? ""]) : schema;
  return tableOf(target);
}

export function schemaHtml([name, value]: [string, unknown]): string {
  const schema = record(value);
  const fields = tableOf(schema);
  const about = typeof schema.description === "string" ? `<p>${esc(schema.description)}</p>` : "";
  const body = fields === "" ? `<p>${typeHtml(schema)}</p>` : fields;
  return `<details id="schema-${esc(name)}"><summary>${esc(name)}</summary>${about}${body}</details>`;
}

function tableOf(schema: Json): string {
  const rows = rowsOf(schema, "");
  if (rows.length === 0) return "";
  return `<div class="table" tabindex="0" role="group" aria-label="Fields"><table><tbody>${rows.join("")}</tbody></table></div>`;
}

/** Objects without a name of their own stand with their place: `pending.permissions`. */
function rowsOf(schema: Json, place: string): string[] {
  const required = list(schema.required);
  const own = Object.entries(record(schema.properties)).flatMap(([name, value]) => {
    const field = record(value);
    const needed = required.includes(name) ? "" : ' <span class="optional">optional</span>';
    const about =
      text(field.description) || text(record(list(field.anyOf).find((form) => text(record(form).description))).description);
    const row = `<tr><td><code>${esc(place + name)}</code>${needed}</td><td>${typeHtml(field)}</td><td>${esc(about)}</td></tr>`;
    return [row, ...inner(field, `${place}${name}`)];
  });
  return [...own, ...list(schema.allOf).flatMap((each) => rowsOf(record(each), place))];
}

function inner(field: Json, place: string): string[] {
  const target = field.type === "array" && isRecord(field.items) ? field.items : field;
  const path = target === field ? `${place}.` : `${place}[].`;
  return target.type === "object" || target.allOf ? rowsOf(target, path) : [];
}
