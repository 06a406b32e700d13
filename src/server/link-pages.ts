/**
 * Links to the inspector: a one-time token behind `#link=`, and a small page on the disk that leads a browser there. The page exists because a program's
 * arguments can be read by every user of the machine; it has mode 0600 and is removed when the link is used or over. Not here: who may have a link.
 */
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Role } from "../schema/actor.ts";
import { pageRole, type Token } from "./token.ts";
import { writePrivate } from "./token-files.ts";
import { LINK_LIFETIME_MS, type TokenStore } from "./token-store.ts";

export type MadeLink = { token: string; expires_at: string; file: string | null };
export type LinkSpec = { role?: Role; label?: string };

const FILE = /^open-tok_\w+\.html$/;

export class LinkPages {
  readonly #dataDir: string;
  readonly #tokens: TokenStore;
  readonly #url: () => string;

  /** `url`: where the daemon listens, asked for when a link is made. */
  constructor(dataDir: string, tokens: TokenStore, url: () => string) {
    this.#dataDir = dataDir;
    this.#tokens = tokens;
    this.#url = url;
    this.removeAll();
    tokens.onLinkEnd = (id) => this.#remove(id);
  }

  make(by: Token, { role, label }: LinkSpec = {}): MadeLink {
    const { secret, token } = this.#tokens.link(by, {
      role: role ?? pageRole(by),
      ...(label === undefined ? {} : { label }),
    });
    setTimeout(() => this.#tokens.revoke(token.id), LINK_LIFETIME_MS).unref();
    return { token: secret, expires_at: new Date(token.expires_at ?? 0).toISOString(), file: this.#write(token.id, secret) };
  }

  /** At start and at stop: links do not outlive the daemon. */
  removeAll(): void {
    // A directory that is gone has taken them along.
    const names = existsSync(this.#dataDir) ? readdirSync(this.#dataDir) : [];
    for (const name of names) if (FILE.test(name)) rmSync(join(this.#dataDir, name), { force: true });
  }

  #remove(id: string): void {
    rmSync(this.#file(id), { force: true });
  }

  #write(id: string, secret: string): string | null {
    try {
      writePrivate(this.#file(id), redirectPage(linkOf(this.#url(), secret)));
      return this.#file(id);
    } catch {
      return null;
    }
  }

  #file(id: string): string {
    return join(this.#dataDir, `open-${id}.html`);
  }
}

/** Behind the `#`: what stands there is never sent to a server, and so stands in no log and no Referer. */
export const linkOf = (url: string, secret: string): string => `${url}/ui#link=${secret}`;

const redirectPage = (link: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>dragoman</title><meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url=${link}"></head>
<body><p>Opening the inspector. If nothing happens: <a href="${link}">open it</a>.</p></body></html>
`;
