/** A chip that shows what is chosen and opens a list to choose from. Long lists can be searched; where any text will do, what was typed can be taken. */
import { Popover } from "@base-ui/react/popover";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Icon, type IconName } from "./icons.tsx";

export type Option = { value: string; label: string; hint?: string | undefined; icon?: ReactNode };

type ChoiceProps = {
  /** What is chosen here: the first word of the button's name. */
  label: string;
  value: string | null;
  options: readonly Option[];
  onChange(value: string): void;
  icon?: IconName;
  /** Shown while nothing is chosen. */
  otherwise?: string;
  disabled?: boolean;
  /** Any text will do, for instance a path. The list is then asked for it. */
  free?: { placeholder: string; suggest?(typed: string): void };
};

const SEARCHED_FROM = 8;

export function Choice({ label, value, options, onChange, icon, otherwise, disabled = false, free }: ChoiceProps) {
  const [open, setOpen] = useState(false);
  const chosen = options.find((option) => option.value === value);
  const shown = chosen?.label ?? value ?? otherwise ?? label;
  if (options.length === 0 && value === null && !free) return null;
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger className="chip" disabled={disabled} aria-label={`${label}: ${shown}`} title={`${label}: ${shown}`}>
        {chosen?.icon ?? (icon && <Icon name={icon} size={14} />)}
        <span>{shown}</span>
        <Icon name="open" size={12} />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner className="positioner" sideOffset={6} align="start" collisionPadding={12}>
          <Popover.Popup className="popup chooser" aria-label={label}>
            <Chooser
              label={label}
              value={value}
              options={options}
              free={free}
              onPick={(picked) => {
                setOpen(false);
                if (picked !== value) onChange(picked);
              }}
            />
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

type ChooserProps = Pick<ChoiceProps, "label" | "value" | "options"> & {
  free: ChoiceProps["free"] | undefined;
  onPick(value: string): void;
};

function Chooser({ label, value, options, free, onPick }: ChooserProps) {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(() =>
    Math.max(
      0,
      options.findIndex((option) => option.value === value),
    ),
  );
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const searched = free !== undefined || options.length >= SEARCHED_FROM;
  const words = typed.trim().toLowerCase();
  const found = options.filter((option) => `${option.label} ${option.value}`.toLowerCase().includes(words));
  const own = free && typed.trim() !== "" && !options.some((option) => option.value === typed.trim());
  const shown: Option[] = own ? [{ value: typed.trim(), label: `Use “${typed.trim()}”` }, ...found] : found;
  const chosen = Math.min(at, shown.length - 1);
  useEffect(() => free?.suggest?.(typed), [free?.suggest, typed]);
  useEffect(() => {
    if (!searched) list.current?.focus();
  }, [searched]);
  useEffect(() => {
    document.getElementById(`${id}-${chosen}`)?.scrollIntoView({ block: "nearest" });
  }, [id, chosen]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp")
      setAt((chosen + (event.key === "ArrowDown" ? 1 : shown.length - 1)) % Math.max(1, shown.length));
    else if (event.key === "Enter") {
      const option = shown[chosen];
      if (option) onPick(option.value);
    } else if (event.key === "Tab" && free && found[0]) setTyped(found[0].value);
    else return;
    event.preventDefault();
  };
  const active = shown[chosen] ? `${id}-${chosen}` : undefined;
  const listed = (
    <div
      ref={list}
      id={id}
      role="listbox"
      aria-label={label}
      className="chooser-list"
      tabIndex={searched ? -1 : 0}
      {...(searched ? {} : { "aria-activedescendant": active, onKeyDown })}
    >
      {shown.map((option, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the field or the list takes the keys.
        <div
          key={option.value}
          id={`${id}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={option.value === value}
          className="chooser-option"
          data-at={index === chosen ? "" : undefined}
          data-value={option.value}
          onMouseMove={() => setAt(index)}
          onClick={() => onPick(option.value)}
        >
          {option.icon}
          <span className="chooser-text">
            {option.label}
            {option.hint && <span className="hint">{option.hint}</span>}
          </span>
          {option.value === value && <Icon name="check" size={14} />}
        </div>
      ))}
      {shown.length === 0 && <p className="menu-head">Nothing matches.</p>}
    </div>
  );
  if (!searched) return listed;
  return (
    <>
      <input
        role="combobox"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={active}
        aria-label={free ? free.placeholder : `Search: ${label}`}
        placeholder={free ? free.placeholder : "Search"}
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      {listed}
    </>
  );
}
