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
  ["::", 96],
  // Addresses that carry an IPv4 address: the one inside may be private.
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["2001::", 23],
  ["2002::", 16],
  ["100::", 64],
  ["2001:db8::", 32],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
] as const) {
  refused.addSubnet(net, bits, "ipv6");
}

/** Whether an address is one of the public internet. */
export function isPublicAddress(address: string): boolean {
  const plain = address.replace(/^\[|\]$/g, "").replace(/%.*$/, "");
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1];
  if (mapped !== undefined) return isPublicAddress(mapped);
  const version = isIP(plain);
  if (version === 0) return false;
  // BlockList compares mapped IPv6 addresses in hexadecimal form with the IPv4 rules by itself.
  return !refused.check(plain, version === 4 ? "ipv4" : "ipv6");
}

export type AddressRule = (address: string) => boolean;

/** A lookup that fails when one of the addresses is not allowed: the connection goes to exactly what was looked at. */
export function guardedLookup(isAllowed: AddressRule): LookupFunction {
  return (hostname, options, callback) => {
    const all: LookupOptions & { all: true } = { ...options, all: true };
    dnsLookup(hostname, all, (error, addresses) => {
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
