// Acts as `opencode serve` for the tests of the connection: the same routes, the same stream, and the same late listening of /global/event.
// What a prompt says decides what happens: "hang" stops in mid-text, "drop" loses the stream in mid-text and finishes unheard, "ask" asks,
// "ask twice" asks twice, and an answer that allows takes its time,
// "mute" goes idle without an answer, as does everything after it until the instance is disposed.
import { createServer } from "node:http";

if (process.argv.includes("--version")) {
  console.log("1.18.33");
  process.exit(0);
}

const port = Number(process.argv[process.argv.indexOf("--port") + 1]);
const expected = `Basic ${Buffer.from(`opencode:${process.env.OPENCODE_SERVER_PASSWORD}`).toString("base64")}`;
const LATE_MS = 150;
const streams = new Set();
const messages = new Map();
/** Rules of each session: appended by a PATCH, and not copied by a fork. */
const rules = new Map();
const pending = [];
const busy = new Set();
/** Directories whose instance answers nothing until it is disposed. */
const broken = new Set();
/** The directory a session was made in; it does not change with the one a request names. */
const homes = new Map();
let serial = 0;
const id = (kind) => `${kind}_${Date.now().toString(36)}${String(++serial).padStart(6, "0")}`;

function emit(directory, type, properties) {
  const frame = { directory, payload: { id: id("evt"), type, properties } };
  for (const stream of streams) stream.write(`data: ${JSON.stringify(frame)}\n\n`);
}

function sendStatus(directory, sessionID, type) {
  if (type === "busy") busy.add(sessionID);
  else busy.delete(sessionID);
  emit(directory, "session.status", { sessionID, status: { type } });
  if (type === "idle") emit(directory, "session.idle", { sessionID });
}

function say(directory, sessionID, info, parts) {
  const list = messages.get(sessionID) ?? messages.set(sessionID, []).get(sessionID);
  const known = list.find((message) => message.info.id === info.id);
  if (known) Object.assign(known, { info, parts });
  else list.push({ info, parts });
  emit(directory, "message.updated", { sessionID, info });
}

function prompt(directory, sessionID, text) {
  const user = { id: id("msg"), sessionID, role: "user", time: { created: Date.now() } };
  const userPart = { id: id("prt"), sessionID, messageID: user.id, type: "text", text };
  say(directory, sessionID, user, [userPart]);
  emit(directory, "message.part.updated", { sessionID, part: userPart });
  sendStatus(directory, sessionID, "busy");
  if (text.includes("mute") || broken.has(directory)) {
    broken.add(directory);
    return sendStatus(directory, sessionID, "idle");
  }
  const answer = { id: id("msg"), sessionID, role: "assistant", parentID: user.id, time: { created: Date.now() } };
  const part = { id: id("prt"), sessionID, messageID: answer.id, type: "text", text: "", time: { start: 1 } };
  say(directory, sessionID, answer, [part]);
  emit(directory, "message.part.updated", { sessionID, part });
  emit(directory, "message.part.delta", { sessionID, messageID: answer.id, partID: part.id, field: "text", delta: "Half " });
  const finish = () => {
    const whole = { ...part, text: `Half and whole: ${text}`, time: { start: 1, end: 2 } };
    emit(directory, "message.part.updated", { sessionID, part: whole });
    say(directory, sessionID, { ...answer, finish: "stop", time: { created: answer.time.created, completed: Date.now() } }, [
      whole,
    ]);
    sendStatus(directory, sessionID, "idle");
  };
  if (text.includes("hang")) return;
  const flood = Number(/flood (\d+)/.exec(text)?.[1] ?? 0);
  for (let index = 0; index < flood; index++)
    emit(directory, "message.part.delta", {
      sessionID,
      messageID: answer.id,
      partID: part.id,
      field: "text",
      delta: `${index} `,
    });
  if (text.includes("ask twice")) {
    let open = 2;
    for (const command of ["one", "two"]) {
      const request = { id: id("per"), sessionID, permission: "bash", patterns: [command], metadata: { command }, always: [] };
      pending.push({ request, slow: true, finish: () => --open === 0 && finish() });
      emit(directory, "permission.asked", request);
    }
    return;
  }
  if (text.includes("ask")) {
    const request = { id: id("per"), sessionID, permission: "bash", patterns: ["x"], metadata: { command: "x" }, always: ["x"] };
    pending.push({ request, finish });
    emit(directory, "permission.asked", request);
    return;
  }
  if (!text.includes("drop")) return finish();
  for (const stream of streams) stream.destroy();
  streams.clear();
  finish();
}

const routes = [
  ["GET", /^\/config$/, () => ({ model: "test/one", permission: "allow" })],
  ["GET", /^\/global\/config$/, () => ({ model: "test/one", permission: { bash: { "git *": "allow" } } })],
  ["GET", /^\/command$/, () => [{ name: "greet", template: "x", hints: [] }]],
  [
    "GET",
    /^\/agent$/,
    () => [
      { name: "build", mode: "primary" },
      { name: "plan", mode: "primary" },
      { name: "general", mode: "subagent" },
    ],
  ],
  [
    "GET",
    /^\/config\/providers$/,
    () => ({ providers: [{ id: "test", models: { one: { name: "One", limit: { context: 9 } } } }], default: { test: "one" } }),
  ],
  [
    "POST",
    /^\/session$/,
    (_, { directory, body }) => {
      const info = { id: id("ses"), title: "t", directory, time: { created: Date.now(), updated: Date.now() } };
      homes.set(info.id, directory);
      rules.set(info.id, body.permission ?? []);
      emit(directory, "session.created", { sessionID: info.id, info });
      return info;
    },
  ],
  ["GET", /^\/session\/status$/, () => Object.fromEntries([...busy].map((session) => [session, { type: "busy" }]))],
  [
    "GET",
    /^\/session\/(ses_[^/]+)$/,
    ([session], { directory }) => ({
      id: session,
      title: "t",
      directory: homes.get(session) ?? directory,
      permission: rules.get(session) ?? [],
      time: { created: 1, updated: Date.now() },
    }),
  ],
  [
    "PATCH",
    /^\/session\/(ses_[^/]+)$/,
    ([session], { directory, body }) => {
      rules.set(session, [...(rules.get(session) ?? []), ...(body.permission ?? [])]);
      return { id: session, title: "t", directory, permission: rules.get(session) };
    },
  ],
  ["POST", /^\/session\/(ses_[^/]+)\/fork$/, (_, { directory }) => ({ id: id("ses"), title: "t (fork)", directory })],
  ["GET", /^\/session\/([^/]+)\/message$/, ([session]) => messages.get(session) ?? []],
  [
    "POST",
    /^\/session\/([^/]+)\/prompt_async$/,
    ([session], { directory, body }) => {
      if (body.parts[0].text === "refuse")
        return { status: 400, body: { name: "BadRequest", data: { message: "No such thing" } } };
      setImmediate(() => prompt(directory, session, body.parts.map((part) => part.text ?? part.mime).join(" ")));
      return { status: 204 };
    },
  ],
  [
    "POST",
    /^\/session\/([^/]+)\/(shell|command|summarize)$/,
    ([session, route], { directory, body }) => {
      prompt(directory, session, `${route} ${JSON.stringify(body)}`);
      return true;
    },
  ],
  [
    "POST",
    /^\/session\/([^/]+)\/abort$/,
    ([session], { directory }) => {
      sendStatus(directory, session, "idle");
      return true;
    },
  ],
  ["GET", /^\/permission$/, () => pending.map(({ request }) => request)],
  ["GET", /^\/question$/, () => []],
  [
    "POST",
    /^\/instance\/dispose$/,
    (_, { directory }) => {
      broken.delete(directory);
      setTimeout(() => emit(directory, "server.instance.disposed", { directory }), 100);
      return true;
    },
  ],
  [
    "POST",
    /^\/permission\/([^/]+)\/reply$/,
    async ([request], { directory, body }) => {
      const one = pending.find(({ request: { id } }) => id === request);
      if (one?.slow && body.reply !== "reject") await new Promise((resolve) => setTimeout(resolve, LATE_MS));
      if (!pending.includes(one)) return { status: 404, body: { _tag: "PermissionNotFoundError" } };
      const { sessionID } = one.request;
      // 1.18: a rejection rejects all that the session asks for.
      const answered = body.reply === "reject" ? pending.filter((other) => other.request.sessionID === sessionID) : [one];
      for (const each of answered) {
        pending.splice(pending.indexOf(each), 1);
        emit(directory, "permission.replied", { sessionID, requestID: each.request.id, reply: body.reply });
        each.finish();
      }
      return true;
    },
  ],
];

const server = createServer((request, response) => {
  const url = new URL(request.url, "http://localhost");
  if (request.headers.authorization !== expected) return response.writeHead(401).end();
  if (url.pathname === "/global/event") {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`data: ${JSON.stringify({ payload: { id: id("evt"), type: "server.connected", properties: {} } })}\n\n`);
    setTimeout(() => streams.add(response), LATE_MS);
    request.on("close", () => streams.delete(response));
    return;
  }
  let text = "";
  request.on("data", (chunk) => (text += chunk));
  request.on("end", async () => {
    for (const [method, pattern, act] of routes) {
      const match = pattern.exec(url.pathname);
      if (!match || request.method !== method) continue;
      const context = { directory: url.searchParams.get("directory") ?? "", body: text === "" ? {} : JSON.parse(text) };
      const result = await act(match.slice(1), context);
      const { status = 200, body = result } = result?.status ? result : {};
      if (status === 204) return response.writeHead(204).end();
      return response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    }
    response.writeHead(200, { "content-type": "text/html" }).end("<html>the web page</html>");
  });
});
server.listen(port, "127.0.0.1", () => console.log(`opencode server listening on http://127.0.0.1:${server.address().port}`));
