// Markdown an agent wrote: no HTML, no remote images, links that say they lead outside. Growing text is cut into blocks so that only the last is parsed again.
import { memo, type ReactElement, useState } from "react";
import ReactMarkdown, { type Components, type Options } from "react-markdown";
import rehypeSanitize, { defaultSchema } from "rehype-sanitize";
import remarkGfm from "remark-gfm";
import { ArtifactImage, ArtifactLink, isArtifact } from "./artifact.tsx";
import { CodeBlock } from "./code-block.tsx";
import { Button } from "./controls.tsx";
import { bytes } from "./format.ts";
import { Icon } from "./icons.tsx";
import { markdownBlocks } from "./markdown-blocks.ts";

const LONGEST_WHOLE = 20_000;
const LONGEST_BLOCK = 20_000;
const LONGEST_SHOWN = 60_000;
const KEPT_ENDS = 8_000;

const schema = {
  ...defaultSchema,
  tagNames: (defaultSchema.tagNames ?? []).filter((name) => name !== "picture" && name !== "source"),
};
const remarkPlugins = [remarkGfm];

type Tree = { type: string; value?: string; children?: Tree[] };
/** HTML is shown as it was written; the sanitiser alone would swallow it. */
const rawAsText = () => (tree: Tree) => {
  for (const child of tree.children ?? []) {
    if (child.type === "raw") child.type = "text";
    rawAsText()(child);
  }
};
const rehypePlugins: Options["rehypePlugins"] = [rawAsText, [rehypeSanitize, schema]];

const components: Components = {
  // Below the headings of the page, for those who go from heading to heading.
  h1: ({ children }) => <h1 aria-level={3}>{children}</h1>,
  h2: ({ children }) => <h2 aria-level={4}>{children}</h2>,
  h3: ({ children }) => <h3 aria-level={5}>{children}</h3>,
  h4: ({ children }) => <h4 aria-level={6}>{children}</h4>,
  a: ({ href, children }) =>
    href && isArtifact(href) ? (
      <ArtifactLink className="reference" path={href}>
        {children}
      </ArtifactLink>
    ) : href ? (
      <a href={href} target="_blank" rel="noopener noreferrer nofollow" title={`Opens ${href}`}>
        {children}
        <Icon name="external" size={12} />
      </a>
    ) : (
      <span>{children}</span>
    ),
  img: ({ src, alt }) =>
    typeof src === "string" && isArtifact(src) ? (
      <ArtifactImage path={src} alt={alt ?? ""} />
    ) : (
      <span className="blocked-image">image not loaded{alt ? `: ${alt}` : ""}</span>
    ),
  pre: ({ children }) => <>{children}</>,
  code: ({ className, children }) => {
    const text = String(children ?? "");
    const language = /language-([\w+-]+)/.exec(className ?? "")?.[1];
    if (language === undefined && !text.includes("\n")) return <code>{children}</code>;
    return <CodeBlock code={text.replace(/\n$/, "")} language={language ?? ""} />;
  },
  table: ({ children }) => (
    <div className="table-scroll">
      <table>{children}</table>
    </div>
  ),
};

const urlTransform = (url: string): string => (/^(https?:|mailto:)/i.test(url) || isArtifact(url) ? url : "");

const MOST_KEPT = 500;
/** What was parsed once: a row that is scrolled to comes and goes many times. */
const kept = new Map<string, ReactElement>();

function parsed(text: string): ReactElement {
  const known = kept.get(text);
  if (known) return known;
  // A plain function of its text, without state: so it can be called ahead of its time, and its answer kept.
  const made = ReactMarkdown({ remarkPlugins, rehypePlugins, components, urlTransform, children: text });
  kept.set(text, made);
  const oldest = kept.keys().next();
  if (kept.size > MOST_KEPT && !oldest.done) kept.delete(oldest.value);
  return made;
}

/** Parses a text that will soon be in sight; false if that was done before. */
export function prepareMarkdown(text: string): boolean {
  if (text.length > LONGEST_WHOLE || kept.has(text)) return false;
  parsed(text);
  return true;
}

const Block = memo(function Block({ text, growing }: { text: string; growing: boolean }) {
  if (text.length > LONGEST_BLOCK) return <p className="plain-text">{text}</p>;
  if (!growing) return parsed(text);
  return (
    <ReactMarkdown
      remarkPlugins={remarkPlugins}
      rehypePlugins={rehypePlugins}
      components={components}
      urlTransform={urlTransform}
    >
      {text}
    </ReactMarkdown>
  );
});

export const Markdown = memo(function Markdown({ text, streaming }: { text: string; streaming: boolean }) {
  const [whole, setWhole] = useState(false);
  if (text.length > LONGEST_SHOWN && !whole)
    return (
      <div className="markdown">
        <p className="plain-text">{text.slice(0, KEPT_ENDS)}</p>
        <div className="cut">
          <Button look="quiet" onClick={() => setWhole(true)}>
            Show all {bytes(text.length)}
          </Button>
        </div>
        <p className="plain-text">{text.slice(-KEPT_ENDS)}</p>
      </div>
    );
  const blocks = streaming || text.length > LONGEST_WHOLE ? markdownBlocks(text) : [text];
  return (
    <div className={`markdown ${streaming ? "streaming" : ""}`}>
      {blocks.map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks only grow at the end.
        <Block key={index} text={block} growing={streaming && index === blocks.length - 1} />
      ))}
    </div>
  );
});
