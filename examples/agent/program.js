// The parrot itself: one JSON message a line on its pipes, its memory in a file. A real agent is somebody else's program; this one is here to be driven.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const session = process.argv[2] ?? `parrot-${process.pid}-${Date.now()}`;
const file = join(process.env.PARROT_MEMORY ?? ".", `${session}.txt`);
const write = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
let asking = null;

function hear(text) {
  const [word, argument] = text.split(" ");
  if (word === "hang") return;
  if (word === "ask") {
    asking = text;
    return write({ type: "permission", id: "1", action: "Squawk loudly" });
  }
  if (word === "garbage") process.stdout.write("Squawk!\n");
  const heard = existsSync(file) ? readFileSync(file, "utf8").split("\n").length - 1 : 0;
  appendFileSync(file, `${text}\n`);
  const words =
    word === "flood" ? Array.from({ length: Number(argument) }, (_, index) => `${index}`) : [`(${heard})`, ...text.split(" ")];
  for (const said of words) write({ type: "word", text: `${said} ` });
  write({ type: "done" });
}

write({ type: "hello", session });
createInterface({ input: process.stdin })
  .on("line", (line) => {
    const message = JSON.parse(line);
    if (message.type === "message") hear(message.text);
    if (message.type === "stop") write({ type: "stopped" });
    if (message.type === "permission" && asking !== null) {
      asking = null;
      hear(message.allowed ? "squawk squawk" : "quiet");
    }
  })
  .on("close", () => process.exit(0));
