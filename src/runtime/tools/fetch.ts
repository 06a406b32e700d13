/** Gets a web page. Only http and https, only public addresses, few redirects, little memory. */
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP } from "node:net";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import Type from "typebox";
import { htmlToText } from "./html-text.ts";
import { headAndTail } from "./output-limit.ts";
import { type AddressRule, guardedLookup, isPublicAddress, notPublic } from "./public-address.ts";
import { type AnyTool, defineTool, ToolError } from "./tool.ts";

const MAX_BYTES = 5 * 1024 * 1024;
const MAX_REDIRECTS = 5;
const TIMEOUT_MS = 30_000;

export interface FetchToolOptions {
  /** Which addresses may be connected to; public ones unless said otherwise. */
  readonly isAllowed?: AddressRule;
  readonly timeoutMs?: number;
}

export function fetchTool({ isAllowed = isPublicAddress, timeoutMs = TIMEOUT_MS }: FetchToolOptions = {}): AnyTool {
  return defineTool({
    name: "fetch",
    description: "Gets a web page as Markdown, or raw. Public http and https addresses only.",
    parameters: Type.Object({
      url: Type.String(),
      format: Type.Optional(Type.Enum(["markdown", "raw"])),
    }),
    effect: "none",
    subject: ({ url }) => ({ kind: "fetch", url }),
    timeoutMs: () => timeoutMs,
    async run({ url, format = "markdown" }, { signal, blobs }) {
      const { page, final } = await follow(url, isAllowed, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
      const isText = /^(text\/|application\/([\w.+-]*\+)?(json|xml|javascript|yaml))/i.test(page.type) || page.type === "";
      const about = `${final} (HTTP ${page.status}, ${page.type || "no type"}, ${page.bytes.length} bytes${page.cut ? ", cut" : ""})`;
      if (!isText) {
        const digest = await blobs.put(page.bytes);
        return { output: `${about}\nIt is not text. It is in artifact:${digest}.`, artifacts: [digest] };
      }
      const text = page.bytes.toString("utf8");
      const shown = format === "markdown" && /html/i.test(page.type) ? htmlToText(text) : text;
      const limited = headAndTail(shown);
      const artifacts = limited.cut ? [await blobs.put(Buffer.from(shown))] : [];
      const rest = artifacts.map((digest) => `\n(All of it: artifact:${digest})`).join("");
      return { output: `${about}\n\n${limited.text}${rest}`, artifacts, isError: page.status >= 400 };
    },
  });
}

interface Page {
  readonly status: number;
  readonly type: string;
  readonly bytes: Buffer;
  readonly cut: boolean;
}

async function follow(start: string, isAllowed: AddressRule, signal: AbortSignal): Promise<{ page: Page; final: string }> {
  let url = checkedUrl(start);
  for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
    const answer = await get(url, isAllowed, signal);
    const location = answer.headers.location;
    if ((answer.statusCode ?? 0) < 300 || (answer.statusCode ?? 0) >= 400 || location === undefined) {
      return { page: await readPage(answer), final: url.href };
    }
    answer.destroy();
    if (!URL.canParse(location, url))
      throw new ToolError(`${url.href} redirects to ${JSON.stringify(location)}, which is no URL.`);
    const next = checkedUrl(new URL(location, url).href);
    // A person allowed this host and no other.
    if (next.hostname !== url.hostname)
      throw new ToolError(`${url.href} redirects to another host: ${next.href}. Fetch that address if it is what you need.`);
    url = next;
  }
  throw new ToolError(`${start} redirects more than ${MAX_REDIRECTS} times.`);
}

function checkedUrl(text: string): URL {
  if (!URL.canParse(text)) throw new ToolError(`${JSON.stringify(text)} is no URL. Write it with https://.`);
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new ToolError(`Only http and https are fetched, not ${url.protocol}`);
  if (url.username !== "" || url.password !== "") throw new ToolError("A URL with a user name or password is not fetched.");
  return url;
}

function get(url: URL, isAllowed: AddressRule, signal: AbortSignal): Promise<IncomingMessage> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  // Node does not look up a literal address: it must be looked at here.
  if (isIP(host) !== 0 && !isAllowed(host)) throw notPublic(url.hostname, "an address");
  return new Promise((resolve, reject) => {
    const request = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, {
      agent: false,
      signal,
      lookup: guardedLookup(isAllowed),
      headers: {
        accept: "text/html, text/*, application/json, */*;q=0.5",
        "user-agent": "dragoman",
        "accept-encoding": "gzip, br",
      },
    });
    request.once("response", resolve);
    request.once("error", (error) => reject(error instanceof ToolError ? error : failure(url, error, signal)));
    request.end();
  });
}

const failure = (url: URL, error: Error, signal: AbortSignal): ToolError =>
  new ToolError(signal.aborted ? `${url.href} did not answer in time.` : `${url.href} cannot be fetched (${error.message}).`);

async function readPage(answer: IncomingMessage): Promise<Page> {
  const parts: Buffer[] = [];
  let size = 0;
  let cut = false;
  const decoders = { gzip: createGunzip, br: createBrotliDecompress, deflate: createInflate };
  const decoder = decoders[String(answer.headers["content-encoding"] ?? "") as keyof typeof decoders];
  const body = decoder === undefined ? answer : answer.pipe(decoder());
  answer.once("error", (error) => body.destroy(error));
  try {
    for await (const chunk of body) {
      const bytes = Buffer.from(chunk);
      parts.push(bytes.subarray(0, MAX_BYTES - size));
      size += bytes.length;
      if (size < MAX_BYTES) continue;
      cut = true;
      break;
    }
  } catch (error) {
    throw new ToolError(`The page broke off (${error instanceof Error ? error.message : String(error)}).`);
  } finally {
    answer.destroy();
  }
  const type = String(answer.headers["content-type"] ?? "");
  return { status: answer.statusCode ?? 0, type, bytes: Buffer.concat(parts), cut };
}
