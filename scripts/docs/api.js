// Tries requests from the API page: to this daemon alone, with the inspector's token or one that is typed. Nothing is kept.

const make = (tag, properties, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
const TOKEN_KEY = "dragoman.token";
/** Longer answers are cut: a page is no place for them. */
const LONGEST = 200_000;

let typed = "";
function tokenNow() {
  if (typed !== "") return typed;
  try {
    return JSON.parse(localStorage.getItem(TOKEN_KEY) ?? "null")?.token ?? "";
  } catch {
    return "";
  }
}

function tokenForm() {
  const input = make("input", {
    type: "password",
    autocomplete: "off",
    placeholder: tokenNow() ? "the inspector's token is used" : "paste a token",
  });
  input.addEventListener("input", () => {
    typed = input.value.trim();
  });
  const form = make("form", {}, make("label", {}, "Token for trying", input));
  form.addEventListener("submit", (event) => event.preventDefault());
  return form;
}
document.getElementById("try-token")?.append(tokenForm());

let description;
const operationOf = async (path, method) => {
  description ??= await (await fetch("/openapi.json")).json();
  return description.paths[path][method];
};

for (const place of document.querySelectorAll(".try")) {
  const button = make("button", { type: "button", textContent: "Try it" });
  button.addEventListener("click", async () => {
    const { path, method } = place.dataset;
    place.replaceChildren(tryForm(path, method, await operationOf(path, method)));
    place.querySelector("input, textarea, button")?.focus();
  });
  place.append(button);
}

function tryForm(path, method, operation) {
  const inputs = (operation.parameters ?? []).map((parameter) => {
    const input = make("input", {
      name: parameter.name,
      required: parameter.required === true,
      placeholder: parameter.description ?? "",
    });
    return { parameter, input };
  });
  const json = operation.requestBody?.content?.["application/json"];
  const body = json && make("textarea", { rows: 6, spellcheck: false, value: JSON.stringify(json.example ?? {}, null, 2) });
  const outcome = make("p", { className: "outcome", role: "status" });
  const answer = make("code", {});
  const shown = make("div", { className: "code", hidden: true }, make("pre", { tabIndex: 0 }, answer));
  const stop = make("button", { type: "button", textContent: "Stop", hidden: true });
  const form = make(
    "form",
    {},
    ...inputs.map(({ parameter, input }) => make("label", {}, `${parameter.name} (${parameter.in})`, input)),
    ...(body ? [make("label", {}, "Body", body)] : []),
    make(
      "div",
      { className: "does" },
      make("button", { type: "submit", className: "send", textContent: `Send ${method.toUpperCase()}` }),
      stop,
    ),
    outcome,
    shown,
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const gone = new AbortController();
    stop.onclick = () => gone.abort();
    stop.hidden = false;
    shown.hidden = false;
    answer.textContent = "";
    const started = performance.now();
    outcome.textContent = "Sending";
    try {
      const response = await fetch(urlOf(path, inputs), {
        method: method.toUpperCase(),
        signal: gone.signal,
        ...partsOf(inputs, body),
      });
      outcome.textContent = `${response.status} ${response.statusText}, ${Math.round(performance.now() - started)} ms`;
      await read(response, answer);
    } catch (error) {
      outcome.textContent = gone.signal.aborted ? "Stopped" : String(error);
    }
    stop.hidden = true;
  });
  return form;
}

function urlOf(path, inputs) {
  const values = (where) => inputs.filter(({ parameter, input }) => parameter.in === where && input.value !== "");
  let filled = path;
  for (const { parameter, input } of values("path"))
    filled = filled.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
  const query = new URLSearchParams(values("query").map(({ parameter, input }) => [parameter.name, input.value]));
  return query.size > 0 ? `${filled}?${query}` : filled;
}

function partsOf(inputs, body) {
  const headers = {};
  const token = tokenNow();
  if (token !== "") headers.authorization = `Bearer ${token}`;
  for (const { parameter, input } of inputs)
    if (parameter.in === "header" && input.value !== "") headers[parameter.name] = input.value;
  if (!body) return { headers };
  return { headers: { ...headers, "content-type": "application/json" }, body: body.value };
}

/** Streams are shown as they come. */
async function read(response, answer) {
  const type = response.headers.get("content-type") ?? "";
  if (!/json|text/.test(type)) {
    answer.textContent = `${type || "no content"}`;
    return;
  }
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let part = await reader?.read(); part && !part.done && text.length < LONGEST; part = await reader.read()) {
    text += part.value;
    answer.textContent = text;
  }
  void reader?.cancel();
  if (/json/.test(type) && !/ndjson/.test(type)) {
    try {
      answer.textContent = JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      // Cut, or not JSON: as it came.
    }
  }
}
