"use strict";
(() => {
  const agents = [...document.querySelectorAll("details.agent")];
  const bar = document.querySelector(".bar");
  if (!bar) return;
  bar.hidden = false;

  const box = document.getElementById("filter");
  const shown = document.getElementById("shown");
  const only = new Set();
  let texts = null;

  const visible = () => agents.filter((agent) => !agent.hidden);

  const apply = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length && !texts) texts = agents.map((agent) => agent.textContent.toLowerCase());
    agents.forEach((agent, index) => {
      const tagged = [...only].every((tag) => agent.hasAttribute("data-" + tag));
      agent.hidden = !(tagged && words.every((word) => texts[index].includes(word)));
    });
    shown.textContent = `${visible().length} of ${agents.length} shown`;
  };

  box.addEventListener("input", apply);
  bar.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.fold) {
      visible().forEach((agent) => { agent.open = button.dataset.fold === "open"; });
      return;
    }
    const tag = button.dataset.only;
    if (!only.delete(tag)) only.add(tag);
    button.setAttribute("aria-pressed", String(only.has(tag)));
    apply();
  });

  const step = (by) => {
    const list = visible();
    if (!list.length) return;
    const here = list.indexOf(document.activeElement.closest("details.agent"));
    const next = here < 0 && by < 0 ? list.length - 1 : here + by;
    const target = list[Math.max(0, Math.min(list.length - 1, next))];
    target.querySelector("summary").focus({ preventScroll: true });
    target.scrollIntoView({ block: "start" });
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === box) {
      if (event.key === "Escape") { box.value = ""; apply(); box.blur(); }
      return;
    }
    const action = { j: () => step(1), k: () => step(-1), "/": () => box.focus() }[event.key];
    if (action) { event.preventDefault(); action(); }
  });

  const reveal = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (target && target.matches("details.agent")) {
      target.hidden = false;
      target.open = true;
      target.querySelector("summary").focus({ preventScroll: true });
      target.scrollIntoView({ block: "start" });
    }
  };
  window.addEventListener("hashchange", reveal);

  let folded = [];
  window.addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    folded.forEach((details) => { details.open = true; });
  });
  window.addEventListener("afterprint", () => folded.forEach((details) => { details.open = false; }));

  apply();
  reveal();
})();
