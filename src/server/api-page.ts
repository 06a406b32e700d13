// The API as one page, rendered on the server from the OpenAPI document: no script, nothing from elsewhere. Its style sheet is served beside it.
import { problemCodes } from "../schema/problem-codes.ts";

type Json = Record<string, unknown>;

export function renderApiPage(document: Json): string {
  const paths = Object.entries(record(document.paths)).flatMap(([path, methods]) =>
    Object.entries(record(methods)).map(([method, operation]) => ({ path, method, operation: record(operation) })),
  );
  const tags = [...new Set(paths.map(({ operation }) => tagOf(operation)))];
  const body = tags.map(
    (tag) =>
      `<section><h2 id="tag-${esc(tag)}">${esc(tag)}</h2>${paths
        .filter(({ operation }) => tagOf(operation) === tag)
        .map(operationHtml)
        .join("")}</section>`,
  );
  const schemas = Object.entries(record(record(document.components).schemas));
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>dragoman API</title>
<link rel="stylesheet" href="/docs/api.css"></head><body><nav><a href="/ui">dragoman</a> ${tags
    .map((tag) => `<a href="#tag-${esc(tag)}">${esc(tag)}</a>`)
    .join(" ")} <a href="#problems">problems</a> <a href="#schemas">schemas</a> <a href="/openapi.json">openapi.json</a></nav>
<main><h1>HTTP API</h1><p>JSON over HTTP. Send <code>Authorization: Bearer &lt;token&gt;</code>. Errors are <code>application/problem+json</code> with a stable <code>code</code>.</p>
${body.join("")}<section><h2 id="problems">problems</h2><table><tr><th>code</th><th>status</th><th>meaning</th><th>what to do</th></tr>${problemRows()}</table></section>
<section><h2 id="schemas">schemas</h2>${schemas.map(schemaHtml).join("")}</section></main></body></html>`;
}

function operationHtml({ path, method, operation }: { path: string; method: string; operation: Json }): string {
  const role = typeof operation["x-role"] === "string" ? operation["x-role"] : "no token";
  const parameters = list(operation.parameters).map(record);
  const body = record(record(record(record(operation.requestBody).content)["application/json"]).schema);
  return `<article id="${esc(text(operation.operationId))}"><h3><b class="${esc(method)}">${esc(method.toUpperCase())}</b> <code>${esc(path)}</code> <i>${esc(role)}</i></h3>
<p>${esc(text(operation.summary))}</p>${operation.description ? `<p>${esc(text(operation.description))}</p>` : ""}
${parameters.length > 0 ? `<table><tr><th>parameter</th><th>in</th><th>type</th><th></th></tr>${parameters.map(parameterRow).join("")}</table>` : ""}
${operation.requestBody ? `<p>Body: ${typeHtml(body)}</p>` : ""}
<table><tr><th>status</th><th>reply</th></tr>${Object.entries(record(operation.responses)).map(replyRow).join("")}</table></article>`;
}

const parameterRow = (parameter: Json): string =>
  `<tr><td><code>${esc(text(parameter.name))}</code>${parameter.required ? " *" : ""}</td><td>${esc(text(parameter.in))}</td><td>${typeHtml(record(parameter.schema))}</td><td>${esc(text(parameter.description))}</td></tr>`;

function replyRow([status, reply]: [string, unknown]): string {
  const [media, content] = Object.entries(record(record(reply).content))[0] ?? ["", {}];
  const schema = record(record(content).schema);
  const type = Object.keys(schema).length > 0 ? typeHtml(schema) : esc(media);
  return `<tr><td>${esc(status)}</td><td>${media === "application/problem+json" ? "" : `${type} `}${esc(text(record(reply).description))}</td></tr>`;
}

const schemaHtml = ([name, schema]: [string, unknown]): string =>
  `<details id="schema-${esc(name)}"><summary>${esc(name)}</summary><pre>${esc(JSON.stringify(schema, null, 2))}</pre></details>`;

const problemRows = (): string =>
  Object.entries(problemCodes)
    .map(
      ([code, { status, title, advice }]) =>
        `<tr id="problem-${code}"><td><code>${code}</code></td><td>${status}</td><td>${esc(title)}</td><td>${esc(advice)}</td></tr>`,
    )
    .join("");

function typeHtml(schema: Json): string {
  if (typeof schema.$ref === "string") {
    const name = schema.$ref.split("/").at(-1) ?? "";
    return `<a href="#schema-${esc(name)}">${esc(name)}</a>`;
  }
  if (Array.isArray(schema.enum)) return esc(schema.enum.join(" | "));
  if (Array.isArray(schema.anyOf)) return schema.anyOf.map((entry) => typeHtml(record(entry))).join(" | ");
  if (schema.type === "array") return `${typeHtml(record(schema.items))}[]`;
  if (schema.type === "object") return `{ ${Object.keys(record(schema.properties)).map(esc).join(", ")} }`;
  return esc(text(schema.type) || "any");
}

const tagOf = (operation: Json): string => text(list(operation.tags)[0]) || "other";
const record = (value: unknown): Json => (typeof value === "object" && value !== null ? (value as Json) : {});
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const esc = (value: string): string =>
  value.replace(/[&<>"']/g, (char) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" })[char] ?? char);

export const pageStyle = `:root{color-scheme:light dark;--line:#8884;--soft:#8882;--link:light-dark(#0b57d0,#8ab4f8)}
*{box-sizing:border-box}body{margin:0;font:15px/1.55 system-ui,sans-serif}
nav{position:sticky;top:0;padding:.7rem 1.5rem;background:Canvas;border-bottom:1px solid var(--line);display:flex;gap:1rem;flex-wrap:wrap}
a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}
main{max-width:60rem;margin:0 auto;padding:1rem 1.5rem 6rem}h2{margin-top:3rem;text-transform:capitalize}
article{border:1px solid var(--line);border-radius:8px;padding:.2rem 1rem 1rem;margin:1rem 0}:target{border-color:var(--link);background:var(--soft)}
h3{font-weight:500;display:flex;gap:.6rem;align-items:baseline;flex-wrap:wrap}h3 i{margin-left:auto;font-size:.8rem;opacity:.7}
b.get{color:light-dark(#137333,#81c995)}b.post{color:light-dark(#0b57d0,#8ab4f8)}b.patch{color:light-dark(#9a5b00,#fdd663)}b.delete{color:light-dark(#b3261e,#f28b82)}
code,pre{font:13px/1.5 ui-monospace,monospace}pre{overflow:auto;background:var(--soft);padding:.8rem;border-radius:6px}
table{border-collapse:collapse;width:100%;margin:.6rem 0}td,th{text-align:left;vertical-align:top;padding:.25rem .6rem .25rem 0;border-top:1px solid var(--line)}th{border:0;font-weight:500;opacity:.7}
summary{cursor:pointer;padding:.2rem 0}`;
