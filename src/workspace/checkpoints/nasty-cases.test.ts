/** Shell mutations of a tree with uncommitted work, then a rewind, then its undo: nothing may differ, whichever way changes are noticed. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bash, differences, snapshot, temporary } from "../test-trees.ts";
import { type Checkpoints, closeCheckpoints, openCheckpoints } from "./index.ts";

const PLANT = `
mkdir -p src/deep/er docs empty old-empty nested node_modules/lib ignored-dir
printf 'node_modules/\\nignored-dir/\\n*.log\\n.env\\n' > .gitignore
printf '*.crlf text eol=lf\\n' > .gitattributes
for n in 1 2 3 4 5; do echo "file $n" > src/f$n.ts; echo "deep $n" > src/deep/er/d$n.ts; done
head -c 5000 /dev/urandom > src/picture.bin
printf 'one\\r\\ntwo\\r\\n' > docs/windows.crlf
echo script > run.sh; chmod 755 run.sh
echo secret > key.pem; chmod 600 key.pem
echo fixed > read-only.txt; chmod 444 read-only.txt
ln -s src/f1.ts link
ln -s /nowhere/at/all broken
echo x > 'with space'; echo x > -dash; echo x > 'a:colon'; echo x > $'new\\nline'
echo x > $'caf\\xc3\\xa9'; echo x > $'cafe\\xcc\\x81'; echo x > $'latin\\xe9'; echo x > $'\\xf0\\x9f\\x98\\x80'
echo SECRET=1 > .env; chmod 600 .env
echo lib > node_modules/lib/index.js
echo kept > ignored-dir/kept
(cd nested; git init -q; echo committed > a; git add a; git commit -qm a; echo uncommitted >> a; echo new > b)
git init -q; git add -A >/dev/null 2>&1; git commit -qm first
echo 'uncommitted' >> src/f2.ts; echo 'untracked' > src/new.ts; rmdir empty old-empty; mkdir empty old-empty
`;

const CASES: Record<string, string> = {
  "a deleted directory": "rm -rf src/deep",
  "a changed binary": "head -c 6000 /dev/urandom > src/picture.bin",
  "a link that becomes a file": "rm link; echo file > link",
  "a file that becomes a link": "rm src/f1.ts; ln -s f2.ts src/f1.ts",
  "a broken link": "rm broken; ln -s /other broken",
  "mode 755 to 644": "chmod 644 run.sh",
  "files of mode 600 and 444 deleted": "rm -f key.pem read-only.txt",
  "an ignored file of mode 600 changed": "echo SECRET=2 > .env; chmod 644 .env",
  "names of all kinds deleted": `rm -- 'with space' -dash 'a:colon' $'new\\nline' $'caf\\xc3\\xa9' $'cafe\\xcc\\x81' $'latin\\xe9' $'\\xf0\\x9f\\x98\\x80'`,
  "names of all kinds changed": `for f in 'with space' ./-dash 'a:colon' $'new\\nline' $'caf\\xc3\\xa9' $'cafe\\xcc\\x81' $'latin\\xe9'; do echo more >> "$f"; done`,
  "a file that becomes a directory": "rm src/f3.ts; mkdir -p src/f3.ts/in; echo x > src/f3.ts/in/x",
  "a directory that becomes a file": "rm -rf src/deep; echo file > src/deep",
  "new nested files": "mkdir -p a/b/c; echo 1 > a/1; echo 2 > a/b/c/2",
  "an empty directory removed": "rmdir empty; mkdir other-empty",
  "a nested repository with uncommitted work": "echo more >> nested/a; rm nested/b; mkdir nested/c; echo x > nested/c/x",
  "a file with other line ends than git has": "printf 'three\\r\\n' > docs/windows.crlf",
  "a rename": "mv src/f4.ts src/renamed.ts; mv src/deep src/shallow",
  "a new ignored file": "echo noise > noise.log",
  "uncommitted work committed, reset and lost": "git add -A; git commit -qm agent; git reset -q --hard HEAD~1; git clean -qfd",
  "the same size and the same time":
    "touch -r src/f5.ts /tmp/stamp.$$; echo 'FILE 5' > src/f5.ts; touch -r /tmp/stamp.$$ src/f5.ts; rm /tmp/stamp.$$",
  "the mode of a directory": "chmod 700 src; chmod 555 docs",
  "a directory replaced by one of the same name": "rm -rf src; mkdir src; echo other > src/f1.ts",
  "ignore rules changed": "printf '*.tmp\\n' > .gitignore; echo x > y.tmp",
  "everything deleted": "rm -rf -- src docs empty old-empty nested link broken run.sh key.pem .env ./-dash with*",
};

describe.each([
  ["with watches", { watch: true, git: true }],
  ["by scan", { watch: false, git: true }],
  ["with watches, without git", { watch: true, git: false }],
])("rewind and undo, %s", (_name, { watch, git }) => {
  let place: ReturnType<typeof temporary>;
  let stores: ReturnType<typeof temporary>;
  let checkpoints: Checkpoints;

  beforeAll(async () => {
    place = temporary("cases");
    stores = temporary("stores");
    bash(place.path, PLANT);
    if (!git) bash(place.path, "rm -rf .git nested/.git");
    checkpoints = await openCheckpoints(place.path, stores.path, { watch });
  });
  afterAll(async () => {
    await closeCheckpoints(checkpoints);
    place.remove();
    stores.remove();
  });

  it.each(Object.entries({ ...CASES, "all of them at once": Object.values(CASES).slice(0, 18).join("\n") }))(
    "%s",
    async (_case, script) => {
      if (!git && script.includes("git ")) return;
      const { id } = await checkpoints.take({ kind: "turn_start", session_id: "s" });
      const before = snapshot(place.path);
      bash(place.path, script);
      const after = snapshot(place.path);
      expect(differences(before, after)).not.toEqual([]);
      await checkpoints.take({ kind: "turn_end", session_id: "s" });

      const planned = await checkpoints.rewind(id, { dry_run: true });
      expect(differences(after, snapshot(place.path))).toEqual([]);
      const rewound = await checkpoints.rewind(id);
      expect(rewound.kept).toEqual([]);
      expect(rewound.changes).toEqual(planned.changes);
      expect(differences(before, snapshot(place.path))).toEqual([]);

      const undone = await checkpoints.rewind(rewound.undo_id);
      expect(undone.kept).toEqual([]);
      expect(differences(after, snapshot(place.path))).toEqual([]);
      // The next case begins where this one did.
      await checkpoints.rewind(id);
      expect(differences(before, snapshot(place.path))).toEqual([]);
    },
  );
});
