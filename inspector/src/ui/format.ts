// Numbers and times as people read them.
import type { Usage } from "../../../src/schema/event-data.ts";

export const money = (usd: number): string => (usd < 0.01 && usd > 0 ? "<$0.01" : `$${usd.toFixed(2)}`);

/** On an axis: as many digits as neighbouring values need to differ by `step`. */
export const moneyTick = (usd: number, step: number): string => `$${usd.toFixed(Math.max(2, Math.ceil(-Math.log10(step))))}`;

export function count(value: number): string {
  if (value < 1_000) return String(value);
  // Rounding must not reach the next unit: 1000k, 10.0k.
  if (value < 9_950) return `${(value / 1_000).toFixed(1)}k`;
  return value < 999_500 ? `${(value / 1_000).toFixed(0)}k` : `${(value / 1_000_000).toFixed(1)}M`;
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
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  return ms < 59_950 ? `${(ms / 1_000).toFixed(1)} s` : elapsed(Math.round(ms / 1_000) * 1_000);
}

export function ago(iso: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(iso)) / 1_000);
  if (seconds < 60) return "now";
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** The time a thing happened, to the second. Of another day than today with the day. */
export const clock = (iso: string): string => timeText(iso, { hour: "numeric", minute: "2-digit", second: "2-digit" });

/** Of a turn: the second stands in its tooltip. */
export const timeOfDay = (iso: string): string => timeText(iso, { hour: "numeric", minute: "2-digit" });

function timeText(iso: string, style: Intl.DateTimeFormatOptions): string {
  const [time, now] = [new Date(iso), new Date()];
  if (time.toDateString() === now.toDateString()) return time.toLocaleTimeString(undefined, style);
  const year = time.getFullYear() === now.getFullYear() ? {} : { year: "numeric" as const };
  return time.toLocaleString(undefined, { ...year, month: "short", day: "numeric", ...style });
}

/** To the millisecond, for many lines below one another: the same width for all, in the time zone of everything else on the page. */
export function exactTime(iso: string): string {
  const time = new Date(iso);
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}.${String(time.getMilliseconds()).padStart(3, "0")}`;
}

export function bytes(size: number): string {
  if (size < 1_000) return `${size} B`;
  const unit = UNITS.find(([, of]) => size / of < 999.95) ?? ["GB", 1_073_741_824];
  return `${(size / unit[1]).toFixed(1)} ${unit[0]}`;
}

const UNITS = [
  ["kB", 1_024],
  ["MB", 1_048_576],
  ["GB", 1_073_741_824],
] as const;

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
