// The yardstick: child stdout lines → SSE, no parse, no store, nothing kept. Forty lines, and as little as can be.
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("../dist/agents/mock/program.js", import.meta.url));
const pipes = new Map();

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, "http://localhost");
  const id = searchParams.get("id");
  if (pathname === "/start") {
    const child = spawn(process.execPath, [PROGRAM], { stdio: ["pipe", "pipe", "inherit"] });
    const clients = new Set();
    pipes.set(id, { child, clients });
    let rest = "";
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (chunk) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop();
      let frames = "";
      for (const line of lines) frames += `data: ${line}\n\n`;
      if (frames) for (const client of clients) client.write(frames);
    });
    response.end("ok");
  } else if (pathname === "/events") {
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    pipes.get(id).clients.add(response);
  } else {
    pipes
      .get(id)
      .child.stdin.write(`${JSON.stringify({ type: "prompt", id: "1", text: searchParams.get("text"), attachments: [] })}\n`);
    response.end("ok");
  }
});
server.listen(0, "127.0.0.1", () => process.send({ url: `http://127.0.0.1:${server.address().port}` }));
process.on("disconnect", () => {
  for (const { child } of pipes.values()) child.kill();
  process.exit();
});
