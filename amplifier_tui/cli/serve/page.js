// What the page adds to the terminal of textual-serve, which starts once all is loaded.
"use strict";

const NORMAL = 1000;
const GOING_AWAY = 1001;
const TOO_MUCH = 1009;
const SHOWN_ELSEWHERE = 4000;
const NARROW = 600;
const KEYS = [
  ["esc", "\x1b"],
  ["tab", "\t"],
  ["⇧tab", "\x1b[Z"],
  ["↑", "\x1b[A"],
  ["↓", "\x1b[B"],
  ["^C", "\x03"],
  ["F1", "\x1bOP"],
];
const TITLE = /\x1b\]2;([^\x07\x1b]*)\x07/g;

const terminal = document.getElementById("terminal");
let line = null;

function endWords(code) {
  if (code === NORMAL) return "The program has ended here. Sessions stay on disk: /resume opens them.";
  if (code === GOING_AWAY) return "The server has ended. Sessions stay on disk: /resume opens them.";
  if (code === TOO_MUCH) return "More was pasted than the program takes. It goes on: reload the page.";
  if (code === SHOWN_ELSEWHERE) return "It is shown in another tab now.";
  return "The connection is lost, or no more programs may be started.";
}

// Names this tab, so that its program comes back to it after a reload.
function pageName() {
  const numbers = crypto.getRandomValues(new Uint8Array(16));
  const fresh = Array.from(numbers, (number) => number.toString(16).padStart(2, "0")).join("");
  const name = sessionStorage.getItem("page") ?? fresh;
  sessionStorage.setItem("page", name);
  return name;
}

function typeKey(characters) {
  if (line?.readyState === WebSocket.OPEN) line.send(JSON.stringify(["stdin", characters]));
}

function focusTerminal() {
  terminal.querySelector("textarea")?.focus();
}

const Socket = window.WebSocket;
window.WebSocket = class extends Socket {
  constructor(...values) {
    super(...values);
    line = this;
    this.addEventListener("close", (event) => {
      document.getElementById("why").textContent = endWords(event.code);
    });
    this.addEventListener("message", (event) => {
      if (typeof event.data === "string") return;
      const found = [...new TextDecoder().decode(event.data).matchAll(TITLE)].pop();
      if (found) document.title = found[1];
    });
  }
};

// The program asks before it opens an address; the terminal would open any that is clicked on.
const open = window.open.bind(window);
window.open = (address, target) => (address ? open(address, target, "noopener,noreferrer") : null);

// What is printed may ask for the clipboard, which is the user's alone; pasting needs no such
// question. Pages that are neither encrypted nor of this machine have no clipboard at all.
const deaf = { readText: async () => "", writeText: async () => {} };
if (navigator.clipboard) navigator.clipboard.readText = deaf.readText;
else Object.defineProperty(navigator, "clipboard", { value: deaf });

// The browser pastes; the terminal would send the key.
document.addEventListener(
  "keydown",
  (event) => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "v") {
      event.stopImmediatePropagation();
    }
  },
  true,
);

for (const [label, characters] of KEYS) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = label;
  // The terminal keeps the focus, and with it the keyboard of a phone stays.
  button.addEventListener("pointerdown", (event) => event.preventDefault());
  button.addEventListener("click", () => typeKey(characters));
  document.getElementById("keys").append(button);
}

const address = new URL(`ws/${pageName()}`, location.href);
address.protocol = "ws:";
address.search = address.hash = "";
terminal.dataset.sessionWebsocketUrl = address.href;
if (window.innerWidth < NARROW) terminal.dataset.fontSize = "13";
window.addEventListener("load", focusTerminal);
// The terminal fits itself when the window changes; the keys below may come and go without that.
new ResizeObserver(() => window.dispatchEvent(new Event("resize"))).observe(terminal);
