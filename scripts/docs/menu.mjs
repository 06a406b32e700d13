// Pages in the order of the menu; what is not named here still becomes a page.
export const MENU = [
  ["Begin", ["index.md", "quickstart.md", "inspector.md", "recipes.md", "comparison.md"]],
  [
    "Using it",
    [
      "cli.md",
      "tasks.md",
      "files.md",
      "checkpoints.md",
      "skills.md",
      "model-server.md",
      "teams.md",
      "access.md",
      "security.md",
      "operations.md",
      "upgrades.md",
      "troubleshooting.md",
    ],
  ],
  [
    "Agents",
    [
      "agents/claude.md",
      "agents/claude-sdk.md",
      "agents/codex.md",
      "agents/opencode.md",
      "agents/amp.md",
      "agents/gemini.md",
      "agents/acp.md",
      "agents/responses.md",
      "agents/mock.md",
    ],
  ],
  ["API", ["ui-builders.md", "events.md", "SPEC.md", "problems.md", "dialects.md"]],
  [
    "Inside",
    [
      "architecture.md",
      "decisions.md",
      "glossary.md",
      "coverage.md",
      "versions.md",
      "adding-an-agent.md",
      "CONTRIBUTING.md",
      "CHANGELOG.md",
    ],
  ],
];
