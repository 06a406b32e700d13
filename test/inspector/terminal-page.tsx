// The page of terminal.test.ts: one terminal on a socket. Not part of the inspector.
import { createRoot } from "react-dom/client";
import { Terminal } from "../../inspector/src/terminal/terminal.tsx";
import type { TerminalMessage, TerminalTransport } from "../../inspector/src/terminal/terminal-transport.ts";
import "../../inspector/src/styles/tokens.css";
import "../../inspector/src/styles/base.css";

const socket = new WebSocket(`ws://${location.host}/socket`);
const opened = new Promise((resolve) => socket.addEventListener("open", resolve));
const send = (message: object): void => void opened.then(() => socket.send(JSON.stringify(message)));

const transport: TerminalTransport = {
  onData: (listener) => {
    let last = Promise.resolve();
    const receive = ({ data }: MessageEvent<string>): void => {
      const message: TerminalMessage = JSON.parse(data);
      last = last.then(() => listener(message));
    };
    socket.addEventListener("message", receive);
    send({ do: "join" });
    return () => socket.removeEventListener("message", receive);
  },
  write: (data) => send({ do: "write", data }),
  resize: (size) => send({ do: "resize", size }),
  close: () => {
    send({ do: "close" });
    void opened.then(() => socket.close());
  },
};

const root = createRoot(document.getElementById("root") ?? document.body);
root.render(<Terminal transport={transport} label="Test terminal" readOnly={location.search === "?read-only"} />);
window.addEventListener("leave", () => root.unmount());
