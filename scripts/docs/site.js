// The script of the docs: copies code, searches, and opens the menu on a narrow screen. The pages can be read without it.

const make = (tag, properties, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

for (const block of document.querySelectorAll(".code")) {
  const button = make("button", { type: "button", className: "copy", textContent: "Copy" });
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.querySelector("code").textContent);
    button.textContent = "Copied";
    setTimeout(() => {
      button.textContent = "Copy";
    }, 1_500);
  });
  block.append(button);
}

const MOST = 12;
const AROUND = 80;
let entries;

/** Every word must be there. A hit in a heading counts more than one in the text. */
function find(words) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return [];
  const scored = [];
  for (const [page, heading, href, text] of entries ?? []) {
    const [name, body] = [`${heading} ${page}`.toLowerCase(), text.toLowerCase()];
    let score = 0;
    for (const word of wanted) {
      const hit = (heading.toLowerCase().includes(word) ? 8 : 0) + (name.includes(word) ? 4 : 0) + (body.includes(word) ? 1 : 0);
      if (hit === 0) {
        score = 0;
        break;
      }
      score += hit;
    }
    if (score > 0) scored.push({ score, page, heading, href, snippet: around(text, wanted[0]) });
  }
  return scored.sort((a, b) => b.score - a.score).slice(0, MOST);
}

function around(text, word) {
  const at = Math.max(0, text.toLowerCase().indexOf(word) - AROUND / 2);
  return `${at > 0 ? "…" : ""}${text.slice(at, at + 2 * AROUND)}`;
}

function search() {
  const input = make("input", {
    type: "search",
    placeholder: "Search the docs",
    autocomplete: "off",
    role: "combobox",
    ariaLabel: "Search the docs",
    ariaExpanded: "false",
  });
  input.setAttribute("aria-controls", "found");
  const list = make("div", { id: "found", className: "found", role: "listbox", ariaLabel: "Pages found", hidden: true });
  let at = 0;
  const show = async () => {
    entries ??= await (await fetch("/docs/search.json")).json();
    const hits = find(input.value);
    at = 0;
    list.replaceChildren(
      ...hits.map(({ page, heading, href, snippet }, index) => {
        const title = make("strong", { textContent: heading === page ? page : `${page} › ${heading}` });
        const link = make(
          "a",
          { href, id: `found-${index}`, role: "option", tabIndex: -1 },
          title,
          make("span", { textContent: snippet }),
        );
        link.setAttribute("aria-selected", String(index === 0));
        return link;
      }),
    );
    if (hits.length === 0 && input.value.trim() !== "") list.append(make("p", { textContent: "Nothing found." }));
    list.hidden = input.value.trim() === "";
    input.setAttribute("aria-expanded", String(!list.hidden));
    mark(0);
  };
  const mark = (next) => {
    const links = [...list.querySelectorAll("a")];
    at = links.length === 0 ? 0 : (next + links.length) % links.length;
    for (const [index, link] of links.entries()) link.setAttribute("aria-selected", String(index === at));
    if (links[at]) input.setAttribute("aria-activedescendant", links[at].id);
    else input.removeAttribute("aria-activedescendant");
    links[at]?.scrollIntoView({ block: "nearest" });
  };
  const close = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
  };
  input.addEventListener("input", () => void show());
  input.addEventListener("focus", () => input.value !== "" && void show());
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") mark(at + (event.key === "ArrowDown" ? 1 : -1));
    else if (event.key === "Enter") list.querySelectorAll("a")[at]?.click();
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest(".search")) close();
  });
  list.addEventListener("click", close);
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, textarea, select");
    if (!typing && (event.key === "/" || (event.key === "k" && (event.ctrlKey || event.metaKey)))) {
      event.preventDefault();
      input.focus();
    }
  });
  return make("div", { className: "search" }, input, list);
}

document.getElementById("search")?.replaceWith(search());

const menu = make("button", { type: "button", className: "menu-button", textContent: "Menu", ariaExpanded: "false" });
menu.addEventListener("click", () => {
  const open = document.body.classList.toggle("menu-open");
  menu.setAttribute("aria-expanded", String(open));
});
document.querySelector(".top")?.prepend(menu);
