/**
 * How long a request may take to come in. Node has one limit for all requests of a server, which must be long enough for the largest import; so the short one
 * that holds for all others is kept here. A streamed body may take long, but must not stand still.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { ProblemError } from "../schema/problem-codes.ts";
import { closeWithProblem } from "./problems.ts";

/** Of any request, imports included. */
export const LONGEST_REQUEST_MS = 12 * 60 * 60_000;
const ARRIVAL_MS = 120_000;
const STILL_MS = 60_000;

const patient = new WeakSet<IncomingMessage>();

/** For every request, before its body is read. */
export function limitArrival(request: IncomingMessage, response: ServerResponse, ms = ARRIVAL_MS): void {
  const { headers } = request;
  if (headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0) return;
  const timer = setTimeout(() => {
    if (!patient.has(request)) giveUp(request, response);
  }, ms).unref();
  response.once("close", () => clearTimeout(timer));
}

/** This body may take its time, as long as bytes come. */
export function takeTime(request: IncomingMessage, response: ServerResponse, stillMs = STILL_MS): void {
  patient.add(request);
  let seen = request.socket.bytesRead;
  const timer = setInterval(() => {
    // The daemon itself may be the one that reads slowly: then bytes wait in the socket, and that is no fault of the sender.
    const waiting = request.readableLength > 0 || request.isPaused();
    if (request.complete) clearInterval(timer);
    else if (request.socket.bytesRead === seen && !waiting) giveUp(request, response);
    seen = request.socket.bytesRead;
  }, stillMs).unref();
  response.once("close", () => clearInterval(timer));
}

function giveUp({ complete, socket }: IncomingMessage, { headersSent }: ServerResponse): void {
  if (complete) return;
  if (headersSent) socket.destroySoon();
  else closeWithProblem(socket, new ProblemError("request_timeout"));
}
