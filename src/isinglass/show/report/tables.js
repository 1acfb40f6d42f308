/* Tables that can be sorted, filtered by name and saved. */

const ROWS_AT_ONCE = 100;
const MANY_COLUMNS = 10; /* from here on headings of numbers stand upright */

/* A column has a label, a value for each row (number or text), and how to write it. Where it is `tucked`, its text is
   small print in the first cell, and its own column in the file. */
class DataTable {
  constructor(id, { columns, sortBy, descending, filename, pick, nameRow, noun }) {
    Object.assign(this, { columns, filename, pick, nameRow, noun });
    for (const column of columns) column.write ??= writeCell(column);
    this.table = byId(`${id}-table`);
    this.more = byId(`${id}-more`);
    this.filter = byId(`${id}-filter`);
    this.sortBy = sortBy;
    this.descending = descending;
    this.rows = [];
    this.limit = ROWS_AT_ONCE;
    this.heads = columns.map((column, k) => this.makeHead(column, k));
    this.body = make("tbody");
    this.table.classList.toggle("many", columns.length > MANY_COLUMNS);
    this.table.append(make("thead", {}, [make("tr", {}, this.heads)]), this.body);
    this.filter.addEventListener("input", () => this.update());
    byId(`${id}-csv`).addEventListener("click", () => this.download());
  }

  makeHead(column, k) {
    const button = make("button", { text: column.label });
    button.addEventListener("click", () => {
      this.descending = this.sortBy === k ? !this.descending : Boolean(column.number);
      this.sortBy = k;
      this.update();
    });
    const kinds = ["number", "minor", "tucked"].filter((kind) => column[kind]);
    return make("th", { scope: "col", class: kinds.join(" "), "data-label": column.label }, [button]);
  }

  setRows(rows) {
    this.rows = rows;
    this.update();
  }

  /* Rows that pass the filter, in order; rows without a value come last either way. */
  ordered() {
    const query = this.filter.value.trim().toLowerCase();
    const texts = this.columns.filter((column) => column.searched);
    const rows = this.rows.filter((row) => texts.some((column) => column.value(row).toLowerCase().includes(query)));
    const column = this.columns[this.sortBy];
    const missing = (value) => value === null || value === undefined;
    return rows.sort((a, b) => {
      const [u, v] = [column.value(a), column.value(b)];
      if (missing(u) || missing(v)) return missing(u) - missing(v);
      const order = typeof u === "number" && typeof v === "number" ? u - v : compareTexts(String(u), String(v));
      return this.descending ? -order : order;
    });
  }

  update() {
    this.heads.forEach((head, k) => {
      if (k === this.sortBy) head.setAttribute("aria-sort", this.descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    const rows = this.ordered();
    this.body.replaceChildren(...rows.slice(0, this.limit).map((row) => this.makeRow(row)));
    if (rows.length === 0) {
      const cell = make("td", { class: "empty", colspan: String(this.columns.length), text: `No ${this.noun}s to show.` });
      this.body.append(make("tr", {}, [cell]));
    }
    showMore(this.more, Math.min(this.limit, rows.length), rows.length, this.noun, (limit) => {
      this.limit = limit;
      this.update();
    });
  }

  makeRow(row) {
    const cells = this.columns.map((column) => {
      const isFirst = column === this.columns[0];
      const cell = make("td", { class: column.number ? "number" : "", text: isFirst ? "" : column.write(row) });
      const button = { class: "row", "aria-label": `Show ${this.nameRow(row)}`, text: column.write(row) };
      if (isFirst) cell.append(make("button", button));
      if (column.searched) cell.classList.add("name");
      if (column.minor) cell.classList.add("minor");
      if (column.tucked) cell.classList.add("tucked");
      if (column.tone) cell.classList.add(column.tone(row));
      return cell;
    });
    const small = this.columns.filter((column) => column.tucked).map((column) => column.write(row)).filter(Boolean);
    cells[0].append(...small.map((text) => make("small", { text })));
    const line = make("tr", {}, cells);
    line.addEventListener("click", () => this.pick(row)); /* also of its button, which has keys */
    return line;
  }

  /* All rows that pass the filters, in the order of the table, with all digits. */
  download() {
    const head = this.columns.map((column) => column.field);
    const rows = this.ordered().map((row) => this.columns.map((column) => column.value(row)));
    const text = [head, ...rows].map((line) => line.map(quoteCsv).join(",")).join("\n") + "\n";
    saveBlob(new Blob([text], { type: "text/csv;charset=utf-8" }), this.filename());
  }
}

/* Numbers of a column get the same decimals, one if they count rows, unless they are all whole. */
function writeCell(column) {
  return (row) => {
    const value = column.value(row);
    return typeof value === "number" && !column.whole && Math.abs(value) < 1e6 && (value === 0 || Math.abs(value) >= 1e-3)
      ? value.toFixed(column.counts ? 1 : 3).replace("-", MINUS)
      : formatNumber(value);
  };
}

function isWhole(values) {
  return values.every((value) => typeof value !== "number" || Number.isInteger(value));
}

function quoteCsv(value) {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const collator = new Intl.Collator("en", { numeric: true });

function compareTexts(a, b) {
  return collator.compare(a, b);
}

/* How many of how many are shown, with a button for the rest. */
function showMore(place, shown, total, noun, setLimit) {
  place.replaceChildren();
  if (total <= shown) return;
  const button = make("button", { text: `Show all ${total.toLocaleString("en")}` });
  button.addEventListener("click", () => setLimit(total));
  place.append(make("span", { text: `${shown.toLocaleString("en")} of ${formatCount(total, noun)}` }), button);
}
