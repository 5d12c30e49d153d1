"use strict";
// Builds the page from the account. Text is set as text, never as HTML: names are whatever users gave.
(() => {
  const account = JSON.parse(document.getElementById("account").textContent);
  const colours = account.colours;
  const names = account.clusters;  // of the clusters: names, or labels from 0
  let made = 0;

  function el(tag, properties, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(properties || {})) {
      if (value === undefined || value === null || value === false) continue;
      if (name === "class") node.className = value;
      else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else node.setAttribute(name, value === true ? "" : value);
    }
    for (const child of children.flat()) {
      if (child !== null && child !== undefined) node.append(child);
    }
    return node;
  }

  const whole = new Intl.NumberFormat("en");
  const formats = new Map();  // one for each number of decimals: making them is slow

  function withDigits(digits) {
    if (!formats.has(digits)) {
      formats.set(digits, new Intl.NumberFormat("en", {
        minimumFractionDigits: digits, maximumFractionDigits: digits,
      }));
    }
    return formats.get(digits);
  }

  function told(value, digits) {
    if (value === null || value === undefined) return "–";
    if (typeof value !== "number") return String(value);
    if (Number.isInteger(value) && !digits) return whole.format(value);
    if (digits === null || digits === undefined) return String(value);
    // Three significant digits at most.
    const shown = Number(value.toPrecision(3));
    const places = 2 - Math.floor(Math.log10(Math.abs(shown) || 1));
    return withDigits(Math.max(0, Math.min(digits, places))).format(shown).replace(/^-/, "\u2212");
  }

  const minus = (text) => text.replace(/^-/, "\u2212");

  function chip(cluster) {
    if (typeof cluster !== "number" || cluster < 0) return "–";
    const dot = el("span", { class: "dot", "aria-hidden": "true" });
    if (colours[cluster]) dot.style.backgroundColor = colours[cluster];
    return el("span", { class: "chip" }, dot, el("bdi", { dir: "auto" }, names[cluster]));
  }

  // A long name breaks after an underscore or a slash rather than within a word.
  const nameOf = (value) => el("bdi", { dir: "auto" },
    ...String(value).split(/(?<=[_/])/).flatMap((part, at) => (at ? [el("wbr"), part] : [part])));

  // The first cell of a row heads it, so that screen readers name the cluster or object of each number.
  function cell(value, column, first) {
    const [tag, scope] = first ? ["th", "row"] : ["td", null];
    if (column.kind === "cluster") return el(tag, { class: "cluster", scope }, chip(value));
    if (column.kind === "name") return el(tag, { class: "name", scope }, nameOf(value));
    if (column.kind === "text") {
      const text = String(value);
      return el("td", { class: text.length > 15 ? "wide" : "" }, el("bdi", {}, text));
    }
    if (column.kind === "share") {
      return el("td", { class: "number" }, typeof value === "number" ? `${told(100 * value, 0)} %` : "–");
    }
    if (column.kind === "heat") {
      const [difference, text] = value;
      const heat = el("td", { class: "number heat" }, minus(text));
      if (typeof difference === "number") {
        const level = Math.min(Math.round(2 * Math.abs(difference)), 4);
        if (level > 0) heat.classList.add(`${difference < 0 ? "lower" : "higher"}-${level}`);
        heat.title = `${told(difference, 1)} standard deviations from the other objects`;
      }
      return heat;
    }
    if (column.kind === "spread") {
      const [middle, error] = value;
      const said = told(middle, column.digits);
      const around = error === null ? null : el("span", { class: "error" }, ` ± ${told(error, column.digits)}`);
      return el("td", { class: "number" }, said, around);
    }
    return el("td", { class: "number" }, told(value, column.digits));
  }

  const bare = (value) => (Array.isArray(value) ? value[0] : value);

  function compared(a, b) {
    const [left, right] = [bare(a), bare(b)];
    if (left === null || left === undefined) return right === null || right === undefined ? 0 : 1;
    if (right === null || right === undefined) return -1;
    if (typeof left === "number" && typeof right === "number") return left - right;
    return String(left).localeCompare(String(right), "en", { numeric: true });
  }

  // A table: sorted by a press on a heading, searched by a field, long ones begun with a few rows.
  function tableOf(block) {
    const id = `table-${++made}`;
    const columns = block.columns;
    const state = { sorted: -1, falling: false, sought: "", shown: block.first };
    const body = el("tbody");
    const status = el("p", { class: "status", role: "status" });
    const more = el("button", { type: "button", class: "more" });
    const heads = columns.map((column, at) => el("th", { scope: "col", class: column.kind },
      el("button", { type: "button", title: column.how, onclick: () => sort(at) },
        el("span", { class: "title" }, column.title), el("span", { class: "arrow", "aria-hidden": "true" }))));

    function rows() {
      const wanted = state.sought.toLowerCase();
      let found = block.rows;
      if (wanted) {
        const named = columns.findIndex((column) => column.kind === "name");
        found = found.filter((row) => (named >= 0 ? [row[named]] : row)
          .some((value) => String(bare(value)).toLowerCase().includes(wanted)));
      }
      if (state.sorted >= 0) {
        const at = state.sorted;
        const missing = (row) => bare(row[at]) === null || bare(row[at]) === undefined;
        found = [...found].sort((a, b) => {
          if (missing(a) || missing(b)) return missing(a) - missing(b);  // none: last, either way
          return state.falling ? compared(b[at], a[at]) : compared(a[at], b[at]);
        });
      }
      return found;
    }

    function draw() {
      const found = rows();
      const shown = found.slice(0, state.shown);
      body.replaceChildren(...shown.map((row) => {
        const line = el("tr", {}, row.map((value, at) => {
          const one = cell(value, columns[at], at === 0);
          one.dataset.title = columns[at].title;  // shown on a phone, where a long row is a block
          return one;
        }));
        if (block.stressed !== undefined && row[0] === block.stressed) line.className = "stressed";
        return line;
      }));
      heads.forEach((head, at) => {
        const way = at !== state.sorted ? "none" : state.falling ? "descending" : "ascending";
        head.setAttribute("aria-sort", way);
      });
      const left = found.length - shown.length;
      more.hidden = left <= 0;
      more.textContent = left > 200 ? `Show 200 more (${whole.format(left)} left)` : `Show all ${whole.format(found.length)}`;
      const of = state.sought ? ` of ${whole.format(block.rows.length)}` : "";
      status.textContent = found.length === 0 ? "Nothing found."
        : `${whole.format(shown.length)} of ${whole.format(found.length)}${state.sought ? " found" + of.replace(" of", " in") : ""} shown.`;
      status.hidden = left <= 0 && !state.sought;
    }

    function sort(at) {
      state.falling = state.sorted === at ? !state.falling : false;
      state.sorted = at;
      draw();
    }

    more.addEventListener("click", () => {
      const left = rows().length - state.shown;
      state.shown += left > 200 ? 200 : left;
      draw();
    });
    const search = !block.search ? null : el("p", { class: "search" },
      el("label", { for: `${id}-search` }, block.search),
      el("input", {
        id: `${id}-search`, type: "search", autocomplete: "off", spellcheck: "false",
        oninput: (event) => { state.sought = event.target.value; state.shown = block.first; draw(); },
      }));
    draw();
    return el("div", { class: "table" }, search,
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": block.caption },
        el("table", { id }, el("caption", {}, block.caption), el("thead", {}, el("tr", {}, heads)), body)),
      el("div", { class: "below" }, status, more), explained(columns));
  }

  function explained(columns) {
    return el("details", {}, el("summary", {}, "How these numbers were made"),
      el("dl", {}, columns.flatMap((column) => [el("dt", {}, column.title), el("dd", {}, column.how)])));
  }

  // Pictures: each can be enlarged and saved, and says how it is read.
  const dialog = el("dialog", { class: "large", "aria-labelledby": "large-title" });
  let opener = null;

  function enlarge(picture, from) {
    opener = from;
    dialog.replaceChildren(
      el("div", { class: "bar" }, el("h2", { id: "large-title" }, picture.title),
        el("button", { type: "button", class: "close", onclick: () => dialog.close() }, "Close")),
      el("div", { class: picture.wide ? "paper wide" : "paper", tabindex: "0", role: "region", "aria-label": picture.title },
        el("img", { src: picture.source, alt: picture.alt })),
      el("p", {}, picture.how), saving(picture));
    dialog.showModal();
    dialog.scrollTop = 0;
  }

  dialog.addEventListener("close", () => { dialog.replaceChildren(); if (opener) opener.focus(); });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });

  const saving = (picture) => el("a", { class: "save", href: picture.source, download: `conclust-${picture.file}` },
    `Save as ${picture.file.split(".").pop().toUpperCase()}`,
    el("span", { class: "unseen" }, `: ${picture.title}`));

  // A picture that would be alone in its row has its words beside it.
  function gallery(block) {
    const figures = block.pictures.map(figure);
    let waiting = null;
    block.pictures.forEach((picture, at) => {
      if (picture.wide) {
        if (waiting !== null) figures[waiting].classList.add("alone");
        waiting = null;
      } else {
        waiting = waiting === null ? at : null;
      }
    });
    if (waiting !== null) figures[waiting].classList.add("alone");
    return figures.length ? el("div", { class: "pictures" }, figures) : null;
  }

  function figure(picture) {
    if (picture.error) {
      return el("figure", { class: "failed" }, el("h3", {}, picture.title), el("p", {}, picture.error));
    }
    const button = el("button", {
      type: "button", class: "paper", "aria-label": `Enlarge: ${picture.title}`,
      onclick: (event) => enlarge(picture, event.currentTarget),
    }, el("img", { src: picture.source, alt: picture.alt, width: picture.width, height: picture.height }));
    return el("figure", { class: picture.wide ? "wide" : "" }, el("h3", {}, picture.title), button,
      el("figcaption", {}, el("b", {}, "How to read this. "), picture.how, " ", saving(picture)));
  }

  function featureTables(block) {
    const sizes = block.clusters.flatMap((part) => part.rows.map((row) => Math.abs(row.difference ?? 0)));
    const largest = Math.max(...sizes, 1e-9);
    return el("div", { class: "features" }, block.clusters.map((part) => {
      const rows = part.rows.map((row) => {
        const size = row.difference === null ? 1 : Math.abs(row.difference) / largest;
        const bar = el("span", { class: row.sign < 0 ? "low" : "high", "aria-hidden": "true" });
        bar.style.width = `${(50 * size).toFixed(1)}%`;
        const value = row.difference === null ? (row.sign < 0 ? "\u2212∞" : "∞") : told(row.difference, 2);
        return el("tr", {}, el("th", { scope: "row", class: "name" }, nameOf(row.feature)),
          el("td", { class: "bars" }, el("span", { class: "axis" }, bar)),
          el("td", { class: "number" }, value),
          el("td", { class: "number" }, minus(row.inside)), el("td", { class: "number" }, minus(row.outside)));
      });
      return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Features of cluster ${names[part.cluster]}` },
        el("table", {}, el("caption", {}, "Cluster ", chip(part.cluster)),
          el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Feature"),
            el("th", { scope: "col", colspan: 2, class: "number" }, "Difference"),
            el("th", { scope: "col", class: "number" }, "Here"), el("th", { scope: "col", class: "number" }, "Elsewhere"))),
          el("tbody", {}, rows)));
    }), explained([
      { title: "Difference", how: "Mean in the cluster minus the mean of the other objects, in standard deviations about these two means (Cohen's d). To the right: larger here." },
      { title: "Here, Elsewhere", how: `The two means, in the units of the input${block.categories ? "; of a category the two shares of the objects that have it" : ""}. The ${whole.format(block.of)} features${block.categories ? " and all categories" : ""} are ranked by the size of the difference; the first few are shown.` },
    ]));
  }

  function saved(name, text, type = "application/json") {
    const address = `data:${type};charset=utf-8,${encodeURIComponent(text)}`;
    return el("a", { class: "save", href: address, download: `conclust-${name}` }, `Save as ${name.split(".").pop().toUpperCase()}`);
  }

  const blocks = {
    text: (block) => el("p", {}, block.title ? el("b", {}, `${block.title} `) : null, block.text),
    list: (block) => [block.title ? el("h3", {}, block.title) : null,
      el("ul", {}, block.items.map((item) => el("li", {}, item)))],
    table: tableOf,
    pictures: gallery,
    more: (block) => el("details", {}, el("summary", {}, block.title),
      block.blocks.flatMap((part) => blocks[part.kind](part))),
    features: featureTables,
    code: (block) => [el("h3", {}, block.title), el("pre", { tabindex: "0" }, block.text)],
    settings: (block) => {
      const text = JSON.stringify({ settings: block.settings, versions: block.versions }, null, 2);
      return [el("h3", {}, "Settings and versions"), el("pre", { tabindex: "0", class: "settings" }, text),
        el("p", {}, saved("settings.json", JSON.stringify({ decision: decision.sentence, ...block }, null, 2)))];
    },
    files: (block) => el("p", {}, block.files.flatMap(([name, type, text]) => [saved(name, text, type), " "])),
  };

  function section(part) {
    return el("section", { id: part.id, "aria-labelledby": `${part.id}-title` },
      el("h2", { id: `${part.id}-title` }, part.title),
      part.blocks.flatMap((block) => blocks[block.kind](block)));
  }

  const decision = account.decision;
  // "p-value" and "p = 0.01" stay in one line.
  const unbroken = (text) => text.split(/(p-value|p [=<] [\d.e-]+)/).map((part, at) =>
    (at % 2 ? el("span", { class: "unbroken" }, part) : part));
  const doubts = decision.doubts.length === 0 ? null : el("div", { class: "doubts" },
    el("h2", {}, "Look twice"), el("ul", {}, decision.doubts.map((doubt) => el("li", {}, doubt))));
  const facts = el("dl", { class: "facts" }, account.facts.map((fact) => el("div", { title: fact.how },
    el("dt", {}, fact.name), el("dd", {}, fact.value))));
  const how = explained(account.facts.map((fact) => ({ title: fact.name, how: fact.how })));
  const places = el("nav", { "aria-label": "Sections" }, el("ul", {}, account.sections.map((part) =>
    el("li", {}, el("a", { href: `#${part.id}` }, part.title)))));
  const source = account.source ? el("p", { class: "source" }, "Source: ", el("bdi", { dir: "auto" }, account.source)) : null;
  // The first screen is for readers in a hurry: the answer, doubts and the groups. All else comes below the line.
  const isFirst = (part) => part.id === "overview";
  document.getElementById("page").append(
    el("header", {}, el("h1", {}, el("strong", {}, decision.head)), el("p", { class: "plain" }, decision.plain),
      doubts, account.sections.filter(isFirst).map(section)),
    el("main", {}, el("section", { class: "run" }, el("p", {}, unbroken(decision.sentence)), source, facts, how, places),
      account.sections.filter((part) => !isFirst(part)).map(section)),
    el("footer", {}, el("p", {}, "Made with conclust. This page is self-contained: it loads nothing from elsewhere.")),
    dialog);

  // On paper everything is open.
  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    closed.forEach((node) => { node.open = true; });
  });
  window.addEventListener("afterprint", () => closed.forEach((node) => { node.open = false; }));
})();
