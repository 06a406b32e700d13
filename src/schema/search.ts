// Full-text search over everything said and done in sessions: what is asked, and what is found.
import Type from "typebox";

export const SearchSort = Type.Enum(["user", "assistant", "reasoning", "tool", "request", "error"], {
  description:
    "user: what a person wrote; assistant: what the agent said; reasoning: its thoughts; tool: calls and their results; request: permissions and questions; error: errors",
});
export type SearchSort = Type.Static<typeof SearchSort>;

export const SearchHit = Type.Object(
  {
    session_id: Type.String({ description: "Id of the session." }),
    sequence: Type.Integer({ description: "of the event that holds the text: read it with after = sequence - 1" }),
    item_id: Type.Union([Type.String(), Type.Null()], { description: "The item that holds the text; null: none does." }),
    kind: SearchSort,
    time: Type.String({ description: "When it was said: RFC 3339." }),
    title: Type.Union([Type.String(), Type.Null()], { description: "Name for people; null while there is none." }),
    agent: Type.String({ description: "Id of the agent, such as `claude`." }),
    directory: Type.String({ description: "Absolute path of the working directory, on the daemon's machine." }),
    snippet: Type.String({ description: "the text around the first word that was found, on one line" }),
    highlights: Type.Array(
      Type.Object({
        start: Type.Integer({ description: "First character, counted in the snippet." }),
        end: Type.Integer({ description: "Character after the last one." }),
      }),
      {
        description: "where in the snippet the words stand, in UTF-16 units",
      },
    ),
  },
  { title: "SearchHit" },
);
export type SearchHit = Type.Static<typeof SearchHit>;

export const SearchResult = Type.Object(
  {
    hits: Type.Array(SearchHit, { description: "the newest first" }),
    next: Type.Union([Type.String(), Type.Null()], { description: "`before` of the following page; null at the end." }),
    index: Type.Object(
      {
        state: Type.Enum(["building", "ready", "failed"], {
          description: "building: the index is still being made from the log, so something may be missing",
        }),
        message: Type.Optional(Type.String({ description: "Why the index failed." })),
      },
      { description: "How much of the log can be found by now." },
    ),
  },
  { title: "SearchResult" },
);
export type SearchResult = Type.Static<typeof SearchResult>;
