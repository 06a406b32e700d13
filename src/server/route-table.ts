// Which methods a path has, to distinguish a wrong method from a wrong path.
import type { RouteOptions } from "fastify";

export class RouteTable {
  readonly #routes: { pattern: RegExp; methods: string[] }[] = [];

  add({ url, method }: RouteOptions): void {
    const source = url
      .split("/")
      .map((part) => (part.startsWith(":") ? "[^/]+" : part === "*" ? ".*" : part.replace(/[.+?^${}()|[\]\\]/g, "\\$&")))
      .join("/");
    this.#routes.push({ pattern: new RegExp(`^${source}$`), methods: [method].flat() });
  }

  methodsOf(url: string): string[] {
    const [path = ""] = url.split("?");
    return [...new Set(this.#routes.flatMap(({ pattern, methods }) => (pattern.test(path) ? methods : [])))].sort();
  }
}
