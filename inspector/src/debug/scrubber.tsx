// Replays the session: the transcript as it stood at any sequence, stepped or played on from there.
import { useEffect, useRef, useState } from "react";
import type { Session } from "../../../src/schema/session.ts";
import { useSignal } from "../state/store.ts";
import type { TranscriptView } from "../transcript/context.ts";
import { IconButton } from "../ui/controls.tsx";

const SETTLE_MS = 80;
const FRAME_MS = 80;
/** However long a session is, playing it takes about so many frames. */
const FRAMES = 250;

export function Scrubber({ row, view }: { row: Session; view: TranscriptView }) {
  const replay = useSignal(view.changed, () => view.replay);
  const [wanted, setWanted] = useState<number | null>(null);
  const [playing, setPlaying] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const end = row.last_sequence;
  const at = wanted ?? replay ?? end;
  const seek = (sequence: number): void => {
    const to = Math.max(1, Math.min(end, sequence));
    setWanted(to);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => void view.load(to >= end ? null : to).then(() => setWanted(null)), SETTLE_MS);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  usePlay(playing, view, end, () => setPlaying(false));
  const play = async (): Promise<void> => {
    if (replay === null || replay >= end) await view.load(1);
    setPlaying(true);
  };
  return (
    <div className="scrubber">
      <IconButton icon="back" label="One event back" onClick={() => seek(at - 1)} disabled={at <= 1} />
      <IconButton
        icon={playing ? "pause" : "play"}
        label={playing ? "Pause the replay" : "Play the session"}
        onClick={() => (playing ? setPlaying(false) : void play())}
      />
      <IconButton icon="chevron" label="One event forward" onClick={() => seek(at + 1)} disabled={at >= end} />
      <input
        type="range"
        min={1}
        max={Math.max(1, end)}
        value={at}
        aria-label="Replay to sequence"
        onChange={(event) => {
          setPlaying(false);
          seek(Number(event.target.value));
        }}
      />
      <output>
        {at.toLocaleString()} / {end.toLocaleString()}
      </output>
    </div>
  );
}

function usePlay(playing: boolean, view: TranscriptView, end: number, onEnd: () => void): void {
  const done = useRef(onEnd);
  done.current = onEnd;
  const stride = Math.max(1, Math.ceil(end / FRAMES));
  useEffect(() => {
    if (!playing) return;
    let gone = false;
    let timer: ReturnType<typeof setTimeout>;
    const frame = async (): Promise<void> => {
      const more = await view.advance(stride).catch(() => false);
      if (gone) return;
      if (more) timer = setTimeout(() => void frame(), FRAME_MS);
      else {
        done.current();
        void view.load(null);
      }
    };
    void frame();
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [playing, view, stride]);
}
