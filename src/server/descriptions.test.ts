// Every field and parameter of the API has a sentence, and every JSON body an example that is right: people see them in the API page and in generated clients.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Value } from "typebox/value";
import { afterAll, beforeAll, expect, it } from "vitest";
import { TrustStore } from "../trust/trust-store.ts";
import { skillRoutes } from "./routes/skills.ts";
import { transferRoutes } from "./routes/transfer.ts";
import { trustRoutes } from "./routes/trust.ts";
import { startTestServer, type TestServer } from "./test-server.ts";

type Json = Record<string, unknown>;

let server: TestServer;
let trusted: string;
beforeAll(async () => {
  trusted = mkdtempSync(join(tmpdir(), "dragoman-descriptions-"));
  const trust = trustRoutes(new TrustStore({ dataDir: trusted }));
  const skills = skillRoutes({ list: () => Promise.reject(new Error("nobody asks for them here")) });
  // All routes of a daemon.
  server = await startTestServer({ routes: [transferRoutes, trust, skills] });
});
afterAll(async () => {
  await server.close();
  rmSync(trusted, { recursive: true, force: true });
});

const record = (value: unknown): Json =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

it("describes every field and every parameter", async () => {
  const document = record(JSON.parse((await server.raw("GET", "/openapi.json")).text));
  const schemas = record(record(document.components).schemas);
  const isDescribed = (value: unknown): boolean => {
    const schema = record(value);
    if (typeof schema.description === "string" && schema.description !== "") return true;
    // A constant says what it is: `type: "text"`.
    if (schema.const !== undefined) return true;
    if (typeof schema.$ref === "string") return isDescribed(schemas[schema.$ref.split("/").at(-1) ?? ""]);
    return list(schema.anyOf).some(isDescribed);
  };
  const lacking: string[] = [];
  let seen = 0;
  const look = (value: unknown, place: string): void => {
    const schema = record(value);
    for (const [name, property] of Object.entries(record(schema.properties))) {
      seen++;
      // The data of an event is what the event is about.
      const byEvent = name === "data" && typeof schema.description === "string";
      if (!byEvent && !isDescribed(property)) lacking.push(`${place}.${name}`);
      look(property, `${place}.${name}`);
    }
    if (schema.items) look(schema.items, `${place}[]`);
    for (const each of [...list(schema.anyOf), ...list(schema.allOf)]) look(each, place);
  };
  for (const [name, schema] of Object.entries(schemas)) look(schema, name);
  for (const [path, methods] of Object.entries(record(document.paths)))
    for (const [method, value] of Object.entries(record(methods))) {
      const operation = record(value);
      const place = `${method} ${path}`;
      if (!operation.summary) lacking.push(place);
      for (const parameter of list(operation.parameters).map(record)) {
        seen++;
        if (!parameter.description && !isDescribed(parameter.schema)) lacking.push(`${place} ?${String(parameter.name)}`);
      }
      const bodies = [record(operation.requestBody), ...Object.values(record(operation.responses)).map(record)];
      for (const body of bodies)
        for (const content of Object.values(record(body.content))) look(record(content).schema, `${place} body`);
    }
  expect(lacking).toEqual([]);
  expect(seen).toBeGreaterThan(1_000);
});

it("has an example for every JSON body, and each is what its schema says", async () => {
  const document = record(JSON.parse((await server.raw("GET", "/openapi.json")).text));
  const schemas = record(record(document.components).schemas);
  /** The same schema without references, which the validator does not follow. */
  const whole = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(whole);
    const schema = record(value);
    if (Object.keys(schema).length === 0) return value;
    if (typeof schema.$ref === "string") return whole(schemas[schema.$ref.split("/").at(-1) ?? ""]);
    return Object.fromEntries(Object.entries(schema).map(([key, each]) => [key, whole(each)]));
  };
  const wrong: string[] = [];
  let seen = 0;
  for (const [path, methods] of Object.entries(record(document.paths)))
    for (const [method, operation] of Object.entries(record(methods))) {
      const bodies = [record(record(operation).requestBody), ...Object.values(record(record(operation).responses)).map(record)];
      for (const body of bodies) {
        const content = record(record(body.content)["application/json"]);
        if (content.schema === undefined) continue;
        seen++;
        const [fault] = Value.Errors(record(whole(content.schema)), content.example);
        if (fault) wrong.push(`${method} ${path}: ${fault.instancePath} ${fault.message} in ${JSON.stringify(content.example)}`);
      }
    }
  expect(wrong).toEqual([]);
  expect(seen).toBeGreaterThan(60);
});
