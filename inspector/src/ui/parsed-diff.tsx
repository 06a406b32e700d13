// The diff viewer proper; loaded with the first diff.
import { Diff, Hunk, parseDiff } from "react-diff-view";
import { PlainDiff } from "./plain-diff.tsx";
import { scrollable } from "./scrollable.ts";

export default function ParsedDiff({ text }: { text: string }) {
  const files = parseDiff(text, { nearbySequences: "zip" }).filter((file) => file.hunks.length > 0);
  if (files.length === 0) return <PlainDiff text={text} />;
  return files.map((file) => (
    <section
      key={`${file.oldPath} ${file.newPath}`}
      className="diff-scroll"
      {...scrollable}
      aria-label={`Diff of ${file.newPath}`}
    >
      <Diff viewType="unified" diffType={file.type} hunks={file.hunks}>
        {(hunks) => hunks.map((hunk) => <Hunk key={hunk.content} hunk={hunk} />)}
      </Diff>
    </section>
  ));
}
