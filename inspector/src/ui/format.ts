// Numbers and times as people read them.
import type { Usage } from "../../../src/schema/event-data.ts";

export const money = (usd: number): string => (usd < 0.01 && usd > 0 ? "<$0.01" : `$${usd.toFixed(2)}`);

/** On an axis: as many digits as neighbouring values need to differ by `step`. */
export const moneyTick = (usd: number, step: number): string => `$${usd.toFixed(Math.max(2, Math.ceil(-Math.log10(step))))}`;

export function count(value: number): string {
  if (value < 1_000) return String(value);
  if (value < 1_000_000) return `${(value / 1_000).toFixed(value < 10_000 ? 1 : 0)}k`;
  return `${(value / 1_000_000).toFixed(1)}M`;
}

/** Tokens and money, as far as anything is known: an interrupted turn without figures shows none, not zeros. */
export function spentText(usage: Usage | undefined, cost: number | undefined): string {
  const known = usage && usage.input_tokens + usage.output_tokens > 0;
  return [
    ...(known ? [`${count(usage.input_tokens)} in`, `${count(usage.output_tokens)} out`] : []),
    ...(known && usage.cache_read_tokens ? [`${count(usage.cache_read_tokens)} cached`] : []),
    ...(cost !== undefined && (known || cost > 0) ? [money(cost)] : []),
  ].join(" · ");
}

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  return minutes < 60
    ? `${minutes} min ${Math.round((ms % 60_000) / 1_000)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function ago(iso: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(iso)) / 1_000);
  if (seconds < 60) return "now";
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

export const clock = (iso: string): string =>
  new Date(iso).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });

/** Of a turn: the second stands in its tooltip. */
export const timeOfDay = (iso: string): string =>
  new Date(iso).toLocaleTimeString(undefined, { hour: "numeric", minute: "2-digit" });

export const bytes = (size: number): string =>
  size < 1_024 ? `${size} B` : size < 1_048_576 ? `${(size / 1_024).toFixed(1)} kB` : `${(size / 1_048_576).toFixed(1)} MB`;

export const baseName = (path: string): string => path.split("/").filter(Boolean).at(-1) ?? path;

export function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** Time that goes on: whole seconds only, so that it does not flicker. */
export const elapsed = (ms: number): string => {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
};
