// Scenarios of plain answers: text, thinking, several turns. No tools, no faults.

import type { Scenario } from "../../../agents/scenario.ts";

const paragraph = "The quick brown fox jumps over the lazy dog, and the dog, being lazy, does not mind. ";

export const textScenarios: readonly Scenario[] = [
  {
    name: "text",
    title: "one short answer",
    turns: [{ prompt: "Say hello.", steps: [{ blocks: [{ type: "text", text: "Hello from the scripted model." }] }] }],
    expect: {
      stop_reason: "end_turn",
      events: ["session.started", "turn.started", "item.started", "item.completed", "turn.ended"],
      final_text: ["Hello from the scripted model."],
    },
  },
  {
    name: "text-one-chunk",
    title: "a whole answer in a single delta",
    turns: [{ prompt: "Be brief.", steps: [{ blocks: [{ type: "text", text: "All at once, in one piece.", chunks: 1 }] }] }],
    expect: { stop_reason: "end_turn", final_text: ["All at once, in one piece."] },
  },
  {
    name: "long-text",
    title: "a long answer in many deltas",
    turns: [
      { prompt: "Write a lot.", steps: [{ blocks: [{ type: "text", text: `${paragraph.repeat(240)}The end.`, chunks: 400 }] }] },
    ],
    expect: { stop_reason: "end_turn", final_text: ["The end."] },
  },
  {
    name: "unicode",
    title: "text of many scripts, emoji and control characters",
    turns: [
      {
        prompt: "Grüße, 世界 👋 write unicode.",
        steps: [
          {
            blocks: [
              {
                type: "text",
                text: 'Zażółć gęślą jaźń, 漢字かな交じり文, العربية, עברית, 👩‍👩‍👧‍👦🏳️‍🌈, combining e\u0301, tab\tquote" backslash\\ nul-free \u0001\u001b[31m.',
                chunks: 30,
              },
            ],
          },
        ],
      },
    ],
    expect: { stop_reason: "end_turn", final_text: ["漢字かな交じり文", "👩‍👩‍👧‍👦"] },
  },
  {
    name: "line-separators",
    title: "U+2028, U+2029 and U+0085 inside the text",
    turns: [
      {
        prompt: "Write odd line ends.",
        steps: [{ blocks: [{ type: "text", text: "one\u2028two\u2029three\u0085four\r\nfive", chunks: 3 }] }],
      },
    ],
    expect: { stop_reason: "end_turn", final_text: ["one\u2028two\u2029three"] },
  },
  {
    name: "markdown",
    title: "headings, lists, a table, fenced code",
    turns: [
      {
        prompt: "Answer in markdown.",
        steps: [
          {
            blocks: [
              {
                type: "text",
                text: "# Title\n\n- one\n- **two**\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n```ts\nconst x: string = `a$b`;\n```\n\n<details>not html</details>\n",
              },
            ],
          },
        ],
      },
    ],
    expect: { stop_reason: "end_turn", final_text: ["const x: string"] },
  },
  {
    name: "multi-turn",
    title: "three turns, each after the one before",
    turns: [
      { prompt: "First question.", steps: [{ blocks: [{ type: "text", text: "First answer." }] }] },
      { prompt: "Second question.", steps: [{ blocks: [{ type: "text", text: "Second answer." }] }] },
      { prompt: "Third question.", steps: [{ blocks: [{ type: "text", text: "Third answer." }] }] },
    ],
    expect: {
      stop_reason: "end_turn",
      final_text: ["Third answer."],
      model_saw: ["First question.", "First answer.", "Second question.", "Second answer.", "Third question."],
    },
  },
  {
    name: "resume",
    title: "the second turn comes to a new process and finds the conversation intact",
    turns: [
      { prompt: "Remember the word heliotrope.", steps: [{ blocks: [{ type: "text", text: "I shall remember heliotrope." }] }] },
      { prompt: "Which word?", delivery: { mode: "resume" }, steps: [{ blocks: [{ type: "text", text: "Heliotrope." }] }] },
    ],
    expect: {
      stop_reason: "end_turn",
      final_text: ["Heliotrope."],
      model_saw: ["Remember the word heliotrope.", "I shall remember heliotrope.", "Which word?"],
    },
  },
  {
    name: "thinking",
    title: "thinking, then an answer",
    turns: [
      {
        prompt: "Think first.",
        steps: [
          {
            blocks: [
              { type: "thinking", text: "Let me see. The person wants an answer after some thought.", chunks: 6 },
              { type: "text", text: "Having thought, I answer." },
            ],
            usage: { reasoning: 12 },
          },
        ],
      },
    ],
    expect: { stop_reason: "end_turn", final_text: ["Having thought, I answer."] },
  },
  {
    name: "thinking-raw",
    title: "raw reasoning text beside a summary",
    turns: [
      {
        prompt: "Think aloud.",
        steps: [
          {
            blocks: [
              { type: "thinking", text: "Thinking aloud about the question.", style: "both" },
              { type: "text", text: "That was my thinking." },
            ],
            usage: { reasoning: 9 },
          },
        ],
      },
    ],
    expect: { stop_reason: "end_turn", final_text: ["That was my thinking."] },
  },
  {
    name: "thinking-redacted",
    title: "hidden thinking, then an answer",
    turns: [
      {
        prompt: "Think in private.",
        steps: [{ blocks: [{ type: "redacted_thinking" }, { type: "text", text: "My thoughts are my own." }] }],
      },
    ],
    expect: { stop_reason: "end_turn", final_text: ["My thoughts are my own."] },
  },
  {
    name: "thinking-tool",
    session: { permission_mode: "bypass" },
    title: "thinking, text and a tool call in one answer, thinking again after it",
    turns: [
      {
        prompt: "Think and act.",
        steps: [
          {
            blocks: [
              { type: "thinking", text: "I should run a command." },
              { type: "text", text: "I will run it." },
              { type: "tool", name: "shell", input: { command: "echo thought-out" } },
            ],
          },
          {
            blocks: [
              { type: "thinking", text: "It worked." },
              { type: "text", text: "It printed thought-out." },
            ],
          },
        ],
      },
    ],
    expect: { stop_reason: "end_turn", tools: ["shell"], final_text: ["It printed thought-out."] },
  },
  {
    name: "image-input",
    title: "the prompt has an image",
    turns: [
      {
        prompt: "What is in this picture?",
        attachments: [
          {
            type: "image",
            media_type: "image/png",
            base64: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
            name: "dot.png",
          },
        ],
        steps: [{ blocks: [{ type: "text", text: "A single dot." }] }],
      },
    ],
    expect: { stop_reason: "end_turn", final_text: ["A single dot."] },
  },
  {
    name: "web-search",
    title: "the provider itself searches the web",
    turns: [
      {
        prompt: "Search the web.",
        steps: [
          {
            blocks: [
              {
                type: "server_tool",
                name: "web_search",
                query: "scripted models",
                results: [{ title: "A page", url: "https://example.com/a" }],
              },
              { type: "text", text: "I found a page." },
            ],
          },
        ],
      },
    ],
    expect: { stop_reason: "end_turn", final_text: ["I found a page."] },
  },
  {
    name: "usage",
    title: "cached, reasoning and output tokens are reported",
    turns: [
      {
        prompt: "Count your tokens.",
        steps: [
          {
            blocks: [{ type: "text", text: "Counted." }],
            usage: { input: 1200, output: 34, cache_read: 1000, cache_write: 50, reasoning: 7 },
          },
        ],
      },
    ],
    expect: { stop_reason: "end_turn", events: ["usage.updated"] },
  },
];
