#!/usr/bin/env node
// The smallest agent that speaks ACP on its pipes: driven by dragoman, by peers and by the bare pipe alike. What it says is the prompt's word (agents/script.mjs).
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import { play, writerTo } from "./agents/script.mjs";

const write = writerTo(process.stdout);
const answer = (id, result) => write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);

/** Chunks as real agents write them, about 230 bytes. */
const message = (sessionId) => () => {
  const update = { sessionUpdate: "agent_message_chunk", messageId: randomUUID(), content: { type: "text", text: "|" } };
  const [before, after] = JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { sessionId, update } }).split("|");
  return (text) => `${before}${text}${after}\n`;
};

createInterface({ input: process.stdin })
  .on("line", async (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === "initialize")
      return answer(id, {
        protocolVersion: 1,
        agentInfo: { name: "bench", version: "1" },
        agentCapabilities: {},
        authMethods: [],
      });
    if (method === "session/new") return answer(id, { sessionId: randomUUID() });
    if (method === "session/prompt") {
      // A peer that is asked to end a session waits for its agent to end by itself.
      if (params.prompt[0].text === "exit") process.exit();
      await play(params.prompt[0].text, message(params.sessionId), write);
      return answer(id, { stopReason: "end_turn" });
    }
    if (id !== undefined && method !== undefined) answer(id, {});
  })
  .on("close", () => process.exit());
