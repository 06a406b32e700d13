/**
 * Gives a part of the work to another agent, in a session of its own. Which agents there are and how sessions begin is the embedder's. The child belongs to the call:
 * it ends with it, and after a crash the call goes on waiting for the same child.
 */
import Type from "typebox";
import type { SubAgent, SubAgentEnd, SubAgents } from "../ports.ts";
import { headAndTail } from "./output-limit.ts";
import { realPath } from "./paths.ts";
import { type AnyTool, defineTool, type ToolContext, type ToolResult } from "./tool.ts";

export function agentTool(subAgents: SubAgents): AnyTool {
  const names = subAgents.agents.join(", ");
  return defineTool({
    name: "agent",
    description: `Starts a sub-agent with a task of its own and waits for its answer. It knows nothing of this conversation: tell it everything it needs, and what to report. Agents: ${names}.`,
    parameters: Type.Object({
      prompt: Type.String({ minLength: 1, description: "The whole task." }),
      agent: Type.Optional(Type.String({ description: "Which agent; one like you when left out." })),
      model: Type.Optional(Type.String({ description: "Its model; its usual one when left out." })),
      directory: Type.Optional(Type.String({ description: "Where it works, inside the working directory." })),
      title: Type.Optional(Type.String({ description: "A few words for the user." })),
    }),
    effect: "unknown",
    subject: () => ({ kind: "other", name: "agent" }),
    timeoutMs: () => null,
    async run({ prompt, agent, model, directory, title }, context) {
      const child = await subAgents.open({
        call: context.call,
        agent: agent ?? null,
        model: model ?? null,
        directory: realPath(context.directory, directory ?? "."),
        title: title ?? prompt.slice(0, 80),
      });
      return outcome(child, () => child.run(prompt), context);
    },
    async recover({ prompt }, context) {
      const child = await subAgents.find(context.call);
      return child === null ? null : outcome(child, () => child.goOn(prompt), context);
    },
  });
}

async function outcome(child: SubAgent, work: () => Promise<SubAgentEnd>, context: ToolContext): Promise<ToolResult> {
  const { signal, blobs, addChild } = context;
  const stop = (): void => void child.end();
  signal.addEventListener("abort", stop, { once: true });
  try {
    if (signal.aborted) throw new Error("interrupted");
    const { text, usage, fault } = await work();
    addChild(child.session_id, usage);
    const { text: shown, cut } = headAndTail(text === "" ? "(It said nothing.)" : text);
    const artifacts = cut ? [await blobs.put(Buffer.from(text))] : [];
    const where = artifacts.map((digest) => `\n(All of it: artifact:${digest})`).join("");
    if (fault === null) return { output: `${shown}${where}`, artifacts };
    return {
      output: `The sub-agent did not come to its end: ${fault}\nIts last words:\n${shown}${where}`,
      isError: true,
      artifacts,
    };
  } finally {
    signal.removeEventListener("abort", stop);
    await child.end();
  }
}
