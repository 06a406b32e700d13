/** A unified diff as a table: line numbers, colours of the language, and where a reader may comment a place to do so. What cannot be parsed is shown as it is. */
import { parsePatch } from "diff";
import { Fragment, memo, type ReactNode, useMemo } from "react";
import { visibleText } from "../../../src/schema/visible-text.ts";
import { shownTheme } from "../state/preferences.ts";
import { useStore } from "../state/store.ts";
import type { ColouredLine } from "./highlight.ts";
import { Icon } from "./icons.tsx";
import { PlainDiff } from "./plain-diff.tsx";
import { scrollable } from "./scrollable.ts";
import { useColours } from "./use-colours.ts";

export type DiffLine = { kind: "insert" | "delete" | "normal"; text: string; old: number | null; new: number | null };

type Props = {
  text: string;
  /** Names the language. */
  path?: string | undefined;
  /** Called for a line that a person wants to comment. */
  onComment?: ((line: DiffLine) => void) | undefined;
  /** What stands below a line. */
  below?: ((line: DiffLine) => ReactNode) | undefined;
};

const LONGEST_PARSED = 200_000;
const LONGEST_COLOURED = 30_000;

export const DiffView = memo(function DiffView({ text, path = "", onComment, below }: Props) {
  const shown = useMemo(() => visibleText(text), [text]);
  const hunks = useMemo(() => parsed(shown), [shown]);
  if (!hunks) return <PlainDiff text={shown} />;
  return <Table hunks={hunks} path={path} onComment={onComment} below={below} />;
});

type Hunk = { section: string; lines: DiffLine[] };

function parsed(text: string): Hunk[] | null {
  if (text.length > LONGEST_PARSED || !text.includes("@@ ")) return null;
  try {
    const hunks = parsePatch(text).flatMap((file) => file.hunks);
    if (hunks.length === 0) return null;
    return hunks.map((hunk) => {
      let [before, after] = [hunk.oldStart, hunk.newStart];
      const lines: DiffLine[] = [];
      for (const line of hunk.lines) {
        const [sign, rest] = [line[0], line.slice(1)];
        if (sign === "+") lines.push({ kind: "insert", text: rest, old: null, new: after++ });
        else if (sign === "-") lines.push({ kind: "delete", text: rest, old: before++, new: null });
        else if (sign !== "\\") lines.push({ kind: "normal", text: rest, old: before++, new: after++ });
      }
      return { section: `Line ${hunk.newStart}`, lines };
    });
  } catch {
    return null;
  }
}

type TableProps = { hunks: Hunk[]; path: string } & Pick<Props, "onComment" | "below">;

function Table({ hunks, path, onComment, below }: TableProps) {
  const language = path.split(".").at(-1) ?? "";
  const sides = useMemo(() => {
    const all = hunks.flatMap((hunk) => hunk.lines);
    const of = (left: DiffLine["kind"]): DiffLine[] => all.filter(({ kind }) => kind !== left);
    return { before: of("insert"), after: of("delete") };
  }, [hunks]);
  const theme = useStore(shownTheme);
  const before = useColours(codeOf(sides.before), language, theme);
  const after = useColours(codeOf(sides.after), language, theme);
  const colours = useMemo(() => {
    const map = new Map<DiffLine, ColouredLine>();
    for (const [lines, coloured] of [
      [sides.before, before],
      [sides.after, after],
    ] as const)
      lines.forEach((line, index) => {
        const found = coloured?.[index];
        if (found) map.set(line, found);
      });
    return map;
  }, [sides, before, after]);
  return (
    <section className="diff-scroll" {...scrollable} aria-label={path ? `Diff of ${path}` : "Diff"}>
      <table className="diff">
        <colgroup>
          <col className="diff-gutter-col" />
          <col className="diff-gutter-col" />
          <col />
        </colgroup>
        {hunks.map((hunk, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: hunks keep their place.
          <tbody key={index}>
            {hunk.lines.map((line) => (
              <Fragment key={`${line.kind} ${line.old} ${line.new}`}>
                <tr className={`diff-line ${line.kind}`}>
                  <td className={`diff-gutter diff-gutter-${line.kind}`}>{line.old}</td>
                  <td className={`diff-gutter diff-gutter-${line.kind}`}>
                    {onComment && (
                      <button
                        type="button"
                        className="diff-comment"
                        aria-label={`Comment on line ${line.new ?? line.old}`}
                        onClick={() => onComment(line)}
                      >
                        <Icon name="plus" size={12} />
                      </button>
                    )}
                    {line.new}
                  </td>
                  <td className={`diff-code diff-code-${line.kind}`}>
                    {colours.get(line)?.map(([text, color], at) => (
                      // biome-ignore lint/suspicious/noArrayIndexKey: stretches of a line have no other identity.
                      <span key={at} style={{ color }}>
                        {text}
                      </span>
                    )) ?? line.text}
                  </td>
                </tr>
                {below?.(line)}
              </Fragment>
            ))}
          </tbody>
        ))}
      </table>
    </section>
  );
}

const codeOf = (lines: readonly DiffLine[]): string => {
  const code = lines.map(({ text }) => text).join("\n");
  return code.length > LONGEST_COLOURED ? "" : code;
};
