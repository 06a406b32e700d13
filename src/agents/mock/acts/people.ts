// What the mock agent asks people.
import type { QuestionPrompt } from "../../../schema/event-data.ts";
import { type Act, say } from "./stage.ts";

const OPTIONS = [
  { id: "yes", label: "Allow once", kind: "allow_once" },
  { id: "yes_always", label: "Always allow", kind: "allow_always" },
  { id: "no", label: "Reject", kind: "reject_once" },
] as const;

const PLAN = "# The plan\n\n1. Look at `a.txt`\n2. Change **two** lines\n\n<!-- and nothing else -->";

const COLOURS: QuestionPrompt = {
  prompt: "Which colour?",
  header: "Colour",
  options: [{ label: "Red", description: "like a rose" }, { label: "Blue" }],
  multi_select: false,
  free_text: true,
};

const TOPPINGS: QuestionPrompt = {
  prompt: "Which toppings?",
  header: "Toppings",
  options: [{ label: "Cheese" }, { label: "Basil" }],
  multi_select: true,
  free_text: false,
};

export const people: Record<string, Act> = {
  ask: {
    usage: "ask [COMMAND]",
    about: "asks a permission, and really goes on after the reply",
    play: async (stage, args) => {
      const command = args || "touch a.txt";
      const m = await say(stage, "I need a permission.");
      const c = stage.id();
      stage.emit({ type: "call", c, m, name: "shell", kind: "shell", title: command, input: { command } });
      const id = stage.id();
      const reply = await stage.ask({
        type: "ask",
        id,
        c,
        action: `Run: ${command}`,
        name: "shell",
        input: { command },
        options: [...OPTIONS],
        reason: "It writes.",
      });
      const ran = reply.input === undefined ? command : JSON.stringify(reply.input);
      if (reply.reply === "reject") {
        stage.emit({ type: "result", c, output: reply.message ?? "rejected", error: true });
        return void (await say(stage, `You said no${reply.message ? `: ${reply.message}` : ""}.`));
      }
      stage.emit({ type: "result", c, output: `ran ${ran}\n`, exit_code: 0 });
      await say(stage, `Thank you, I ran it (${reply.reply}).`);
    },
  },
  options: {
    usage: "options",
    about: "asks a permission with many options, several of a kind and with long names",
    play: async (stage) => {
      const m = await say(stage, "I need a permission.");
      const c = stage.id();
      const input = { command: "npm publish" };
      stage.emit({ type: "call", c, m, name: "shell", kind: "shell", title: input.command, input });
      const options = [
        OPTIONS[0],
        { id: "prefix", label: "Always allow commands that begin with `npm publish`", kind: "allow_always" as const },
        {
          id: "session",
          label: "Always allow this command in this session and in those that follow it",
          kind: "allow_always" as const,
        },
        OPTIONS[2],
        { id: "never", label: "Refuse it from now on", kind: "reject_always" as const },
      ];
      const reply = await stage.ask({
        type: "ask",
        id: stage.id(),
        c,
        action: "Run: npm publish",
        name: "shell",
        input,
        options,
      });
      stage.emit({ type: "result", c, output: reply.reply, error: reply.reply === "reject" });
      await say(stage, `You said ${reply.reply}.`);
    },
  },
  propose: {
    usage: "propose",
    about: "asks whether it may go on with a plan that it wrote",
    play: async (stage) => {
      const c = stage.id();
      stage.emit({
        type: "call",
        c,
        name: "propose_plan",
        kind: "plan",
        title: "propose_plan",
        input: { plan: PLAN, file: "plan.md" },
      });
      const answers = await stage.answer({
        type: "question",
        id: stage.id(),
        c,
        questions: [
          {
            prompt: PLAN,
            header: "Plan",
            options: [{ label: "Go on" }, { label: "Keep planning" }],
            multi_select: false,
            free_text: true,
          },
        ],
        metadata: { kind: "plan_approval", plan: PLAN },
      });
      const answer = answers?.flat().join(" ") || "nothing";
      stage.emit({ type: "result", c, output: answer });
      await say(stage, `You said: ${answer}.`);
    },
  },
  secret: {
    usage: "secret",
    about: "asks for a secret, and tells only how long it is",
    play: async (stage) => {
      const ask = { prompt: "What is the passphrase?", options: [], multi_select: false, free_text: true, secret: true };
      const answers = await stage.answer({ type: "question", id: stage.id(), questions: [ask] });
      await say(stage, answers ? `It has ${answers.flat().join("").length} characters.` : "You did not want to answer.");
    },
  },
  question: {
    usage: "question",
    about: "asks two questions, one with several answers",
    play: async (stage) => {
      const answers = await stage.answer({ type: "question", id: stage.id(), questions: [COLOURS, TOPPINGS] });
      await say(
        stage,
        answers ? `You chose ${answers.map((answer) => answer.join(" and ")).join("; ")}.` : "You did not want to answer.",
      );
    },
  },
};
