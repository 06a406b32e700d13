// The yardstick: what an agent writes → SSE, no parse, no store, nothing kept. As little as can be.
// POST /start?id= {command, args, sse?}: starts it; `sse`: it is a server, and the path is its event stream. POST /send?id=: to its stdin, or {path, body} to the
// server. GET /events?id=: what it says.
import { spawn } from "node:child_process";
import { createServer, get } from "node:http";
import { createInterface } from "node:readline";

const pipes = new Map();

function lines(stream, clients, frame) {
  let rest = "";
  stream.setEncoding("utf8");
  stream.on("data", (chunk) => {
    const whole = (rest + chunk).split("\n");
    rest = whole.pop();
    let frames = "";
    for (const line of whole) frames += frame(line);
    if (frames) for (const client of clients) client.write(frames);
  });
}

async function start({ command, args, sse }) {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const pipe = { child, clients: new Set(), url: null };
  if (!sse) lines(child.stdout, pipe.clients, (line) => `data: ${line}\n\n`);
  else {
    for await (const line of createInterface({ input: child.stdout })) {
      pipe.url = /listening on (\S+)/.exec(line)?.[1] ?? null;
      if (pipe.url) break;
    }
    const stream = await new Promise((resolve) => get(pipe.url + sse, resolve));
    lines(stream, pipe.clients, (line) => (line.startsWith("data:") ? `${line}\n\n` : ""));
  }
  return pipe;
}

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url, "http://localhost");
  const id = searchParams.get("id");
  if (pathname === "/events") {
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    return pipes.get(id).clients.add(response);
  }
  let body = "";
  for await (const chunk of request) body += chunk;
  if (pathname === "/start") pipes.set(id, await start(JSON.parse(body)));
  else if (pathname === "/stop") {
    pipes.get(id)?.child.kill();
    pipes.delete(id);
  } else if (pipes.get(id).url) {
    const { path, body: sent } = JSON.parse(body);
    await fetch(pipes.get(id).url + path, { method: "POST", body: JSON.stringify(sent) });
  } else pipes.get(id).child.stdin.write(`${body}\n`);
  response.end("ok");
});
server.listen(0, "127.0.0.1", () => process.send({ url: `http://127.0.0.1:${server.address().port}` }));
process.on("disconnect", () => {
  for (const { child } of pipes.values()) child.kill();
  process.exit();
});
