import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { Http } from "./http.ts";

let close = async (): Promise<void> => {};
afterEach(() => close());

/** Says 408 so often, as a server does to a request that did not come through in time, and closes the connection; then answers. */
async function late(times: number): Promise<{ http: Http; bodies: string[] }> {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    bodies.push(body);
    if (bodies.length <= times) response.writeHead(408, { connection: "close" }).end();
    else response.writeHead(200, { "content-type": "application/json" }).end('{"done":true}');
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { http: new Http({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }), bodies };
}

it("sends a request again that did not come through in time: nothing of it was done", async () => {
  const { http, bodies } = await late(1);
  expect(await http.json("POST", "/v1/sessions", { body: { agent: "mock" } })).toEqual({ done: true });
  expect(bodies).toEqual(['{"agent":"mock"}', '{"agent":"mock"}']);
});

it("gives up after a few times, and says what the answer was", async () => {
  const { http, bodies } = await late(100);
  await expect(http.json("GET", "/v1/sessions")).rejects.toMatchObject({ code: "bad_answer", status: 408 });
  expect(bodies).toHaveLength(3);
});
