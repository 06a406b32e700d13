/** An object for people: names and values, long texts as they are. Not JSON; that is one click away where it matters. */
import { Visible } from "./visible.tsx";

export function KeyValues({ values }: { values: Record<string, unknown> }) {
  const entries = Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== "");
  if (entries.length === 0) return null;
  return (
    <dl className="key-values">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{name.replaceAll("_", " ")}</dt>
          <dd>
            <Visible text={wordsOf(value)} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function wordsOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value) && value.every((each) => typeof each !== "object" || each === null)) return value.join(", ");
  return JSON.stringify(value) ?? String(value);
}
