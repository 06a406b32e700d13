/** Which addresses a fetch may connect to: public ones. Looked at when the connection is made, so that a name cannot point elsewhere by then. */
import { lookup as dnsLookup, type LookupAddress, type LookupOptions } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { ToolError } from "./tool.ts";

const refused = new BlockList();
for (const [net, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const) {
  refused.addSubnet(net, bits, "ipv4");
}
for (const [net, bits] of [
  // Addresses that carry an IPv4 address: the one inside may be private.
  ["2001::", 23],
  ["2002::", 16],
  ["2001:db8::", 32],
  ["3fff::", 20],
] as const) {
  refused.addSubnet(net, bits, "ipv6");
}
/** All that is given out for the internet today; private, link-local, translated and future ones lie outside. */
const givenOut = new BlockList();
givenOut.addSubnet("2000::", 3, "ipv6");

/** Whether an address is one of the public internet. */
export function isPublicAddress(address: string): boolean {
  const plain = address.replace(/^\[|\]$/g, "").replace(/%.*$/, "");
  const version = isIP(plain);
  if (version === 0) return false;
  if (version === 4) return !refused.check(plain, "ipv4");
  const mapped = mappedAddress(plain);
  return mapped === null ? givenOut.check(plain, "ipv6") && !refused.check(plain, "ipv6") : isPublicAddress(mapped);
}

/** The IPv4 address in one of `::ffff:0:0/96`, however that is written; null for any other. */
function mappedAddress(address: string): string | null {
  // A URL writes every form of it in one way.
  const short = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(short) ?? [];
  if (high === undefined || low === undefined) return null;
  const bytes = [high, low].flatMap((word) => [Number.parseInt(word, 16) >> 8, Number.parseInt(word, 16) & 255]);
  return bytes.join(".");
}

export type AddressRule = (address: string) => boolean;

type ResolveAll = (
  hostname: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** A lookup that fails when one of the addresses is not allowed: the connection goes to exactly what was looked at, and no second question is asked. */
export function guardedLookup(isAllowed: AddressRule, resolveAll: ResolveAll = dnsLookup): LookupFunction {
  return (hostname, options, callback) => {
    resolveAll(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, "", 0);
      const bad = addresses.find(({ address }) => !isAllowed(address));
      const [first] = addresses;
      if (bad !== undefined || first === undefined) return callback(notPublic(hostname, bad?.address ?? "no address"), "", 0);
      if (options.all) (callback as unknown as (error: null, addresses: LookupAddress[]) => void)(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

export const notPublic = (host: string, address: string): ToolError =>
  new ToolError(`${host} is ${address}, which is not a public address: it is not fetched. Use bash if the user wants that.`);
