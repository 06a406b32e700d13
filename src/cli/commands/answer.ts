// `allow`, `deny`, `answer`: a person's answer to what an agent asks. While a turn runs and nothing is asked yet, they wait for it.
import { boundTo } from "../../client/requests.ts";
import type { SessionHandle } from "../../client/session-handle.ts";
import type { PermissionReplyBody } from "../../schema/session.ts";
import { type Command, done, flag, type Invocation, list, need, text, UsageError } from "../command.ts";

type Kind = "permissions" | "questions";

/** The named request, or the one that is open. */
async function openRequest(call: Invocation, kind: Kind): Promise<{ session: SessionHandle; id: string }> {
  const session = (await call.daemon()).session(need(call.words, 0, "the session"));
  const named = call.words[1];
  if (named !== undefined) return { session, id: named };
  const open = await openIds(session, kind);
  if (open.length > 1) throw new UsageError(`several are open: name one of ${open.join(", ")}`);
  const id = open[0] ?? (await nextRequest(call, session, kind));
  if (id === undefined) throw new UsageError(`the session has no open ${kind}`);
  return { session, id };
}

async function openIds(session: SessionHandle, kind: Kind): Promise<string[]> {
  const { permissions, questions } = await session.pending();
  return kind === "permissions" ? permissions.map((each) => each.permission_id) : questions.map((each) => each.question_id);
}

/** What the running turn asks next, or the one of a message that waits to be delivered; undefined when it ends without asking, or there is none. */
async function nextRequest({ terminal }: Invocation, session: SessionHandle, kind: Kind): Promise<string | undefined> {
  const view = await session.get();
  const works = view.status === "running" || view.status === "starting" || view.status === "waiting";
  if (!works && view.queued === 0) return undefined;
  const [open] = await openIds(session, kind);
  if (open !== undefined) return open;
  for await (const event of session.events({ after: view.last_sequence, signal: terminal.signal })) {
    if (event.type === "permission.requested" && kind === "permissions") return event.data.permission_id;
    if (event.type === "question.requested" && kind === "questions") return event.data.question_id;
    if (event.type === "turn.ended") return undefined;
  }
  return undefined;
}

/** Binds the answer to the input that is asked for now. */
async function boundToOpen(session: SessionHandle, id: string): Promise<Pick<PermissionReplyBody, "input_hash">> {
  const open = (await session.pending()).permissions.find((each) => each.permission_id === id);
  return open ? boundTo(open) : {};
}

export const allow: Command = {
  name: "allow",
  usage: "allow <session> [<permission>]",
  about: "allow what the agent asks, or is about to ask in the running turn",
  options: {
    always: { type: "boolean", about: "from now on" },
    option: { type: "string", value: "<id>", about: "choose this one of the agent's own options" },
    input: { type: "string", value: "<json>", about: "allow it with this input instead, where the agent can" },
  },
  completes: ["sessions"],
  async run(call) {
    const [option_id, input] = [text(call.values, "option"), text(call.values, "input")];
    const changed = input === undefined ? {} : { updated_input: parsed(input) };
    const { session, id } = await openRequest(call, "permissions");
    const reply = flag(call.values, "always") ? "always" : "once";
    const bound = await boundToOpen(session, id);
    await session.replyPermission(id, { ...bound, reply, ...changed, ...(option_id ? { option_id } : {}) });
    return done(call, { session_id: session.id, permission_id: id, reply });
  },
};

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new UsageError(`--input needs JSON, not ${json}`);
  }
}

export const deny: Command = {
  name: "deny",
  usage: "deny <session> [<permission>]",
  about: "deny what the agent asks, or is about to ask in the running turn",
  options: { message: { type: "string", short: "m", value: "<text>", about: "tell the agent why" } },
  completes: ["sessions"],
  async run(call) {
    const { session, id } = await openRequest(call, "permissions");
    const message = text(call.values, "message");
    await session.replyPermission(id, { ...(await boundToOpen(session, id)), reply: "reject", ...(message ? { message } : {}) });
    return done(call, { session_id: session.id, permission_id: id, reply: "reject" });
  },
};

export const answer: Command = {
  name: "answer",
  usage: "answer <session> [<question>]",
  about: "answer the agent's questions, one --with for each",
  options: {
    with: {
      type: "string",
      short: "w",
      multiple: true,
      value: "<answer>",
      about: "an answer; several of one question with commas",
    },
    reject: { type: "boolean", about: "decline to answer" },
  },
  completes: ["sessions"],
  async run(call) {
    const reject = flag(call.values, "reject");
    const answers = list(call.values, "with").map((each) => each.split(",").map((part) => part.trim()));
    if (!reject && answers.length === 0) throw new UsageError("give --with once for each question, or --reject");
    const { session, id } = await openRequest(call, "questions");
    if (reject) await session.rejectQuestion(id);
    else await session.replyQuestion(id, answers);
    return done(call, { session_id: session.id, question_id: id, answers: reject ? null : answers });
  },
};
