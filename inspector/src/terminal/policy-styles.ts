/**
 * Lets xterm.js draw under a policy without inline styles. xterm 6 writes its colours into `<style>` elements and into the `style` attributes of `<span>`
 * elements, which such a policy blocks. While a terminal is open, new elements of these two kinds use what the policy allows: a constructed style sheet, and the
 * style object of the element. What anybody else does with them has the same effect as before. xterm's own `documentOverride` does not reach its row renderer.
 */

let open = 0;

/** Call it before the terminal is made, and the returned function after it was disposed of. */
export function allowStyles(): () => void {
  open += 1;
  if (open === 1) document.createElement = createElement;
  let released = false;
  return () => {
    if (released) return;
    released = true;
    open -= 1;
    // The document's own method comes from its prototype.
    if (open === 0) Reflect.deleteProperty(document, "createElement");
  };
}

function createElement(this: Document, tag: string, options?: ElementCreationOptions): HTMLElement {
  if (tag === "style") return sheetElement();
  const element = Document.prototype.createElement.call(document, tag, options);
  if (tag === "span") element.setAttribute = setAttribute;
  return element;
}

/** Looks like a `<style>` to one who sets its text and removes it. */
function sheetElement(): HTMLElement {
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  const element = Document.prototype.createElement.call(document, "template");
  const remove = element.remove.bind(element);
  Object.defineProperty(element, "textContent", { set: (text: string) => sheet.replaceSync(text) });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== sheet);
    remove();
  };
  return element;
}

function setAttribute(this: HTMLElement, name: string, value: string): void {
  if (name === "style") this.style.cssText = value;
  else Element.prototype.setAttribute.call(this, name, value);
}
