/** A small sign for each agent, so that sessions of a list differ at a glance. Not their logos; an agent nobody drew one for has a plain one. */
import { Icon, type IconName } from "./icons.tsx";

const SIGNS: Record<string, { icon: IconName; tone: string }> = {
  claude: { icon: "asterisk", tone: "clay" },
  "claude-sdk": { icon: "asterisk", tone: "clay" },
  codex: { icon: "window", tone: "teal" },
  opencode: { icon: "terminal", tone: "stone" },
  gemini: { icon: "sparkle", tone: "blue" },
  amp: { icon: "zap", tone: "red" },
  copilot: { icon: "bot", tone: "violet" },
  qwen: { icon: "hexagon", tone: "violet" },
  responses: { icon: "waypoints", tone: "green" },
  mock: { icon: "flask", tone: "stone" },
};
const OTHER = { icon: "bot", tone: "stone" } as const;

export function AgentIcon({ agent, size = 20 }: { agent: string; size?: 16 | 20 | 28 }) {
  const { icon, tone } = SIGNS[agent] ?? OTHER;
  return (
    <span className={`agent-icon size-${size} tone-${tone}`} title={agent} aria-hidden="true">
      <Icon name={icon} size={Math.round(size * 0.65)} />
    </span>
  );
}
