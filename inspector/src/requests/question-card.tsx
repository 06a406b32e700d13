// The agent's questions: one or several, each with one answer, several, or free text.
import { type FormEvent, useId, useState } from "react";
import type { QuestionData, QuestionPrompt } from "../../../src/schema/event-data.ts";
import { access, canApprove, daemon, problemText } from "../state/daemon.ts";
import { useStore } from "../state/store.ts";
import { PlanText, planAsked } from "../transcript/plan-text.tsx";
import { Button, Notice } from "../ui/controls.tsx";
import { Icon } from "../ui/icons.tsx";
import { Visible } from "../ui/visible.tsx";

type Answer = { chosen: string[]; text: string };

export function QuestionCard({ session, data }: { session: string; data: QuestionData }) {
  const approve = canApprove(useStore(access));
  const title = useId();
  const plan = planAsked(data);
  const [answers, setAnswers] = useState<Answer[]>(data.questions.map(() => ({ chosen: [], text: "" })));
  const [fault, setFault] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const attempt = async (act: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setFault(null);
    try {
      await act();
    } catch (error) {
      setFault(problemText(error));
      setBusy(false);
    }
  };
  const handle = daemon.session(session);
  const given = answers.map(({ chosen, text }) => (text.trim() ? [...chosen, text.trim()] : chosen));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void attempt(() => handle.replyQuestion(data.question_id, given));
  };
  return (
    <section className="request question" aria-labelledby={title} data-request={data.question_id} tabIndex={-1}>
      <header>
        <Icon name="question" />
        <h2 id={title}>{plan === null ? askedBy(data) : "The agent proposes a plan"}</h2>
      </header>
      {plan !== null && <PlanText text={plan} />}
      <form onSubmit={submit}>
        {data.questions.map((question, index) => (
          <Prompt
            key={question.prompt}
            question={question.prompt === plan ? { ...question, prompt: "Continue with this plan?" } : question}
            answer={answers[index] ?? { chosen: [], text: "" }}
            disabled={!approve}
            onChange={(answer) => setAnswers((list) => list.map((each, i) => (i === index ? answer : each)))}
          />
        ))}
        {fault && <Notice kind="error">{fault}</Notice>}
        {approve && (
          <div className="request-actions">
            <Button look="primary" type="submit" disabled={busy || given.some((each) => each.length === 0)}>
              Answer
            </Button>
            <Button disabled={busy} onClick={() => void attempt(() => handle.rejectQuestion(data.question_id))}>
              Do not answer
            </Button>
          </div>
        )}
      </form>
    </section>
  );
}

const askedBy = ({ questions }: QuestionData): string =>
  questions.length > 1 ? `The agent has ${questions.length} questions` : "The agent asks";

type PromptProps = { question: QuestionPrompt; answer: Answer; disabled: boolean; onChange(answer: Answer): void };

function Prompt({ question, answer, disabled, onChange }: PromptProps) {
  const name = useId();
  const choose = (label: string, on: boolean): void => {
    if (!question.multi_select) return onChange({ chosen: [label], text: "" });
    onChange({ ...answer, chosen: on ? [...answer.chosen, label] : answer.chosen.filter((each) => each !== label) });
  };
  return (
    <fieldset className="prompt" disabled={disabled}>
      <legend>
        {question.header && (
          <span className="tag">
            <Visible text={question.header} />
          </span>
        )}{" "}
        <Visible text={question.prompt} />
      </legend>
      {question.options.map((option) => (
        <label key={option.label} className="choice">
          <input
            type={question.multi_select ? "checkbox" : "radio"}
            name={name}
            checked={answer.chosen.includes(option.label)}
            onChange={(event) => choose(option.label, event.target.checked)}
          />
          <span>
            <Visible text={option.label} />
            {option.description && (
              <span className="dim">
                {" "}
                <Visible text={option.description} />
              </span>
            )}
          </span>
        </label>
      ))}
      {(question.free_text || question.options.length === 0) && (
        <input
          type={question.secret ? "password" : "text"}
          autoComplete="off"
          aria-label={`Other answer to: ${question.prompt}`}
          placeholder={question.options.length > 0 ? "Something else" : "Your answer"}
          value={answer.text}
          onChange={(event) =>
            onChange({
              chosen: question.multi_select || event.target.value === "" ? answer.chosen : [],
              text: event.target.value,
            })
          }
        />
      )}
    </fieldset>
  );
}
