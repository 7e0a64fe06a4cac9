"use strict";
const buttons = [...document.querySelectorAll("nav button")];
const search = document.querySelector("nav input");
const cards = [...document.querySelectorAll("article")];
const empty = document.querySelector(".empty");
function show() {
  const wanted = buttons.find((b) => b.getAttribute("aria-pressed") === "true").dataset.show;
  const words = search.value.toLowerCase();
  let shown = 0;
  for (const card of cards) {
    const fits = (wanted === "all" || card.classList.contains(wanted)) && card.textContent.toLowerCase().includes(words);
    card.hidden = !fits;
    shown += fits;
  }
  empty.hidden = shown > 0;
}
for (const button of buttons) {
  button.addEventListener("click", () => {
    for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
    show();
  });
}
search.addEventListener("input", show);
