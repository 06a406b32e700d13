/** For an agent that does not exist: which one the person probably meant. */
import type { Dragoman } from "../client/dragoman.ts";
import { DragomanError } from "../client/error.ts";
import { similar } from "./similar.ts";

/** The same error, with a suggestion where there is one. Any other error is returned as it is. */
export async function withMeantAgent(error: unknown, daemon: () => Promise<Dragoman>): Promise<unknown> {
  if (!(error instanceof DragomanError && error.code === "agent_unknown")) return error;
  const name = /^There is no agent "([^"]+)"/.exec(error.message)?.[1];
  if (name === undefined) return error;
  const known = await daemon()
    .then((client) => client.agents())
    .catch(() => []);
  const meant = similar(
    name,
    known.map(({ agent }) => agent),
  );
  if (meant === undefined) return error;
  return new DragomanError(error.code, `There is no agent "${name}". Did you mean "${meant}"? \`dragoman agents\` lists them.`, {
    cause: error,
    status: error.status,
  });
}
