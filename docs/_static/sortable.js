"use strict";
// Sorts tables of six rows or more by a press on a heading: numbers as numbers, empty cells last.
document.addEventListener("DOMContentLoaded", () => {
  const number = (text) => {
    const found = text.replace(/[,\u2009 ]/g, "").match(/^[\u2212-]?(\d+\.?\d*|\.\d+)/);
    return found ? parseFloat(found[0].replace("\u2212", "-")) : NaN;
  };

  function compared(left, right) {
    const [a, b] = [number(left), number(right)];
    if (!Number.isNaN(a) && !Number.isNaN(b)) return a - b;
    return left.localeCompare(right, "en", { numeric: true });
  }

  for (const table of document.querySelectorAll(".bd-article table:not(.autosummary)")) {
    const body = table.tBodies[0];
    const heads = table.tHead ? [...table.tHead.rows[0].cells] : [];
    if (!body || body.rows.length < 6 || heads.some((head) => head.colSpan > 1)) continue;
    heads.forEach((head, at) => {
      if (!head.textContent.trim()) return;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const falling = head.getAttribute("aria-sort") === "ascending";
        const text = (row) => row.cells[at].textContent.trim().replace(/^[-\u2013]$/, "");
        const rows = [...body.rows].sort((one, other) => {
          const [left, right] = [text(one), text(other)];
          if (!left || !right) return !left - !right;
          return falling ? compared(right, left) : compared(left, right);
        });
        body.append(...rows);
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      });
    });
  }
});
