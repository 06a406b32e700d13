// Which work goes on behind the turns.

/** What is known of calls: which work in the background, and inside which call each was made. */
type Calls = { readonly background: ReadonlySet<string>; readonly tools: ReadonlyMap<string, { readonly scope: string }> };

/** True for what happens inside a background agent, also in agents that this one started: the end of the turn does not end it. */
export function outlives({ background, tools }: Calls, scope: string): boolean {
  const seen = new Set<string>();
  for (let at = scope; at !== "" && !seen.has(at); at = tools.get(at)?.scope ?? "") {
    if (background.has(at)) return true;
    seen.add(at);
  }
  return false;
}
