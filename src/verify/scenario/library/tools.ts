// Scenarios of tool calls that need no decision of a person: they run in a mode that allows everything.

import type { Scenario, SessionSettings } from "../../../agents/scenario.ts";

const free: SessionSettings = { permission_mode: "bypass" };
const heron = "---\nname: heron\ndescription: What herons do at dawn.\n---\nStand on one leg.\n";
const hello = { "hello.txt": "hello world\nsecond line\nthird line\n" };

export const toolScenarios: readonly Scenario[] = [
  {
    name: "shell-ok",
    title: "a command that works",
    session: free,
    turns: [
      {
        prompt: "Run a command.",
        steps: [
          {
            blocks: [
              { type: "text", text: "Running it." },
              { type: "tool", name: "shell", input: { command: "echo shell-output && echo to-stderr 1>&2" } },
            ],
          },
          { blocks: [{ type: "text", text: "The command worked." }] },
        ],
      },
    ],
    expect: {
      stop_reason: "end_turn",
      tools: ["shell"],
      seen_text: ["shell-output"],
      final_text: ["The command worked."],
      model_saw: ["shell-output"],
    },
  },
  {
    name: "shell-rewind",
    title: "what a command did to the files is taken back",
    session: { ...free, files: { "kept.txt": "before\n", "gone.txt": "here\n" } },
    turns: [
      {
        prompt: "Change the files with a command.",
        steps: [
          {
            blocks: [
              {
                type: "tool",
                name: "shell",
                input: { command: "echo after > kept.txt && rm gone.txt && mkdir made && echo new > made/new.txt" },
              },
            ],
          },
          { blocks: [{ type: "text", text: "The files are changed." }] },
        ],
      },
      {
        prompt: "Say something, after a person took the changes back.",
        actions: [{ do: "rewind", when: { on: "start" }, before_turn: 1 }],
        steps: [{ blocks: [{ type: "text", text: "Nothing of it is left." }] }],
      },
    ],
    expect: {
      turns: 2,
      stop_reason: "end_turn",
      tools: ["shell"],
      events: ["checkpoint.created", "checkpoint.rewound"],
      no_events: ["checkpoint.failed"],
      files: { "kept.txt": "before\n", "gone.txt": "here\n", "made/new.txt": null },
    },
  },
  {
    name: "conversation-rewind",
    title: "after a rewind of the conversation the model knows what was said before, and nothing since",
    needs: ["fork_place"],
    session: free,
    turns: [
      { prompt: "The bird is a heron.", steps: [{ blocks: [{ type: "text", text: "A heron it is." }] }] },
      { prompt: "No, it is a stork.", steps: [{ blocks: [{ type: "text", text: "A stork, then." }] }] },
      {
        prompt: "Which bird is it?",
        delivery: { mode: "rewind", before_turn: 2 },
        steps: [{ blocks: [{ type: "text", text: "It is the first one." }] }],
      },
    ],
    expect: {
      stop_reason: "end_turn",
      final_text: ["It is the first one."],
      model_saw: ["The bird is a heron.", "A heron it is.", "Which bird is it?"],
      model_forgot: ["it is a stork", "A stork, then."],
    },
  },
  {
    name: "skill-by-name",
    title: "a message uses a skill that the agent itself knows nothing of",
    session: { ...free, files: { ".dragoman/skills/heron/SKILL.md": heron } },
    turns: [
      {
        prompt: "/heron quietly [[scenario:skill-by-name]]",
        steps: [{ blocks: [{ type: "text", text: "The heron stood still." }] }],
      },
    ],
    expect: {
      stop_reason: "end_turn",
      events: ["skill.invoked", "skill.loaded"],
      final_text: ["The heron stood still."],
      model_saw: ["Stand on one leg.", "Arguments: quietly"],
    },
  },
  {
    name: "skill-handed-over",
    title: "the model is informed of a skill that lies where the agent does not look",
    needs: ["skill_folder"],
    session: { ...free, files: { ".dragoman/skills/heron/SKILL.md": heron } },
    turns: [{ prompt: "Which skills are there?", steps: [{ blocks: [{ type: "text", text: "One about a heron." }] }] }],
    expect: { stop_reason: "end_turn", final_text: ["One about a heron."], model_saw: ["What herons do at dawn"] },
  },
  {
    name: "skill-by-tool",
    title: "a skill that lies where the agent does not look is used by the model, through the tool that offers it",
    needs: ["mcp_server"],
    session: { ...free, files: { ".dragoman/skills/heron/SKILL.md": heron } },
    turns: [
      {
        prompt: "What do herons do at dawn?",
        steps: [
          {
            blocks: [
              {
                type: "tool",
                name: "mcp",
                input: { server: "dragoman_skills", tool: "use_skill", arguments: { name: "heron" } },
              },
            ],
          },
          { blocks: [{ type: "text", text: "They stand on one leg." }] },
        ],
      },
    ],
    expect: {
      stop_reason: "end_turn",
      events: ["skill.invoked"],
      seen_text: ["Stand on one leg.", "They stand on one leg."],
    },
  },
  {
    name: "shell-fail",
    title: "a command that exits with 3",
    session: free,
    turns: [
      {
        prompt: "Run a failing command.",
        steps: [
          { blocks: [{ type: "tool", name: "shell", input: { command: "echo before; exit 3" } }] },
          { blocks: [{ type: "text", text: "It failed with code 3." }] },
        ],
      },
    ],
    expect: { stop_reason: "end_turn", tools: ["shell"], final_text: ["It failed with code 3."] },
  },
  {
    name: "shell-slow",
    title: "a command that prints for a while",
    session: free,
    turns: [
      {
        prompt: "Run a slow command.",
        steps: [
          { blocks: [{ type: "tool", name: "shell", input: { command: "for i in 1 2 3 4; do echo tick $i; sleep 0.4; done" } }] },
          { blocks: [{ type: "text", text: "Four ticks." }] },
        ],
      },
    ],
    expect: { stop_reason: "end_turn", tools: ["shell"], seen_text: ["tick 4"], final_text: ["Four ticks."] },
  },
  {
    name: "shell-big-output",
    title: "a command that prints a megabyte",
    session: free,
    turns: [
      {
        prompt: "Print a lot.",
        steps: [
          {
            blocks: [
              {
                type: "tool",
                name: "shell",
                input: { command: 'for i in $(seq 1 20000); do echo "line $i of a very large output"; done' },
              },
            ],
          },
          { blocks: [{ type: "text", text: "That was a lot." }] },
        ],
      },
    ],
    expect: { stop_reason: "end_turn", tools: ["shell"], final_text: ["That was a lot."] },
  },
  {
    name: "shell-unicode",
    title: "a command with quotes, and output with U+2028 and emoji",
    session: free,
    turns: [
      {
        prompt: "Print odd characters.",
        steps: [
          {
            blocks: [
              {
                type: "tool",
                name: "shell",
                input: { command: `printf 'a\\342\\200\\250b "q" \\360\\237\\221\\213 %s\\n' "$HOME" | head -c 80` },
              },
            ],
          },
          { blocks: [{ type: "text", text: "Odd, indeed." }] },
        ],
      },
    ],
    expect: { stop_reason: "end_turn", tools: ["shell"], final_text: ["Odd, indeed."] },
  },
  {
    name: "read",
    title: "reads a file",
    session: { ...free, files: hello },
    turns: [
      {
        prompt: "Read hello.txt.",
        steps: [
          { blocks: [{ type: "tool", name: "read", input: { path: "{{cwd}}/hello.txt" } }] },
          { blocks: [{ type: "text", text: "It greets the world." }] },
        ],
      },
    ],
    expect: { stop_reason: "end_turn", tools: ["read"], final_text: ["It greets the world."], model_saw: ["second line"] },
  },
  {
    name: "read-missing",
    title: "reads a file that is not there",
    session: free,
    turns: [
      {
        prompt: "Read a missing file.",
        steps: [
          { blocks: [{ type: "tool", name: "read", input: { path: "{{cwd}}/missing.txt" } }] },
          { blocks: [{ type: "text", text: "There is no such file." }] },
        ],
      },
    ],
    expect: { stop_reason: "end_turn", tools: ["read"], final_text: ["There is no such file."] },
  },
  {
    name: "write",
    title: "writes a new file",
    session: free,
    turns: [
      {
        prompt: "Write new.txt.",
        steps: [
          { blocks: [{ type: "tool", name: "write", input: { path: "{{cwd}}/new.txt", content: "line one\nline two\n" } }] },
          { blocks: [{ type: "text", text: "Written." }] },
        ],
      },
    ],
    expect: { stop_reason: "end_turn", tools: ["write"], final_text: ["Written."], files: { "new.txt": "line one\nline two\n" } },
  },
  {
    name: "edit",
    title: "reads a file and changes a line of it",
    session: { ...free, files: hello },
    turns: [
      {
        prompt: "Change hello.txt.",
        steps: [
          { blocks: [{ type: "tool", name: "read", input: { path: "{{cwd}}/hello.txt" } }] },
          {
            blocks: [
              { type: "tool", name: "edit", input: { path: "{{cwd}}/hello.txt", old: "hello world", new: "hello universe" } },
            ],
          },
          { blocks: [{ type: "text", text: "Changed." }] },
        ],
      },
    ],
    expect: { stop_reason: "end_turn", tools: ["edit"], final_text: ["Changed."], files: { "hello.txt": "hello universe" } },
  },
  {
    name: "edit-no-match",
    title: "an edit whose old text is not in the file",
    session: { ...free, files: hello },
    turns: [
      {
        prompt: "Change what is not there.",
        steps: [
          { blocks: [{ type: "tool", name: "read", input: { path: "{{cwd}}/hello.txt" } }] },
          { blocks: [{ type: "tool", name: "edit", input: { path: "{{cwd}}/hello.txt", old: "not in there", new: "x" } }] },
          { blocks: [{ type: "text", text: "It did not match." }] },
        ],
      },
    ],
    expect: { stop_reason: "end_turn", final_text: ["It did not match."], files: { "hello.txt": "hello world" } },
  },
  {
    name: "parallel-tools",
    title: "three tool calls in one answer",
    session: { ...free, files: { ...hello, "second.txt": "the second file\n" } },
    turns: [
      {
        prompt: "Do three things at once.",
        steps: [
          {
            blocks: [
              { type: "tool", name: "read", input: { path: "{{cwd}}/hello.txt" } },
              { type: "tool", name: "read", input: { path: "{{cwd}}/second.txt" } },
              { type: "tool", name: "shell", input: { command: "sleep 0.3; echo third" } },
            ],
          },
          { blocks: [{ type: "text", text: "Three things done." }] },
        ],
      },
    ],
    expect: { stop_reason: "end_turn", tools: ["read", "shell"], final_text: ["Three things done."], model_saw: ["third"] },
  },
  {
    name: "many-steps",
    title: "six rounds of tools in one turn",
    session: free,
    turns: [
      {
        prompt: "Go step by step.",
        steps: [
          ...[1, 2, 3, 4, 5, 6].map((n) => ({
            blocks: [
              { type: "text" as const, text: `Step ${n}.` },
              { type: "tool" as const, name: "shell" as const, input: { command: `echo step-${n}-done` } },
            ],
          })),
          { blocks: [{ type: "text", text: "All six steps done." }] },
        ],
      },
    ],
    expect: {
      stop_reason: "end_turn",
      tools: ["shell"],
      final_text: ["All six steps done."],
      model_saw: ["step-1-done", "step-6-done"],
    },
  },
  {
    name: "search",
    title: "searches the files",
    session: { ...free, files: hello },
    turns: [
      {
        prompt: "Search for hello.",
        steps: [
          { blocks: [{ type: "tool", name: "search", input: { pattern: "hello" } }] },
          { blocks: [{ type: "text", text: "Found it." }] },
        ],
      },
    ],
    expect: { stop_reason: "end_turn", final_text: ["Found it."] },
  },
  {
    name: "todo",
    title: "a todo list, made and worked through",
    session: free,
    turns: [
      {
        prompt: "Make a todo list.",
        steps: [
          todo("in_progress", "pending"),
          todo("completed", "in_progress"),
          todo("completed", "completed"),
          { blocks: [{ type: "text", text: "Both done." }] },
        ],
      },
    ],
    expect: { stop_reason: "end_turn", final_text: ["Both done."] },
  },
  {
    name: "subagent",
    title: "a sub-agent that runs a command of its own",
    session: free,
    turns: [
      {
        prompt: "Delegate it.",
        steps: [
          {
            blocks: [
              {
                type: "tool",
                name: "subagent",
                input: { description: "sub task", prompt: "Do the sub task. [[scenario:subagent-child#1]]" },
              },
            ],
          },
          { blocks: [{ type: "text", text: "The sub-agent is done." }] },
        ],
      },
    ],
    expect: { stop_reason: "end_turn", final_text: ["The sub-agent is done."] },
  },
  {
    name: "subagent-child",
    title: "what the sub-agent of `subagent` does",
    tags: ["part"],
    session: free,
    turns: [
      {
        prompt: "Do the sub task.",
        steps: [
          { blocks: [{ type: "tool", name: "shell", input: { command: "echo from-the-sub-agent" } }] },
          { blocks: [{ type: "text", text: "Sub task done." }] },
        ],
      },
    ],
  },
  {
    name: "unknown-tool",
    title: "the model calls a tool that does not exist",
    session: free,
    turns: [
      {
        prompt: "Call something odd.",
        steps: [
          { blocks: [{ type: "tool", native_name: "no_such_tool", input: { x: 1 } }] },
          { blocks: [{ type: "text", text: "That tool does not exist." }] },
        ],
      },
    ],
    expect: { stop_reason: "end_turn", final_text: ["That tool does not exist."] },
  },
  {
    name: "bad-tool-args",
    title: "the model calls a tool with an input that does not fit",
    session: free,
    turns: [
      {
        prompt: "Call it wrongly.",
        steps: [
          { blocks: [{ type: "tool", name: "read", input: {} }] },
          { blocks: [{ type: "text", text: "I called it wrongly." }] },
        ],
      },
    ],
    expect: { stop_reason: "end_turn", final_text: ["I called it wrongly."] },
  },
  {
    name: "mcp-tool",
    title: "a tool of an MCP server the runner provides under the name lab",
    session: { ...free, mcp_servers: [{ name: "lab", builtin: "echo" }] },
    turns: [
      {
        prompt: "Use the MCP tool.",
        steps: [
          { blocks: [{ type: "tool", name: "mcp", input: { server: "lab", tool: "echo", arguments: { message: "hi mcp" } } }] },
          { blocks: [{ type: "text", text: "The MCP server echoed." }] },
        ],
      },
    ],
    expect: { stop_reason: "end_turn", final_text: ["The MCP server echoed."] },
  },
  {
    name: "mcp-fail",
    title: "a tool of an MCP server that fails",
    session: { ...free, mcp_servers: [{ name: "lab", builtin: "echo" }] },
    turns: [
      {
        prompt: "Use the failing MCP tool.",
        steps: [
          { blocks: [{ type: "tool", name: "mcp", input: { server: "lab", tool: "fail", arguments: { message: "no" } } }] },
          { blocks: [{ type: "text", text: "The MCP server failed." }] },
        ],
      },
    ],
    expect: { stop_reason: "end_turn", final_text: ["The MCP server failed."] },
  },
  {
    name: "mcp-image",
    title: "a tool of an MCP server that returns an image",
    session: { ...free, mcp_servers: [{ name: "lab", builtin: "echo" }] },
    turns: [
      {
        prompt: "Use the MCP tool that draws.",
        steps: [
          { blocks: [{ type: "tool", name: "mcp", input: { server: "lab", tool: "image", arguments: {} } }] },
          { blocks: [{ type: "text", text: "The MCP server drew a dot." }] },
        ],
      },
    ],
    expect: { stop_reason: "end_turn", final_text: ["The MCP server drew a dot."] },
  },
  {
    name: "web-fetch",
    title: "fetches a page that nobody serves",
    session: free,
    turns: [
      {
        prompt: "Fetch a page.",
        steps: [
          { blocks: [{ type: "tool", name: "web_fetch", input: { url: "http://127.0.0.1:9/nothing" } }] },
          { blocks: [{ type: "text", text: "Nobody answered." }] },
        ],
      },
    ],
    expect: { stop_reason: "end_turn", final_text: ["Nobody answered."] },
  },
];

function todo(first: string, second: string): Scenario["turns"][number]["steps"][number] {
  return {
    blocks: [
      {
        type: "tool",
        name: "todo",
        input: {
          items: [
            { text: "Write the code", status: first },
            { text: "Run the tests", status: second },
          ],
        },
      },
    ],
  };
}
