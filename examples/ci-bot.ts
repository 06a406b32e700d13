// A bot for CI: sends one prompt to an agent in a repository, allows only tools that read, prints a summary, and says by its exit code how it went.
//
//   ci-bot <agent> <directory> <prompt>          ALLOW=read,search,fetch  DRAGOMAN_URL, DRAGOMAN_TOKEN for a daemon elsewhere
//
// Exit code: 0 done, 1 the turn failed, 2 wrong call, 3 done, but something it wanted was denied.
import { connect, type PermissionRequest } from "dragoman/client";

const [agent, directory, ...words] = process.argv.slice(2);
if (!agent || !directory || words.length === 0) {
  console.error("usage: ci-bot <agent> <directory> <prompt>");
  process.exit(2);
}
const allowed = new Set((process.env.ALLOW ?? "read,search,fetch,web_search,plan,think").split(","));
const denied: string[] = [];

const { DRAGOMAN_URL: url, DRAGOMAN_TOKEN: token } = process.env;
const dragoman = await connect(url && token ? { url, token } : {});
const session = await dragoman.createSession({ agent, directory, title: "CI bot" });
session.on("permission", (request) => void decide(request));
session.on("question", (question) => void question.reject());

const { stop_reason, text, usage, items, error } = await session.prompt(words.join(" "));
await session.terminate();

const tools = items.filter((item) => item.kind === "tool_call").length;
console.log(text);
console.log(`\n---\n${agent}: ${stop_reason}, ${tools} tool calls, ${usage?.output_tokens ?? "unknown"} output tokens`);
for (const action of denied) console.log(`denied: ${action}`);
if (error) console.error(error);
process.exit(stop_reason !== "end_turn" ? 1 : denied.length > 0 ? 3 : 0);

/** The kind of a tool is the same word for every agent; its name is not. */
async function decide(request: PermissionRequest): Promise<void> {
  const transcript = [];
  for await (const item of session.transcript()) transcript.push(item);
  const item = transcript.find(({ item_id }) => item_id === request.metadata.item_id);
  const call = item?.content.find((part) => part.type === "tool_call");
  if (allowed.has(call?.tool_kind ?? "other")) return request.allow();
  denied.push(request.action);
  return request.deny("Only reading is allowed here.");
}
