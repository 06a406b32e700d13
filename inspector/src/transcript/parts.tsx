// One content part each: every type of the schema has its look here, whatever agent it came from.
import type { ArtifactRef, ContentPart } from "../../../src/schema/content.ts";
import { visibleLine } from "../../../src/schema/visible-text.ts";
import { AnsiText } from "../ui/ansi-text.tsx";
import { ArtifactAudio, ArtifactImage, ArtifactLink, isArtifact } from "../ui/artifact.tsx";
import { CodeBlock } from "../ui/code-block.tsx";
import { DiffCounts } from "../ui/diff-counts.tsx";
import { DiffView } from "../ui/diff-view.tsx";
import { bytes, prettyJson } from "../ui/format.ts";
import { Icon, type IconName } from "../ui/icons.tsx";
import { Markdown } from "../ui/markdown.tsx";
import { scrollable } from "../ui/scrollable.ts";
import { Visible } from "../ui/visible.tsx";
import { useToggle, useView } from "./context.ts";
import { Plan } from "./plan-list.tsx";
import { reasoningHead } from "./reasoning-head.ts";
import { relativePath } from "./tools/describe.ts";

export function Part({ part, streaming, id }: { part: ContentPart; streaming: boolean; id: string }) {
  switch (part.type) {
    case "text":
      return (
        <>
          <Markdown text={part.text} streaming={streaming} />
          {part.artifact && <Whole artifact={part.artifact} what="text" />}
        </>
      );
    case "reasoning":
      return <Reasoning text={part.text} hidden={part.visibility === "private"} streaming={streaming} id={id} />;
    case "refusal":
      return (
        <div className="refusal">
          <strong>Refused</strong>
          <Markdown text={part.text} streaming={streaming} />
        </div>
      );
    case "json":
      return <CodeBlock code={JSON.stringify(part.json, null, 2) ?? "undefined"} language="json" />;
    case "code":
      return <CodeBlock code={part.code} language={part.language ?? ""} />;
    case "image":
      return <ImagePart path={part.path} />;
    case "audio":
      return isArtifact(part.path) ? <ArtifactAudio path={part.path} /> : <Reference icon="file" text={part.path} />;
    case "file_ref":
      return <FileRef path={part.path} action={part.action} diff={part.diff ?? null} />;
    case "status":
      return (
        <div className="status-part">
          <strong>{part.label}</strong>
          {part.detail && <span>{part.detail}</span>}
        </div>
      );
    case "plan":
      return <Plan entries={part.entries} />;
    case "resource":
      return <Resource uri={part.uri} name={part.name} text={part.text} mime={part.mime} />;
    case "tool_call":
      return <CodeBlock code={`${part.name} ${prettyJson(part.arguments)}`} language="json" />;
    case "tool_result":
      return <Output text={part.output} live={streaming} />;
    default: {
      const unknown: never = part;
      return <CodeBlock code={JSON.stringify(unknown, null, 2)} language="json" />;
    }
  }
}

/** What was too long for an event. */
export const Whole = ({ artifact, what }: { artifact: ArtifactRef; what: string }) => (
  <ArtifactLink className="reference" path={artifact.path}>
    <Icon name="download" size={14} /> Whole {what} ({bytes(artifact.bytes)})
  </ArtifactLink>
);

function Reasoning({ text, hidden, streaming, id }: { text: string; hidden: boolean; streaming: boolean; id: string }) {
  const [open, toggle] = useToggle(`think ${id}`, false);
  const { summary, preview } = reasoningHead(text, hidden, streaming);
  return (
    <div className={`reasoning ${streaming ? "live" : ""}`}>
      <button type="button" className="fold" aria-expanded={open} onClick={toggle} disabled={hidden && text === ""}>
        <Icon name="bulb" size={14} />
        <span>{summary}</span>
        {!open && preview !== null && <span className="fold-preview">{preview}</span>}
        <Icon name="chevron" size={12} />
      </button>
      {open && <Markdown text={text} streaming={streaming} />}
    </div>
  );
}

function ImagePart({ path }: { path: string }) {
  if (!isArtifact(path)) return <Reference icon="file" text={path} />;
  return (
    <ArtifactLink className="image-part" path={path}>
      <ArtifactImage path={path} alt="From the session" />
    </ArtifactLink>
  );
}

const Reference = ({ icon, text }: { icon: IconName; text: string }) => (
  <span className="reference">
    <Icon name={icon} size={14} />
    <code>
      <Visible text={text} />
    </code>
  </span>
);

type ResourceProps = { uri: string; name: string | undefined; text: string | undefined; mime: string | undefined };

function Resource({ uri, name, text, mime }: ResourceProps) {
  if (isArtifact(uri))
    return (
      <ArtifactLink className="reference" path={uri} {...(text === undefined ? {} : { name: text })}>
        <Icon name="download" size={14} />
        <code>{text ?? uri}</code>
        <span className="dim">{mime}</span>
      </ArtifactLink>
    );
  return (
    <div className="resource">
      <Reference icon="file" text={name === undefined || name === uri ? uri : `${name} (${uri})`} />
      {text !== undefined && <pre className="output">{text}</pre>}
    </div>
  );
}

const ACTIONS = { read: "Read", write: "Wrote", patch: "Changed" } as const;

export function FileRef({ path, action, diff }: { path: string; action: keyof typeof ACTIONS; diff: string | null }) {
  const { directory } = useView();
  return (
    <div className="file-ref">
      <div className="file-name">
        <Icon name={action === "read" ? "file" : "edit"} size={14} />
        <span className="sr">{ACTIONS[action]}</span>
        <code title={visibleLine(path)}>
          <Visible text={relativePath(path, directory)} />
        </code>
        {diff && <DiffCounts text={diff} />}
      </div>
      {diff && <DiffView text={diff} path={path} />}
    </div>
  );
}

/** Results that only say that it worked, and errors in tags that are for the model. */
const tidy = (text: string): string => text.replace(/^\s*<tool_use_error>([\s\S]*?)<\/tool_use_error>\s*$/, "$1");

const SHOWN_OUTPUT = 20_000;

export function Output({ text: whole, live }: { text: string; live: boolean }) {
  const text = tidy(whole);
  if (text.trim() === "") return null;
  const cut = text.length > SHOWN_OUTPUT;
  return (
    <pre className={`output ${live ? "live" : ""}`} {...scrollable} ref={live ? scrollDown : null}>
      {cut && <span className="dim">{`… ${(text.length - SHOWN_OUTPUT).toLocaleString()} characters before\n`}</span>}
      <AnsiText text={cut ? text.slice(-SHOWN_OUTPUT) : text} />
    </pre>
  );
}

const scrollDown = (element: HTMLPreElement | null): void => {
  if (element) element.scrollTop = element.scrollHeight;
};
