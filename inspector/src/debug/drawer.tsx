import type { Session } from "../../../src/schema/session.ts";
import type { TranscriptView } from "../transcript/context.ts";
export default function Drawer(_: { row: Session; view: TranscriptView }) {
  return <div />;
}
