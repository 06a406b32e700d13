/** For tests only: a directory, and one call of a tool as the loop makes it. */
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { makeChanges } from "../file-changes.ts";
import { CountingIds, MemoryBlobs } from "../memory-stores.ts";
import type { TaskStarter } from "../ports.ts";
import { ShellTasks } from "../shell-tasks.ts";
import { realPath } from "./paths.ts";
import { ToolRegistry } from "./registry.ts";
import type { AnyTool, ToolContext, ToolResult } from "./tool.ts";

export class TestDirectory {
  readonly path: string;
  readonly blobs = new MemoryBlobs();
  readonly tasks: TaskStarter;
  readonly output: string[] = [];
  readonly skills: string[] = [];
  readonly children: string[] = [];
  plan: readonly object[] = [];

  private constructor(path: string, tasks: TaskStarter | undefined) {
    this.path = path;
    this.tasks = tasks ?? new ShellTasks({ ids: new CountingIds() });
  }

  static async make(files: Readonly<Record<string, string | Buffer>> = {}, tasks?: TaskStarter): Promise<TestDirectory> {
    const path = await realpath(await mkdtemp(join(tmpdir(), "dragoman-tools-")));
    const made = new TestDirectory(path, tasks);
    for (const [name, content] of Object.entries(files)) await made.write(name, content);
    return made;
  }

  async write(name: string, content: string | Buffer): Promise<void> {
    await mkdir(dirname(join(this.path, name)), { recursive: true });
    await writeFile(join(this.path, name), content);
  }

  text(name: string): Promise<string> {
    return readFile(join(this.path, name), "utf8");
  }

  /** Every file with its content. */
  async tree(): Promise<Record<string, string>> {
    const names = await readdir(this.path, { recursive: true, withFileTypes: true });
    const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    const pairs = await Promise.all(files.map(async (file) => [file.slice(this.path.length + 1), await readFile(file, "utf8")]));
    return Object.fromEntries(pairs);
  }

  async remove(): Promise<void> {
    await this.tasks.close();
    await rm(this.path, { recursive: true, force: true });
  }

  context(signal: AbortSignal = new AbortController().signal): ToolContext {
    return {
      call: "1.1.call",
      directory: this.path,
      at: (path) => realPath(this.path, path),
      signal,
      blobs: this.blobs,
      tasks: this.tasks,
      now: () => 0,
      onOutput: (stream, chunk) => this.output.push(`${stream}: ${chunk}`),
      updatePlan: (entries) => {
        this.plan = entries;
      },
      takeSkill: (skill) => this.skills.push(skill.name),
      addChild: (session_id) => this.children.push(session_id),
    };
  }

  /** Arguments as the model sends them. Throws what the tool throws. */
  async call(tool: AnyTool, args: unknown, signal?: AbortSignal): Promise<ToolResult> {
    const input = typeof args === "string" ? args : JSON.stringify(args);
    const read = new ToolRegistry([tool]).read({ key: "k", call_id: "c", name: tool.name, input, custom: false });
    if (!read.ok) throw new Error(read.message);
    const checked = read.args as never;
    if (tool.effect !== "file") return tool.run(checked, this.context(signal));
    const { changes, result } = await tool.prepare(checked, this.context(signal));
    await makeChanges(changes, this.blobs);
    return { output: result };
  }
}
