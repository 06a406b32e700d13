// Completes package-lock.json after `npm install`: npm leaves out optional packages of other platforms when the registry at hand does not carry them,
// and `npm ci` then refuses the lock file. Their exact versions stand in the packages that ask for them; so do platform and processor, in their names.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const file = fileURLToPath(new URL("../package-lock.json", import.meta.url));
const lock = JSON.parse(readFileSync(file, "utf8"));

const OS = ["android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "win32", "aix"];
const CPU = ["arm64", "x64", "ia32", "riscv64", "ppc64", "s390x", "loong64", "mips64el", "wasm32", "arm"];

function entryFor(name, version, dev) {
  const os = OS.find((each) => name.includes(each)) ?? (name.includes("windows") ? "win32" : undefined);
  const cpu = CPU.find((each) => name.includes(each));
  return {
    version: version.replace(/^[\^~]/, ""),
    ...(cpu ? { cpu: [cpu] } : {}),
    ...(dev ? { dev: true } : {}),
    optional: true,
    ...(os ? { os: [os] } : {}),
  };
}

let added = 0;
for (const [path, { optionalDependencies = {}, dev }] of Object.entries(lock.packages)) {
  if (path === "") continue;
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const nested = `${path}/node_modules/${name}`;
    const top = `node_modules/${name}`;
    if (lock.packages[nested] || lock.packages[top]) continue;
    lock.packages[top] = entryFor(name, version, dev);
    added++;
  }
}
const sorted = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(file, `${JSON.stringify({ ...lock, packages: sorted }, null, 2)}\n`);
console.log(`${added} packages of other platforms added to package-lock.json`);
