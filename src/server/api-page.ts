/**
 * The API as one page, rendered on the server from the OpenAPI document: every operation with its fields, an example and what may go wrong. Trying a request is
 * the business of the docs' own script (scripts/docs/api.js); without it the page can be read. Nothing comes from elsewhere.
 */
import { problemCodes } from "../schema/problem-codes.ts";
import { fieldsHtml, schemaHtml, typeHtml } from "./api-page-types.ts";
import { esc, type Json, list, record, text } from "./api-page-values.ts";

type Operation = { path: string; method: string; operation: Json };

export function renderApiPage(document: Json): string {
  const operations = Object.entries(record(document.paths)).flatMap(([path, methods]) =>
    Object.entries(record(methods)).map(([method, operation]) => ({ path, method, operation: record(operation) })),
  );
  const tags = [...new Set(operations.map(({ operation }) => tagOf(operation)))];
  const schemas = record(record(document.components).schemas);
  const sections = tags.map((tag) => {
    const own = operations.filter(({ operation }) => tagOf(operation) === tag);
    return `<section><h2 id="tag-${esc(tag)}">${esc(titled(tag))}</h2>${own.map((each) => operationHtml(each, schemas)).join("")}</section>`;
  });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>API · dragoman</title><link rel="icon" href="/ui/icon.svg"><link rel="stylesheet" href="/docs/site.css"><link rel="stylesheet" href="/docs/api.css">
<script type="module" src="/docs/site.js"></script><script type="module" src="/docs/api.js"></script></head>
<body><a class="skip" href="#content">To the text</a>
<header class="top"><a class="brand" href="/docs">dragoman</a><span id="search"></span><a href="/docs/api" aria-current="page">API</a><a href="/ui">Inspector</a></header>
<div class="columns api"><nav aria-label="Operations">${tags.map((tag) => menuHtml(tag, operations)).join("")}<h2>More</h2><ul><li><a href="#problems">Problem codes</a></li><li><a href="#schemas">Schemas</a></li><li><a href="/openapi.json">openapi.json</a></li></ul></nav>
<main id="content"><h1>HTTP API</h1>
<p>JSON over HTTP. Send <code>Authorization: Bearer &lt;token&gt;</code>; the token lies in the data directory, <code>dragoman token mint</code> makes others. Errors are <code>application/problem+json</code> with a stable <code>code</code>. The whole description: <a href="/openapi.json">openapi.json</a>.</p>
<div id="try-token"></div>
${sections.join("")}
<section><h2 id="problems">Problem codes</h2><div class="table" tabindex="0" role="group" aria-label="Problem codes"><table><thead><tr><th>code</th><th>status</th><th>meaning</th><th>what to do</th></tr></thead><tbody>${problemRows()}</tbody></table></div></section>
<section><h2 id="schemas">Schemas</h2>${Object.entries(schemas).map(schemaHtml).join("")}</section>
</main></div></body></html>`;
}

const menuHtml = (tag: string, operations: readonly Operation[]): string =>
  `<h2>${esc(titled(tag))}</h2><ul>${operations
    .filter(({ operation }) => tagOf(operation) === tag)
    .map(
      ({ method, operation }) =>
        `<li><a href="#${esc(text(operation.operationId))}"><b class="${esc(method)}">${esc(method)}</b> ${esc(text(operation.operationId))}</a></li>`,
    )
    .join("")}</ul>`;

function operationHtml({ path, method, operation }: Operation, schemas: Json): string {
  const id = esc(text(operation.operationId));
  const role = typeof operation["x-role"] === "string" ? `role ${operation["x-role"]}` : "no token";
  const parameters = list(operation.parameters).map(record);
  const content = record(record(record(operation.requestBody).content)["application/json"]);
  return `<article id="${id}"><h3><b class="${esc(method)}">${esc(method.toUpperCase())}</b> <code>${esc(path)}</code> <span class="role">${esc(role)}</span> <a class="anchor" href="#${id}" aria-label="Link to ${id}">#</a></h3>
<p>${prose(operation.summary)}${operation.description ? ` ${prose(operation.description)}` : ""}</p>
${parameters.length > 0 ? parametersHtml(parameters) : ""}
${operation.requestBody ? `<h4>Body: ${typeHtml(record(content.schema))}</h4>${fieldsHtml(record(content.schema), schemas)}` : ""}
<h4>Replies</h4>${repliesHtml(record(operation.responses))}
<h4>Example</h4><div class="code"><pre tabindex="0"><code>${esc(curl(path, method, operation, content.example))}</code></pre></div>
${answerHtml(record(operation.responses))}
<div class="try" data-operation="${id}" data-method="${esc(method)}" data-path="${esc(path)}"></div></article>`;
}

const parametersHtml = (parameters: readonly Json[]): string =>
  `<h4>Parameters</h4><div class="table" tabindex="0" role="group" aria-label="Parameters"><table><tbody>${parameters
    .map(
      (each) =>
        `<tr><td><code>${esc(text(each.name))}</code>${each.required ? ' <span class="needed">required</span>' : ""}</td><td>${esc(text(each.in))}</td><td>${typeHtml(record(each.schema))}</td><td>${prose(each.description ?? record(each.schema).description)}</td></tr>`,
    )
    .join("")}</tbody></table></div>`;

const repliesHtml = (responses: Json): string =>
  `<div class="table" tabindex="0" role="group" aria-label="Replies"><table><tbody>${Object.entries(responses)
    .map(([status, value]) => {
      const reply = record(value);
      const [media, content] = Object.entries(record(reply.content))[0] ?? ["", {}];
      const schema = record(record(content).schema);
      const type = Object.keys(schema).length > 0 ? typeHtml(schema) : esc(media);
      // Where nobody wrote more, the description is the name of the type, which stands before it.
      const more =
        text(reply.description) === text(schema.title) || type.includes(`>${esc(text(reply.description))}<`)
          ? ""
          : prose(reply.description);
      return `<tr><td>${esc(status)}</td><td>${media === "application/problem+json" ? "" : `${type} `}${more}</td></tr>`;
    })
    .join("")}</tbody></table></div>`;

function answerHtml(responses: Json): string {
  const [status, reply] = Object.entries(responses).find(([code]) => Number(code) < 300) ?? ["", {}];
  const { example } = record(record(record(reply).content)["application/json"]);
  if (example === undefined) return "";
  return `<details><summary>Answer ${esc(status)}</summary><div class="code"><pre tabindex="0"><code>${esc(JSON.stringify(example, null, 2))}</code></pre></div></details>`;
}

/** As somebody would type it: `$URL` and `$TOKEN` are theirs. */
function curl(path: string, method: string, operation: Json, body: unknown): string {
  const lines = [
    `curl -s${method === "get" ? "" : ` -X ${method.toUpperCase()}`} "$URL${path.replace(/\{(\w+)\}/g, (_, name: string) => `$${name.toUpperCase()}`)}"`,
  ];
  if (typeof operation["x-role"] === "string") lines.push('-H "Authorization: Bearer $TOKEN"');
  if (body !== undefined)
    lines.push("-H 'content-type: application/json'", `-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`);
  return lines.join(" \\\n  ");
}

const problemRows = (): string =>
  Object.entries(problemCodes)
    .map(
      ([code, { status, title, advice }]) =>
        `<tr id="problem-${code}"><td><code>${code}</code></td><td>${status}</td><td>${esc(title)}</td><td>${esc(advice)}</td></tr>`,
    )
    .join("");

const tagOf = (operation: Json): string => text(list(operation.tags)[0]) || "other";
const titled = (word: string): string => `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
/** Words in backticks are code. */
const prose = (value: unknown): string => esc(text(value)).replace(/`([^`]+)`/g, "<code>$1</code>");
