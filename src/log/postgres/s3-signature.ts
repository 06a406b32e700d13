/** Signs a request to an S3-compatible store, as "AWS Signature Version 4" describes it: the method, the path, the query, the headers and the hash of the body, with a key of the day. Pure. */
import { createHash, createHmac } from "node:crypto";

export type S3Keys = { accessKeyId: string; secretAccessKey: string; sessionToken?: string };

export type S3Request = {
  method: string;
  /** As it is asked for: encoded once. */
  url: URL;
  /** By their names in small letters; those of the signature are added. */
  headers: Readonly<Record<string, string>>;
  /** Of the body, in hex. */
  bodyHash: string;
  region: string;
  at: Date;
};

const ALGORITHM = "AWS4-HMAC-SHA256";

/** All headers that must be sent. */
export function signS3(request: S3Request, keys: S3Keys): Record<string, string> {
  const { method, url, bodyHash, region } = request;
  const time = request.at.toISOString().replace(/[-:]|\.\d{3}/g, "");
  const headers: Record<string, string> = {
    ...request.headers,
    host: url.host,
    "x-amz-content-sha256": bodyHash,
    "x-amz-date": time,
    ...(keys.sessionToken === undefined ? {} : { "x-amz-security-token": keys.sessionToken }),
  };
  const names = Object.keys(headers).sort();
  const signed = names.join(";");
  const canonical = [
    method,
    url.pathname,
    [...url.searchParams]
      .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
      .sort()
      .join("&"),
    ...names.map((name) => `${name}:${(headers[name] ?? "").trim().replace(/ +/g, " ")}`),
    "",
    signed,
    bodyHash,
  ].join("\n");
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`;
  const toSign = [ALGORITHM, time, scope, createHash("sha256").update(canonical).digest("hex")].join("\n");
  const key = [time.slice(0, 8), region, "s3", "aws4_request"].reduce<Buffer | string>(
    (before, part) => createHmac("sha256", before).update(part).digest(),
    `AWS4${keys.secretAccessKey}`,
  );
  const signature = createHmac("sha256", key).update(toSign).digest("hex");
  const { host: _, ...sent } = headers;
  return {
    ...sent,
    authorization: `${ALGORITHM} Credential=${keys.accessKeyId}/${scope},SignedHeaders=${signed},Signature=${signature}`,
  };
}

/** As a path or a query wants it. */
export const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
