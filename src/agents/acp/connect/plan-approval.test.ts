import { describe, expect, it } from "vitest";
import { replayTrace } from "../../../verify/replay.ts";
import { AcpTranslator } from "../translate/translator.ts";
import { AcpClient, type ClientParts } from "./client.ts";

type Option = { optionId: string; name: string; kind: string };
const option = (optionId: string, name: string, kind: string): Option => ({ optionId, name, kind });

const CLAUDE = [
  option("exit-plan-default", "Yes, manually approve edits", "allow_once"),
  option("exit-plan-accept-edits", "Yes, and auto-accept edits", "allow_always"),
  option("reject", "No, keep planning", "reject_once"),
];
const QWEN = [
  option("restore_previous", "Yes, restore previous mode (auto)", "allow_once"),
  option("proceed_always", "Yes, and auto-accept edits", "allow_always"),
  option("proceed_once", "Yes, and manually approve edits", "allow_once"),
  option("cancel", "No, keep planning (esc)", "reject_once"),
];
const PLAIN = [option("y", "Yes", "allow_once"), option("n", "No", "reject_once")];

const request = (options: Option[]) => ({
  jsonrpc: "2.0",
  id: 0,
  method: "session/request_permission",
  params: {
    sessionId: "s",
    options,
    toolCall: { toolCallId: "c", title: "Plan:", kind: "switch_mode", rawInput: { plan: "# Plan" } },
  },
});

/** The drafts of the request, and what its answer means. */
function ask(options: Option[], optionId: string | null) {
  const translator = new AcpTranslator();
  const asked = translator.translate({ dir: "out", data: request(options) }).flatMap(({ drafts }) => drafts);
  const outcome = optionId === null ? { outcome: "cancelled" } : { outcome: "selected", optionId };
  const answer = translator.translate({ dir: "in", data: { jsonrpc: "2.0", id: 0, result: { outcome } } });
  const question = asked.find((draft) => draft.do === "question.request");
  if (question?.do !== "question.request") throw new Error("no question");
  return { question, answer: answer.flatMap(({ drafts }) => drafts) };
}

/** What an ACP agent gets for the answer of a person. */
function reply(options: Option[], answers: string[][] | null): unknown {
  const given: unknown[] = [];
  const translator = new AcpTranslator();
  translator.translate({ dir: "out", data: request(options) });
  const change: ClientParts["change"] = (id) => translator.change(id);
  const client = new AcpClient({ policy: () => "all", reaches: () => true, change } as unknown as ClientParts);
  client.handle("session/request_permission", request(options).params, 0, {
    result: (value: unknown) => void given.push(value),
    error: (error: unknown) => void given.push(error),
  } as never);
  client.replyQuestion(ask(options, null).question.native, answers);
  return given[0];
}

describe("[U19] a way out of plan mode over ACP is a question", () => {
  it.each([
    ["claude-agent-acp", CLAUDE, ["Approve", "Approve and accept edits", "Keep planning"]],
    ["qwen", QWEN, ["Approve", "Approve and accept edits", "Yes, restore previous mode (auto)", "Keep planning"]],
    ["an agent nobody knows", PLAIN, ["Approve", "Keep planning"]],
  ])("%s", (_, options, labels) => {
    const { question } = ask(options, null);
    expect(question.questions).toMatchObject([{ prompt: "# Plan", header: "Plan", free_text: false }]);
    expect(question.questions[0]?.options.map(({ label }) => label)).toEqual(labels);
    expect(question.metadata).toEqual({ kind: "plan_approval", plan: "# Plan" });
  });

  it.each([
    ["proceed_once", { status: "answered", answers: [["Approve"]] }],
    ["proceed_always", { status: "answered", answers: [["Approve and accept edits"]] }],
    ["cancel", { status: "answered", answers: [["Keep planning"]] }],
    [null, { status: "rejected" }],
  ])("the native answer %s tells what was said", (chosen, told) => {
    expect(ask(QWEN, chosen).answer).toMatchObject([{ do: "question.resolve", ...told }]);
  });

  it.each([
    ["Approve", "proceed_once"],
    ["Approve and accept edits", "proceed_always"],
    ["Keep planning", "cancel"],
    ["Yes, restore previous mode (auto)", "restore_previous"],
    ["words of my own", "cancel"],
  ])("%s chooses %s, and no policy answers it", (words, optionId) => {
    expect(reply(QWEN, [[words]])).toEqual({ outcome: { outcome: "selected", optionId } });
  });

  it("a rejection, and an agent without a way to reject", () => {
    expect(reply(PLAIN, null)).toEqual({ outcome: { outcome: "selected", optionId: "n" } });
    expect(reply(PLAIN.slice(0, 1), null)).toEqual({ outcome: { outcome: "cancelled" } });
  });

  it("an interrupt rejects the question", () => {
    const rows = [
      { t_ms: 0, dir: "out" as const, data: request(PLAIN) },
      { t_ms: 1, dir: "out" as const, data: { jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: 0 } } },
    ];
    const { sessions } = replayTrace(() => new AcpTranslator(), rows, { location: "test" });
    const resolved = sessions[0]?.events.find(({ type }) => type === "question.resolved");
    expect(resolved?.data).toMatchObject({ status: "rejected", resolved_by: "agent" });
  });
});
