/** Small controls used everywhere. */
import { type ButtonHTMLAttributes, type ReactNode, useEffect, useRef, useState } from "react";
import { copyText } from "./browser.ts";
import { Icon, type IconName } from "./icons.tsx";

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & { look?: "plain" | "primary" | "danger" | "quiet"; icon?: IconName };

export const Button = ({ look = "plain", icon, className = "", children, ...rest }: ButtonProps) => (
  <button type="button" className={`button ${look} ${className}`} {...rest}>
    {icon && <Icon name={icon} />}
    {children}
  </button>
);

type IconButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & { icon: IconName; label: string };

export const IconButton = ({ icon, label, className = "", ...rest }: IconButtonProps) => (
  <button type="button" className={`icon-button ${className}`} aria-label={label} title={label} {...rest}>
    <Icon name={icon} />
  </button>
);

export const Spinner = ({ label }: { label?: string }) => (
  <>
    <span className="spinner" aria-hidden="true" />
    {label && <span className="sr">{label}</span>}
  </>
);

type CopyProps = { text: () => string; label?: string; small?: boolean; icon?: IconName };

export function CopyButton({ text, label = "Copy", small = false, icon = "copy" }: CopyProps) {
  const [done, setDone] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async (): Promise<void> => {
    await copyText(text());
    setDone(true);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setDone(false), 1_500);
  };
  return (
    <IconButton
      icon={done ? "check" : icon}
      label={done ? "Copied" : label}
      className={small ? "small" : ""}
      onClick={() => void copy()}
    />
  );
}

export const Field = ({ label, hint, children }: { label: string; hint?: ReactNode; children: ReactNode }) => (
  // biome-ignore lint/a11y/noLabelWithoutControl: the control is the child.
  <label className="field">
    <span className="field-label">{label}</span>
    {children}
    {hint !== undefined && <span className="hint">{hint}</span>}
  </label>
);

export const Notice = ({ kind, children }: { kind: "error" | "warning" | "info"; children: ReactNode }) => (
  <div className={`notice ${kind}`} role={kind === "error" ? "alert" : "status"}>
    <Icon name={kind === "info" ? "bulb" : "alert"} />
    <div>{children}</div>
  </div>
);
