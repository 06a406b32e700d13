/**
 * How large the body of a request may be, by route: tiny where no token is needed, small by default, large only for routes that say so. A body is not read
 * before its caller is known, and only a few large ones are in memory at once.
 */
import { takeTime } from "./arrival.ts";
import type { App, ServerLimits } from "./server-context.ts";
import { Slots } from "./slots.ts";

/** Of a request without a token, and of one that matches no route. */
export const OPEN_BODY_BYTES = 4 * 1024;
export const BODY_BYTES = 1024 * 1024;
const LARGE_AT_ONCE = 4;

/** Before the routes are added. */
export function addBodyLimits(app: App, { body_bytes }: ServerLimits): void {
  app.addHook("onRoute", (route) => {
    const { role, largeBody } = route.config ?? {};
    route.bodyLimit ??= role === "none" ? OPEN_BODY_BYTES : largeBody ? body_bytes : Math.min(BODY_BYTES, body_bytes);
  });
  const large = new Slots(LARGE_AT_ONCE);
  app.addHook("preParsing", async (request, reply, payload) => {
    const { largeBody, streamedBody } = request.routeOptions.config;
    // Never in memory as a whole: neither its size nor its number counts here.
    if (streamedBody && isStreamed(request.headers)) takeTime(request.raw, reply.raw);
    else if (largeBody && mayBeLarge(request.headers)) await large.take(reply.raw, request.raw.socket);
    return payload;
  });
}

export const isStreamed = (headers: { "content-type"?: string | undefined }): boolean =>
  /^application\/x-ndjson\b/i.test(headers["content-type"] ?? "");

const mayBeLarge = (headers: { "content-length"?: string | undefined; "transfer-encoding"?: string | undefined }): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > BODY_BYTES;
