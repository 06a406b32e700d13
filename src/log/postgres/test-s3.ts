/**
 * A small S3-compatible store in memory that believes nobody: it works out every signature by itself, from the bytes it received, and refuses as S3 does. It shares no code with the client. Test helper.
 */
import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export const S3_KEYS = { AWS_ACCESS_KEY_ID: "TESTKEY", AWS_SECRET_ACCESS_KEY: "a secret/with+signs" };
const CLOCK_MS = 15 * 60_000;

export type TestS3 = {
  url: string;
  objects: Map<string, Buffer>;
  /** Answers each request with 503 while true. */
  setFailing(failing: boolean): void;
  stop(): Promise<void>;
};

export async function startS3(bucket: string, port = 0): Promise<TestS3> {
  const objects = new Map<string, Buffer>();
  let failing = false;
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    const refuse = (status: number, code: string): void =>
      void response
        .writeHead(status, { "content-type": "application/xml" })
        .end(`<?xml version="1.0"?><Error><Code>${code}</Code></Error>`);
    if (failing) return refuse(503, "SlowDown");
    const fault = signatureFault(request, body);
    if (fault) return refuse(403, fault);
    const [, name, ...rest] = (request.url ?? "").split("?")[0]?.split("/").map(decodeURIComponent) ?? [];
    if (name !== bucket) return refuse(404, "NoSuchBucket");
    const key = rest.join("/");
    if (request.method === "PUT") {
      objects.set(key, body);
      return void response.writeHead(200).end();
    }
    if (request.method === "DELETE") {
      objects.delete(key);
      return void response.writeHead(204).end();
    }
    const found = objects.get(key);
    if (!found) return refuse(404, "NoSuchKey");
    const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
    if (start === undefined) return void response.writeHead(200).end(found);
    response.writeHead(206).end(found.subarray(Number(start), Number(end) + 1));
  });
  await new Promise((resolve) => server.listen(port, "127.0.0.1", () => resolve(null)));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    setFailing: (value) => {
      failing = value;
    },
    stop: () => closed(server),
  };
}

const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.closeAllConnections();
    server.close(() => resolve());
  });

/** Undefined: it is right. */
function signatureFault({ method, url = "", headers, rawHeaders }: IncomingMessage, body: Buffer): string | undefined {
  const said =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? "",
    );
  if (!said) return "AccessDenied";
  const [, key, day, region, names = "", signature] = said;
  if (key !== S3_KEYS.AWS_ACCESS_KEY_ID) return "InvalidAccessKeyId";
  const date = String(headers["x-amz-date"] ?? "");
  const time = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
  if (!(Math.abs(Date.now() - time) < CLOCK_MS) || !date.startsWith(day ?? "-")) return "RequestTimeTooSkewed";
  // All that changes what is asked for must be under the signature.
  const sent = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  const must = sent.filter((name) => name === "host" || name === "range" || name.startsWith("x-amz-"));
  if (must.some((name) => !names.split(";").includes(name))) return "AccessDenied";
  if (headers["x-amz-content-sha256"] !== createHash("sha256").update(body).digest("hex")) return "XAmzContentSHA256Mismatch";
  const [path = "", query = ""] = url.split("?");
  let text = `${method}\n${path}\n${query.split("&").sort().join("&")}\n`;
  for (const name of names.split(";")) text += `${name}:${String(headers[name] ?? "").trim()}\n`;
  text += `\n${names}\n${headers["x-amz-content-sha256"]}`;
  const hash = createHash("sha256").update(text, "utf8").digest("hex");
  let signer: Buffer = Buffer.from(`AWS4${S3_KEYS.AWS_SECRET_ACCESS_KEY}`);
  for (const part of [day ?? "", region ?? "", "s3", "aws4_request"]) signer = createHmac("sha256", signer).update(part).digest();
  const right = createHmac("sha256", signer)
    .update(`AWS4-HMAC-SHA256\n${date}\n${day}/${region}/s3/aws4_request\n${hash}`)
    .digest("hex");
  return right === signature ? undefined : "SignatureDoesNotMatch";
}
