/**
 * Who caused an effect: the token, its role, the surface it was used through, and the session whose agent used it. Every event that a command causes
 * carries one. Not here: how a caller is recognised (server).
 */
import Type from "typebox";
import { ROLES } from "./roles.ts";

export { ROLES, reaches } from "./roles.ts";

export const Role = Type.Enum([...ROLES], {
  description: "observe reads; approve also answers requests; operate does everything but manage tokens; admin does all",
});
export type Role = (typeof ROLES)[number];

/** Where a command came in. `daemon`: nobody asked, the daemon did it by its own rules. */
export const Surface = Type.Enum(["http", "websocket", "inspector", "cli", "sdk", "mcp", "agent", "embedded", "daemon"], {
  description: "Where the command came in. daemon: nobody asked, the daemon did it by its own rules.",
});
export type Surface = Type.Static<typeof Surface>;

export const Actor = Type.Object(
  {
    token_id: Type.Union([Type.String(), Type.Null()], {
      description: "The id of the token, never its secret. Null without a token.",
    }),
    role: Type.Union([Role, Type.Null()], { description: "The role the token had when it was used." }),
    surface: Surface,
    session_id: Type.Optional(Type.String({ description: "The session whose agent called: a person did not." })),
  },
  { title: "Actor", description: "Who caused it." },
);
export type Actor = Type.Static<typeof Actor>;

/** For a program that holds the sessions in its own process and calls them without a token. */
export const EMBEDDED: Actor = { token_id: null, role: null, surface: "embedded" };

/** For what the daemon does by itself: recovery, policies, time limits, its own stop. What an agent does by itself has no actor. */
export const BY_THE_DAEMON: Actor = { token_id: null, role: null, surface: "daemon" };
