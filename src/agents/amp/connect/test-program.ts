/** For tests: a program that speaks as Amp does on its pipes, one run a turn. What it does is written in the prompt. */
export const ampProgram = `#!${process.execPath}
const args = process.argv.slice(2);
if (args.includes("--version")) { console.log("0.0.1777897475-g2324e1 (released)"); process.exit(0); }
if (args[0] === "permissions") { console.log("[]"); process.exit(0); }
const thread = args[1] === "continue" ? args[2] : "T-" + process.pid;
const say = (data) => process.stdout.write(JSON.stringify({ ...data, session_id: thread }) + "\\n");
const end = (more) => { say({ type: "result", duration_ms: 1, num_turns: 1, ...more }); process.exit(0); };
process.on("SIGINT", () => end({ subtype: "error_during_execution", is_error: true, error: "User cancelled (SIGINT/SIGTERM)" }));
setInterval(() => {}, 1000);
let last = "";
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { content } = JSON.parse(line).message;
  const wish = content.at(-1).text;
  say({ type: "system", subtype: "init", cwd: process.cwd(), tools: [], mcp_servers: [] });
  say({ type: "user", message: { role: "user", content }, parent_tool_use_id: null });
  if (wish === "hang") return;
  if (wish === "garbage") process.stdout.write("this is no JSON\\n");
  last = "said " + wish;
  say({ type: "assistant", message: { type: "message", role: "assistant", content: [{ type: "text", text: last }], stop_reason: "end_turn" }, parent_tool_use_id: null });
}).on("close", () => { if (last !== "") end({ subtype: "success", is_error: false, result: last }); });
`;
