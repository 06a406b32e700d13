/** Installs an agent: one request whose answer is the progress, step by step, and then the agent or the problem. */
import type { AgentInfo, Problem } from "../schema/session.ts";
import { DragomanError } from "./error.ts";
import { readSse } from "./event-stream.ts";
import type { Http } from "./http.ts";

export async function installAgent(
  http: Http,
  agent: string,
  onProgress: (progress: { message: string }) => void,
  signal: AbortSignal | undefined,
): Promise<AgentInfo> {
  const response = await http.open("POST", `/v1/agents/${encodeURIComponent(agent)}/install`, {
    body: {},
    headers: { accept: "text/event-stream" },
    signal,
  });
  let info: AgentInfo | undefined;
  for await (const { event, data } of readSse(response)) {
    const value = JSON.parse(data) as unknown;
    if (event === "done") info = value as AgentInfo;
    else if (event === "problem")
      throw new DragomanError((value as Problem).code, (value as Problem).detail, {
        status: (value as Problem).status,
        problem: value as Problem,
      });
    else onProgress(value as { message: string });
  }
  if (!info) throw new DragomanError("stream_ended", "The daemon stopped talking before the installation was done.");
  return info;
}
