/** Markdown as a string of HTML, for a file. Loaded when one is exported. */
import { renderToStaticMarkup } from "react-dom/server.browser";
import ReactMarkdown from "react-markdown";
import rehypeSanitize from "rehype-sanitize";
import remarkGfm from "remark-gfm";

const components = {
  img: ({ alt }: { alt?: string | undefined }) => <em>image{alt ? `: ${alt}` : ""}</em>,
};

export const renderMarkdown = (text: string): string =>
  renderToStaticMarkup(
    <ReactMarkdown remarkPlugins={[remarkGfm]} rehypePlugins={[rehypeSanitize]} components={components}>
      {text}
    </ReactMarkdown>,
  );
