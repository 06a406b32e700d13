/**
 * The arguments of bubblewrap for one command: the whole disk read-only, the working directory writable if asked for, its own processes, temporary files and,
 * unless allowed, no network. Order matters: a later mount covers an earlier one.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { isInside } from "../tools/paths.ts";

/** What a sandbox lets through. */
export interface SandboxLimits {
  readonly mode: "read-only" | "workspace-write";
  readonly network: "on" | "off";
  /** Real paths. The first one is the session's directory. */
  readonly roots: readonly string[];
  /** Directories and files whose content commands must not see, beside the usual ones. */
  readonly hidden: readonly string[];
}

/** Inside a writable directory these stay read-only: other programs run what stands there. */
const PROTECTED: readonly string[] = [
  ".git",
  ".dragoman",
  ".agents",
  ".claude",
  ".codex",
  ".vscode",
  ".idea",
  ".husky",
  ".envrc",
  ".bashrc",
  ".bash_profile",
  ".profile",
  ".zshrc",
  ".zshenv",
  ".gitconfig",
];

/** Keys and passwords in the home directory. */
const SECRETS: readonly string[] = [
  ".ssh",
  ".aws",
  ".azure",
  ".gnupg",
  ".kube",
  ".docker",
  ".config/gcloud",
  ".config/gh",
  ".netrc",
  ".npmrc",
  ".pypirc",
  ".git-credentials",
];

export function bubblewrapArguments(limits: SandboxLimits, cwd: string, home: string = homedir()): string[] {
  return [
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    ...(limits.network === "off" ? ["--unshare-net"] : []),
    "--die-with-parent",
    // No --new-session: a command has no terminal, is a session of its own already, and must stay in the group by which it is ended. Its parent's death does
    // not end it where the kernel forgets that wish with the dropped capabilities.
    "--cap-drop",
    "ALL",
    ...["--ro-bind", "/", "/"],
    ...["--dev", "/dev"],
    ...["--proc", "/proc"],
    // For root the kernel's settings stay writable in a new /proc, and they belong to the whole machine: core_pattern runs a program as root.
    ...["sys", "sysrq-trigger", "acpi", "scsi", "mtrr"].flatMap((name) => ["--ro-bind-try", `/proc/${name}`, `/proc/${name}`]),
    ...["--tmpfs", "/tmp"],
    ...["--tmpfs", "/var/tmp"],
    // Sockets of other daemons: whoever can talk to a container engine is not in a sandbox.
    ...["--tmpfs", "/run"],
    ...(limits.network === "on" ? ["--ro-bind-try", "/run/systemd/resolve", "/run/systemd/resolve"] : []),
    ...secrets(limits, home),
    ...limits.roots.flatMap((root) => (limits.mode === "workspace-write" ? writable(root) : ["--ro-bind", root, root])),
    // Again, for those that lie inside a root.
    ...limits.hidden.filter((path) => limits.roots.some((root) => isInside(root, path) && root !== path)).flatMap(hide),
    ...["--chdir", cwd],
    "--",
  ];
}

function secrets(limits: SandboxLimits, home: string): string[] {
  const paths = [...SECRETS.map((name) => join(home, name)), ...limits.hidden];
  // A root that lies in such a place is what the user works on.
  return paths.filter((path) => !limits.roots.some((root) => isInside(path, root))).flatMap(hide);
}

function hide(path: string): string[] {
  if (!existsSync(path)) return [];
  return statSync(path).isDirectory() ? ["--tmpfs", path] : ["--ro-bind", "/dev/null", path];
}

function writable(root: string): string[] {
  const kept = PROTECTED.map((name) => join(root, name)).filter((path) => existsSync(path));
  const gitDirectory = linkedGitDirectory(root);
  if (gitDirectory !== null && isInside(root, gitDirectory)) kept.push(gitDirectory);
  return ["--bind", root, root, ...kept.flatMap((path) => ["--ro-bind", path, path])];
}

/** In a worktree or submodule `.git` is a file that names the real directory. */
function linkedGitDirectory(root: string): string | null {
  try {
    const named = /^gitdir: (.+)$/m.exec(readFileSync(join(root, ".git"), "utf8"))?.[1]?.trim();
    if (named === undefined) return null;
    const path = isAbsolute(named) ? named : resolve(root, named);
    return existsSync(path) ? path : null;
  } catch {
    return null;
  }
}
