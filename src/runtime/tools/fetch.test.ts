import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { fetchTool } from "./fetch.ts";
import { htmlToText } from "./html-text.ts";
import { guardedLookup, isPublicAddress } from "./public-address.ts";
import { TestDirectory } from "./test-tools.ts";

let directory: TestDirectory;
let close: () => Promise<void> = async () => {};
afterEach(async () => {
  await close();
  await directory.remove();
});

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  directory = await TestDirectory.make();
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  close = () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const open = fetchTool({ isAllowed: () => true });

describe("fetch", () => {
  it("gives pages as Markdown, text as it is, and other things as artifacts", async () => {
    const url = await serve((request, response) => {
      const type =
        { "/page": "text/html; charset=utf-8", "/data": "application/json", "/pic": "image/png" }[request.url ?? ""] ??
        "text/plain";
      response.setHeader("content-type", type);
      if (request.url === "/page") {
        response.setHeader("content-encoding", "gzip");
        response.end(
          gzipSync(
            "<html><title>T</title><h1>Head &amp; more</h1><script>evil()</script><p>Text <a href='/x'>link</a></p></html>",
          ),
        );
      } else response.end('{"a":1}');
    });
    expect((await directory.call(open, { url: `${url}/page` })).output).toContain("# T\n\n# Head & more\n\nText [link](/x)");
    expect((await directory.call(open, { url: `${url}/data` })).output).toContain('\n\n{"a":1}');
    const picture = await directory.call(open, { url: `${url}/pic` });
    expect(picture.output).toContain("It is not text.");
    expect((await directory.blobs.get(picture.artifacts?.[0] ?? ""))?.toString()).toBe('{"a":1}');
  });

  it("refuses private addresses: literal, by name, and after a redirect", async () => {
    let asked = 0;
    const url = await serve((_request, response) => {
      asked += 1;
      response.end("secret");
    });
    const { port } = new URL(url);
    const strict = fetchTool();
    for (const host of ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "0"]) {
      await expect(directory.call(strict, { url: `http://${host}:${port}/` }), host).rejects.toThrow("not a public address");
    }
    expect(asked).toBe(0);
  });

  it("follows redirects within a host, looks at every address, and leaves another host to the model", async () => {
    const asked: string[] = [];
    const to: Record<string, string> = { "/loop": "/loop", "/here": "/inside" };
    const url = await serve((request, response) => {
      const path = request.url ?? "";
      asked.push(path);
      if (path === "/inside") return void response.end("found");
      response.writeHead(302, { location: to[path] ?? `http://localhost:${new URL(url).port}/inside` });
      response.end();
    });
    expect(await directory.call(open, { url: `${url}/here` })).toMatchObject({ output: expect.stringContaining("found") });
    // The address is allowed once: the redirect is a second connection.
    const seen: string[] = [];
    const once = fetchTool({ isAllowed: (address) => address === "127.0.0.1" && seen.push(address) < 2 });
    await expect(directory.call(once, { url: `${url}/here` })).rejects.toThrow("not a public address");
    expect(seen.length).toBeGreaterThanOrEqual(2);
    await expect(directory.call(open, { url: `${url}/loop` })).rejects.toThrow("redirects more than 5 times");
    asked.length = 0;
    await expect(directory.call(open, { url: `${url}/out` })).rejects.toThrow("redirects to another host: http://localhost:");
    expect(asked).toEqual(["/out"]);
  });

  it("a name is looked up once, all its addresses count, and the connection goes to what was looked at", async () => {
    directory = await TestDirectory.make();
    const answers = [
      [{ address: "8.8.8.8", family: 4 }],
      [{ address: "127.0.0.1", family: 4 }],
      [
        { address: "8.8.8.8", family: 4 },
        { address: "::ffff:10.0.0.1", family: 6 },
      ],
    ];
    let asked = 0;
    // A name that is public when it is looked at, and private at the next question.
    const lookup = guardedLookup(isPublicAddress, (_name, _options, callback) => callback(null, answers[asked++] ?? []));
    const look = (all: boolean): Promise<unknown> =>
      new Promise((resolve, reject) =>
        lookup("rebinding.example", { all }, (error, address) => (error === null ? resolve(address) : reject(error))),
      );
    expect(await look(true)).toEqual(answers[0]);
    expect(asked).toBe(1);
    await expect(look(false)).rejects.toThrow("not a public address");
    await expect(look(true)).rejects.toThrow("not a public address");
    await expect(look(true)).rejects.toThrow("not a public address");
  });

  it("refuses other schemes, names in the URL, and what is no URL", async () => {
    directory = await TestDirectory.make();
    await expect(directory.call(open, { url: "file:///etc/passwd" })).rejects.toThrow("Only http and https");
    await expect(directory.call(open, { url: "http://a:b@example.com" })).rejects.toThrow("user name or password");
    await expect(directory.call(open, { url: "example.com" })).rejects.toThrow("is no URL");
  });

  it("takes at most 5 MiB, does not wait for ever, and tells errors of the server", async () => {
    const url = await serve((request, response) => {
      if (request.url === "/big") {
        response.setHeader("content-type", "text/plain");
        const chunk = Buffer.alloc(1024 * 1024, "x");
        const more = (): void => {
          while (!response.destroyed && response.write(chunk));
          if (!response.destroyed) response.once("drain", more);
        };
        more();
      } else if (request.url === "/missing") {
        response.writeHead(404, { "content-type": "text/plain" });
        response.end("not here");
      }
    });
    expect((await directory.call(open, { url: `${url}/big` })).output).toContain("5242880 bytes, cut");
    expect(await directory.call(open, { url: `${url}/missing` })).toMatchObject({ isError: true });
    const quick = fetchTool({ isAllowed: () => true, timeoutMs: 50 });
    await expect(directory.call(quick, { url: `${url}/hangs` })).rejects.toThrow("did not answer in time");
  });
});

describe("addresses", () => {
  it("only public ones", async () => {
    directory = await TestDirectory.make();
    const bad = [
      "127.0.0.1",
      "10.1.2.3",
      "172.16.0.1",
      "172.31.255.255",
      "192.168.1.1",
      "169.254.169.254",
      "100.64.0.1",
      "0.0.0.0",
      "224.0.0.1",
      "255.255.255.255",
      "198.18.0.1",
      "::",
      "::1",
      "::ffff:10.0.0.1",
      "::ffff:a00:1",
      "fc00::1",
      "fd12::1",
      "fe80::1",
      "ff02::1",
      "64:ff9b::a00:1",
      "64:ff9b:1::1",
      "0:0:0:0:0:ffff:7f00:1",
      "::FFFF:192.168.0.1",
      "::127.0.0.1",
      "::ffff:0:127.0.0.1",
      "::ffff:169.254.169.254",
      "2001:0:a00:1::",
      "2001:db8::1",
      "100::1",
      "fec0::1",
      "4000::1",
      "2002:a00:1::",
      "fe80::1%eth0",
      "nonsense",
      "",
    ];
    for (const address of bad) expect(isPublicAddress(address), address).toBe(false);
    for (const address of [
      "8.8.8.8",
      "1.1.1.1",
      "172.32.0.1",
      "2606:4700::1111",
      "2a00:1450:4001::1",
      "::ffff:8.8.8.8",
      "::ffff:808:808",
    ]) {
      expect(isPublicAddress(address), address).toBe(true);
    }
  });

  it("HTML: lists, code, entities, tables; nothing hidden", async () => {
    directory = await TestDirectory.make();
    const html =
      "<head><title>X</title></head><ul><li>one<li>two &#x1F409; &lt;b&gt;</ul><pre>a\n  b &amp;</pre><style>p{}</style><!-- no --><a href='javascript:x'>j</a>";
    expect(htmlToText(html)).toBe("# X\n\n- one\n- two 🐉 <b>\n\n```\na\n  b &\n```\n\nj");
  });
});
