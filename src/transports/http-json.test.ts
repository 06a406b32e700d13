import { createServer, type RequestListener, type Server } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { HttpError, httpJson } from "./http-json.ts";

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function serve(listener: RequestListener): Promise<string> {
  const made = createServer(listener);
  server = made;
  await new Promise<void>((resolve) => made.listen(0, "127.0.0.1", resolve));
  const address = made.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
}

const answer = (status: number, type: string, body: string): Promise<string> =>
  serve((_request, response) => response.writeHead(status, { "content-type": type }).end(body));

describe("httpJson", () => {
  it("sends JSON and reads JSON", async () => {
    const url = await serve(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const { method, headers } = request;
      const body = Buffer.concat(chunks).toString();
      response.writeHead(201, { "content-type": "application/problem+json; charset=utf-8" });
      response.end(JSON.stringify({ method, type: headers["content-type"], auth: headers.authorization, body }));
    });
    expect(await httpJson({ url, body: { a: "ü" }, headers: { authorization: "Bearer t" } })).toEqual({
      kind: "json",
      status: 201,
      json: { method: "POST", type: "application/json", auth: "Bearer t", body: '{"a":"ü"}' },
    });
  });

  it("takes an answer without a body", async () => {
    const url = await serve((_request, response) => response.writeHead(204).end());
    expect(await httpJson({ url, method: "DELETE" })).toEqual({ kind: "empty", status: 204 });
  });

  it("does not take a web page with status 200 for an answer", async () => {
    const url = await answer(200, "text/html", "<html>app</html>");
    await expect(httpJson({ url })).rejects.toMatchObject({ code: "not_json", status: 200, body: "<html>app</html>" });
    expect(await httpJson({ url, allowText: true })).toEqual({ kind: "text", status: 200, text: "<html>app</html>" });
  });

  it("does not take broken JSON for an answer", async () => {
    await expect(httpJson({ url: await answer(200, "application/json", '{"a":') })).rejects.toMatchObject({ code: "not_json" });
  });

  it("throws on other statuses, with the body", async () => {
    const url = await answer(409, "application/json", '{"error":"busy"}');
    const error = await httpJson({ url }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(HttpError);
    expect(error).toMatchObject({ code: "http_status", status: 409, body: '{"error":"busy"}' });
  });

  it("gives up after its time, also in the middle of a body", async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write("{");
    });
    await expect(httpJson({ url, timeoutMs: 50 })).rejects.toMatchObject({ code: "timeout", status: null });
  });

  it("stops when aborted", async () => {
    const controller = new AbortController();
    const url = await serve(() => controller.abort());
    await expect(httpJson({ url, signal: controller.signal })).rejects.toMatchObject({ code: "aborted" });
  });

  it("does not read more than it was told to", async () => {
    const url = await answer(200, "application/json", `"${"x".repeat(1_000)}"`);
    await expect(httpJson({ url, maxBytes: 100 })).rejects.toMatchObject({ code: "too_large" });
  });

  it("names the cause when nobody listens", async () => {
    const url = await serve(() => {});
    await new Promise((resolve) => server?.close(resolve));
    await expect(httpJson({ url })).rejects.toMatchObject({ code: "network", message: expect.stringContaining("ECONNREFUSED") });
  });
});
