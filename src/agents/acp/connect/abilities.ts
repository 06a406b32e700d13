// What an agent said it can do in its initialize result, v1 or v2, as plain answers.
import { isRecord, type JsonRecord, num, rec, records, str } from "../../json.ts";

export type Abilities = {
  version: number;
  load: boolean;
  resume: boolean;
  fork: boolean;
  close: boolean;
  /** `_session/steering`: a message goes into the running turn. */
  steer: boolean;
  systemPrompt: boolean;
  image: boolean;
  audio: boolean;
  embedded: boolean;
  mcpHttp: boolean;
  mcpSse: boolean;
  authMethods: { id: string; name: string }[];
};

export function readAbilities(result: JsonRecord): Abilities {
  const version = num(result.protocolVersion) ?? 1;
  const authMethods = records(result.authMethods).map((method) => {
    const id = str(method.id) ?? str(method.methodId) ?? "";
    return { id, name: str(method.name) ?? id };
  });
  const steer = rec(rec(result._meta).steering).supported === true;
  return { version, authMethods, steer, ...(version >= 2 ? second(result) : first(result)) };
}

type Rest = Omit<Abilities, "version" | "authMethods" | "steer">;

function first(result: JsonRecord): Rest {
  const agent = rec(result.agentCapabilities);
  const session = rec(agent.sessionCapabilities);
  const prompt = rec(agent.promptCapabilities);
  const mcp = rec(agent.mcpCapabilities);
  return {
    load: agent.loadSession === true,
    resume: isRecord(session.resume),
    fork: isRecord(session.fork),
    close: isRecord(session.close),
    systemPrompt: isRecord(session.systemPrompt),
    image: prompt.image === true,
    audio: prompt.audio === true,
    embedded: prompt.embeddedContext === true,
    mcpHttp: mcp.http === true,
    mcpSse: mcp.sse === true,
  };
}

/** v2 has resume and close always; a capability is an object. */
function second(result: JsonRecord): Rest {
  const session = rec(rec(result.capabilities).session);
  const prompt = rec(session.prompt);
  return {
    load: false,
    resume: true,
    fork: isRecord(session.fork),
    close: true,
    systemPrompt: isRecord(session.systemPrompt),
    image: isRecord(prompt.image),
    audio: isRecord(prompt.audio),
    embedded: isRecord(prompt.embeddedContext),
    mcpHttp: isRecord(rec(session.mcp).http),
    mcpSse: false,
  };
}
