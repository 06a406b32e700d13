/**
 * The OpenAPI 3.1 document, made from the routes as they were registered: what a route checks is what the document says. Schemas with a title become
 * components. No state beyond the list of routes.
 */
import type { RouteOptions } from "fastify";
import type { TSchema } from "typebox";
import { type ProblemCode, problemCodes } from "../schema/problem-codes.ts";
import { Problem } from "../schema/session.ts";
import { accessOf } from "./access.ts";
import { exampleOf } from "./examples.ts";
import type { ReplyDoc } from "./server-context.ts";

type Json = Record<string, unknown>;

const METHODS = new Set(["GET", "POST", "PATCH", "DELETE", "PUT"]);

export class OpenApi {
  readonly #routes: RouteOptions[] = [];
  readonly #version: string;
  #document: Json | undefined;

  constructor(version: string) {
    this.#version = version;
  }

  add(route: RouteOptions): void {
    if (route.config?.operation === undefined || route.config.hidden) return;
    this.#routes.push(route);
    this.#document = undefined;
  }

  document(): Json {
    this.#document ??= build(this.#routes, this.#version);
    return this.#document;
  }
}

function build(routes: readonly RouteOptions[], version: string): Json {
  const schemas = new Components();
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.url.replace(/:(\w+)/g, "{$1}");
    for (const method of [route.method].flat().filter((name) => METHODS.has(name)))
      paths[path] = { ...paths[path], [method.toLowerCase()]: operation(route, method, schemas) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "dragoman",
      version,
      summary: "One daemon that drives every coding agent and tells one story.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: [{ bearer: [] }],
    paths,
    components: {
      schemas: schemas.all(),
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          description: "The token lies in the data directory; `dragoman token mint` makes further ones.",
        },
      },
    },
  };
}

function operation({ url, config = {}, schema = {} }: RouteOptions, method: string, schemas: Components): Json {
  const role = config.role ?? (method === "GET" ? "observe" : "operate");
  const problems: ProblemCode[] = [...(role === "none" ? [] : (["unauthorized"] as const)), ...(config.problems ?? [])];
  if (role !== "none") problems.push("forbidden", "too_many_requests");
  if (schema.body) problems.push("invalid_json", "invalid_request", "body_too_large", "unsupported_media_type");
  else if (schema.querystring) problems.push("invalid_request");
  return {
    operationId: config.operation,
    summary: config.summary,
    ...(config.description ? { description: config.description } : {}),
    ...(config.tag ? { tags: [config.tag] } : {}),
    ...(role === "none" ? { security: [] } : { "x-role": role, "x-reach": accessOf({ url, method, config })?.reach }),
    parameters: [
      ...parameters("path", schema.params, schemas),
      ...parameters("query", schema.querystring, schemas),
      ...parameters("header", schema.headers, schemas),
      ...(method === "POST" && !config.ownIdempotency && role !== "none" ? [idempotencyKey] : []),
    ],
    ...(schema.body ? { requestBody: requestBody(schema.body, config.emptyBody !== true, schemas) } : {}),
    responses: { ...replies(config.replies ?? {}, schemas), ...problemReplies(problems, schemas) },
  };
}

const idempotencyKey = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: "The same key with the same body gives the first reply again, for a day.",
  schema: { type: "string", minLength: 1, maxLength: 255 },
};

function parameters(place: string, schema: unknown, schemas: Components): Json[] {
  if (!isJson(schema) || !isJson(schema.properties)) return [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties).map(([name, property]) => ({
    name,
    in: place,
    required: place === "path" || required.includes(name),
    ...(isJson(property) && typeof property.description === "string" ? { description: property.description } : {}),
    schema: schemas.refer(property),
  }));
}

/** A body of several forms has a schema for each content type, as Fastify takes it. */
const requestBody = (schema: unknown, required: boolean, schemas: Components): Json => {
  const forms = isJson(schema) && isJson(schema.content) ? schema.content : { "application/json": { schema } };
  const content = Object.entries(forms).map(([media, form]) => [media, schemas.content(isJson(form) ? form.schema : {}, media)]);
  return { required, content: Object.fromEntries(content) };
};

function replies(docs: Readonly<Record<number, ReplyDoc>>, schemas: Components): Json {
  return Object.fromEntries(Object.entries(docs).map(([status, doc]) => [status, reply(doc, schemas)]));
}

function reply(doc: ReplyDoc, schemas: Components): Json {
  if ("description" in doc && typeof doc.description === "string" && !("type" in doc) && !("anyOf" in doc)) {
    const media = "media" in doc && typeof doc.media === "string" ? doc.media : undefined;
    return {
      description: doc.description,
      ...(media ? { content: { [media]: "schema" in doc ? schemas.content(doc.schema, media) : {} } } : {}),
    };
  }
  const title = "title" in doc && typeof doc.title === "string" ? doc.title : "Done";
  return { description: title, content: { "application/json": schemas.content(doc) } };
}

function problemReplies(codes: readonly ProblemCode[], schemas: Components): Json {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of new Set(codes)) {
    const { status } = problemCodes[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    Array.from(byStatus, ([status, list]) => [
      status,
      {
        description: list.map((code) => `\`${code}\`: ${problemCodes[code].title}.`).join(" "),
        content: { "application/problem+json": { schema: schemas.refer(Problem) } },
      },
    ]),
  );
}

/** Titled schemas stand once, under their title. Two different ones with the same title are both kept: the second gets a number. */
class Components {
  readonly #names = new Map<TSchema | object, string>();
  readonly #schemas: Record<string, unknown> = {};
  /** What stands behind each name. */
  readonly #contents = new Map<string, string>();

  all(): Json {
    return this.#schemas;
  }

  /** A body of this schema, with an example where it is JSON. */
  content(schema: unknown, media = "application/json"): Json {
    const referred = this.refer(schema);
    if (media !== "application/json") return { schema: referred };
    return { schema: referred, example: exampleOf(referred, (ref) => this.#schemas[ref.split("/").at(-1) ?? ""]) };
  }

  refer(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((entry) => this.refer(entry));
    if (!isJson(schema)) return schema;
    if (typeof schema.title !== "string") return this.#inline(schema);
    return { $ref: `#/components/schemas/${this.#nameOf(schema, schema.title)}` };
  }

  #nameOf(schema: Json, title: string): string {
    const known = this.#names.get(schema);
    if (known !== undefined) return known;
    const base = title.replace(/[^\w.-]/g, "_");
    // An optional field is a copy of its schema: the same content is the same component.
    const content = JSON.stringify(schema);
    let name = base;
    for (let i = 2; name in this.#schemas && this.#contents.get(name) !== content; i++) name = `${base}_${i}`;
    this.#names.set(schema, name);
    if (name in this.#schemas) return name;
    this.#contents.set(name, content);
    this.#schemas[name] = {};
    this.#schemas[name] = this.#inline(schema);
    return name;
  }

  #inline(schema: Json): Json {
    return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, this.refer(value)]));
  }
}

const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);
