import { describe, expect, it } from "vitest";
import { launchdPlist, type ServiceSpec, systemdUnit } from "./service-unit.ts";

const spec: ServiceSpec = {
  node: "/opt/my node/bin/node",
  cli: "/opt/dragoman/dist/cli/main.js",
  args: ["--port", "4701", "--data-dir", '/home/a b/100%/$x/"q"\\'],
  env: { PATH: "/usr/bin:/home/a b/bin" },
  envFile: "/home/a b/.config/dragoman/service.env",
  logFile: "/Users/a/Library/Logs/dragoman.log",
};

describe("systemd unit", () => {
  it("quotes words, and escapes what systemd would expand", () => {
    expect(systemdUnit(spec)).toContain(
      'ExecStart="/opt/my node/bin/node" "/opt/dragoman/dist/cli/main.js" "serve" "--no-open" "--port" "4701" "--data-dir" "/home/a b/100%%/$$x/\\"q\\"\\\\"\n',
    );
    expect(systemdUnit(spec)).toContain('Environment="PATH=/usr/bin:/home/a b/bin"\n');
  });

  it("restarts after a failure, reads the person's variables, and starts at login", () => {
    const lines = systemdUnit(spec).split("\n");
    expect(lines).toContain("Restart=on-failure");
    expect(lines).toContain("RestartPreventExitStatus=65");
    expect(lines).toContain("EnvironmentFile=-/home/a b/.config/dragoman/service.env");
    expect(lines).toContain("WantedBy=default.target");
  });
});

describe("launchd agent", () => {
  it("is XML whatever the paths", () => {
    const text = launchdPlist({ ...spec, args: ["--data-dir", '/a&b/<c>/"d"'] });
    expect(text).toContain("<string>/a&amp;b/&lt;c&gt;/&quot;d&quot;</string>");
    expect(text).toContain("<key>Label</key><string>dev.dragoman.daemon</string>");
    expect(text.match(/<dict>/g)).toHaveLength(text.match(/<\/dict>/g)?.length ?? -1);
  });
});
