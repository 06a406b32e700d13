// Full-text search over everything said and done in sessions: what is asked, and what is found.
import Type from "typebox";

export const SearchSort = Type.Enum(["user", "assistant", "reasoning", "tool", "request", "error"], {
  description:
    "user: what a person wrote; assistant: what the agent said; reasoning: its thoughts; tool: calls and their results; request: permissions and questions; error: errors",
});
export type SearchSort = Type.Static<typeof SearchSort>;

export const SearchHit = Type.Object(
  {
    session_id: Type.String(),
    sequence: Type.Integer({ description: "of the event that holds the text: read it with after = sequence - 1" }),
    item_id: Type.Union([Type.String(), Type.Null()]),
    kind: SearchSort,
    time: Type.String(),
    title: Type.Union([Type.String(), Type.Null()]),
    agent: Type.String(),
    directory: Type.String(),
    snippet: Type.String({ description: "the text around the first word that was found, on one line" }),
    highlights: Type.Array(Type.Object({ start: Type.Integer(), end: Type.Integer() }), {
      description: "where in the snippet the words stand, in UTF-16 units",
    }),
  },
  { title: "SearchHit" },
);
export type SearchHit = Type.Static<typeof SearchHit>;

export const SearchResult = Type.Object(
  {
    hits: Type.Array(SearchHit, { description: "the newest first" }),
    next: Type.Union([Type.String(), Type.Null()]),
    index: Type.Object({
      state: Type.Enum(["building", "ready", "failed"], {
        description: "building: the index is still being made from the log, so something may be missing",
      }),
      message: Type.Optional(Type.String()),
    }),
  },
  { title: "SearchResult" },
);
export type SearchResult = Type.Static<typeof SearchResult>;
