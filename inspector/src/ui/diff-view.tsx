// Diffs, by react-diff-view: it takes the unified text the schema carries and renders plain elements under our own stylesheet, which the page's policy needs.
import { Component, lazy, type ReactNode, Suspense } from "react";
import { visibleText } from "../../../src/schema/visible-text.ts";
import { PlainDiff } from "./plain-diff.tsx";

const Parsed = lazy(() => import("./parsed-diff.tsx"));

class Fallback extends Component<{ text: string; children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };
  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }
  override render(): ReactNode {
    return this.state.failed ? <PlainDiff text={this.props.text} /> : this.props.children;
  }
}

const LONGEST_PARSED = 200_000;

export function DiffView({ text }: { text: string }) {
  const shown = visibleText(text);
  if (shown.length > LONGEST_PARSED) return <PlainDiff text={shown} />;
  return (
    <Fallback text={shown}>
      <Suspense fallback={<PlainDiff text={shown} />}>
        <Parsed text={shown} />
      </Suspense>
    </Fallback>
  );
}
