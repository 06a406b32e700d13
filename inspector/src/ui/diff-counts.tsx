/** How many lines a diff adds and takes away. */
export function countsOf(diff: string): { added: number; removed: number } {
  let [added, removed] = [0, 0];
  for (const line of diff.split("\n")) {
    if (line.startsWith("+") && !line.startsWith("+++ ")) added++;
    if (line.startsWith("-") && !line.startsWith("--- ")) removed++;
  }
  return { added, removed };
}

export function DiffCounts({ text }: { text: string }) {
  const { added, removed } = countsOf(text);
  return (
    <span className="diff-counts">
      <span className="added">+{added}</span> <span className="removed">−{removed}</span>
    </span>
  );
}
