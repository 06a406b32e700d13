#!/usr/bin/env node
// Acts as `opencode serve`: HTTP for commands, one event stream for all sessions. What a turn says is the prompt's word (script.mjs).
import { createServer } from "node:http";
import { play, writerTo } from "./script.mjs";

if (process.argv.includes("--version")) {
  console.log("1.18.33");
  process.exit(0);
}

const port = Number(process.argv[process.argv.indexOf("--port") + 1]);
const streams = new Map();
let serial = 0;
const id = (kind) => `${kind}_1e10${String(++serial).padStart(8, "0")}001HmAFZiqrnPSOGB`;
const frame = (directory, type, properties) =>
  `data: ${JSON.stringify({ directory, project: "global", payload: { id: id("evt"), type, properties } })}\n\n`;
const write = (lines) => Promise.all([...streams.values()].map((to) => to(lines)));

async function turn(directory, sessionID, text) {
  const emit = (type, properties) => write(frame(directory, type, { sessionID, ...properties }));
  const say = (info, part) => [
    frame(directory, "message.updated", { sessionID, info }),
    frame(directory, "message.part.updated", { sessionID, part }),
  ];
  const user = { id: id("msg"), sessionID, role: "user", time: { created: Date.now() } };
  await write(say(user, { id: id("prt"), sessionID, messageID: user.id, type: "text", text }).join(""));
  await emit("session.status", { status: { type: "busy" } });
  const answer = { id: id("msg"), sessionID, role: "assistant", parentID: user.id, time: { created: Date.now() } };
  let open = null;
  const close = () => (open ? say(answer, { ...open, time: { start: 1, end: 2 } })[1] : "");
  const message = () => {
    const ended = close();
    open = { id: id("prt"), sessionID, messageID: answer.id, type: "text", text: "", time: { start: 1 } };
    write(ended + say(answer, open).join(""));
    const properties = JSON.stringify({ sessionID, messageID: answer.id, partID: open.id, field: "text", delta: "|" }).split("|");
    const head = `data: ${JSON.stringify({ directory, project: "global" }).slice(0, -1)},"payload":{"id":"`;
    return (delta) => {
      open.text += delta;
      return `${head}${id("evt")}","type":"message.part.delta","properties":${properties[0]}${delta}${properties[1]}}}\n\n`;
    };
  };
  await play(text, message, write);
  const completed = { ...answer, finish: "stop", time: { created: answer.time.created, completed: Date.now() } };
  await write(close() + frame(directory, "message.updated", { sessionID, info: completed }));
  await emit("session.status", { status: { type: "idle" } });
  await emit("session.idle", {});
}

const session = (sessionID, directory) => ({
  id: sessionID,
  title: "t",
  directory,
  permission: [],
  time: { created: 1, updated: 1 },
});

/** The answer's body; undefined for 204. */
function answer(method, path, directory, body) {
  const [, of = "", act = ""] = /^\/session\/(ses_[^/]+)\/?(.*)$/.exec(path) ?? [];
  if (method === "POST" && path === "/session") return session(id("ses"), directory);
  if (act === "prompt_async") return void setImmediate(() => turn(directory, of, body.parts[0].text));
  if (act === "abort") {
    write(frame(directory, "session.status", { sessionID: of, status: { type: "idle" } }));
    return true;
  }
  if (act === "message" || path === "/permission" || path === "/question" || path === "/command") return [];
  if (path === "/agent") return [{ name: "build", mode: "primary" }];
  if (path === "/config/providers")
    return { providers: [{ id: "bench", models: { one: { name: "One", limit: { context: 9 } } } }], default: { bench: "one" } };
  return of ? session(of, directory) : {};
}

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, "http://localhost");
  if (pathname === "/global/event") {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`data: ${JSON.stringify({ payload: { id: id("evt"), type: "server.connected", properties: {} } })}\n\n`);
    streams.set(response, writerTo(response));
    request.on("close", () => streams.delete(response));
    return;
  }
  let text = "";
  request.on("data", (chunk) => (text += chunk));
  request.on("end", () => {
    const body = answer(request.method, pathname, searchParams.get("directory") ?? "", text === "" ? {} : JSON.parse(text));
    if (body === undefined) return response.writeHead(204).end();
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
});
server.listen(port, "127.0.0.1", () => console.log(`opencode server listening on http://127.0.0.1:${server.address().port}`));
