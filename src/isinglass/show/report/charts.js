/* Charts as SVG, drawn for the width they have so that their text keeps its size. */

const MARGIN = { left: 58, right: 18, top: 14, bottom: 46 };

/* Ticks at 1, 2 and 5 times powers of ten on a logarithmic axis; fewer if they would be crowded. */
function logTicks(low, high) {
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
    for (const lead of [1, 2, 5]) ticks.push(Number((lead * 10 ** power).toPrecision(1)));
  }
  return ticks.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
}

function linearTicks(low, high, count = 5) {
  const rough = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((lead) => lead * power).find((size) => size >= rough);
  const ticks = [];
  for (let k = Math.ceil(low / step); k * step <= high + step * 1e-9; k += 1) ticks.push(Number((k * step).toPrecision(12)));
  return ticks;
}

/* A criterion may stop early: leave out the end of the path about which it says nothing. */
function cutTail(curve) {
  const main = curve.lines[curve.lines.length - 1].values;
  const end = Math.max(curve.choice, main.findLastIndex((value) => value !== null)) + 1;
  return {
    ...curve,
    alphas: curve.alphas.slice(0, end),
    lines: curve.lines.map((line) => ({ ...line, values: line.values.slice(0, end) })),
    ...(curve.band ? { band: curve.band.map((values) => values.slice(0, end)) } : {}),
  };
}

/* The curve a choice was read from. `curve` has alphas, lines, a limit or a band, and the choice. */
class CurveChart {
  constructor(place, curve) {
    Object.assign(this, { place, curve: cutTail(curve), now: null });
    new ResizeObserver(() => this.draw()).observe(place);
    this.draw();
  }

  /* Mark the alpha on the slider. */
  setNow(alpha) {
    this.now = alpha;
    this.draw();
  }

  scales(width, height) {
    const { alphas, lines, band, limit } = this.curve;
    const logarithmic = alphas.every((alpha) => alpha > 0);
    const place = (alpha) => (logarithmic ? -Math.log(alpha) : -alpha);
    const [first, last] = [place(alphas[0]), place(alphas[alphas.length - 1])];
    const every = [...lines.flatMap((line) => line.values), ...(band ? band.flat() : []), limit ?? null].filter((v) => v !== null);
    let [low, high] = [Math.min(...every), Math.max(...every)];
    if (this.curve.fromZero) low = Math.min(0, low);
    const slack = (high - low || 1) * 0.06;
    high += slack;
    if (!this.curve.fromZero) low -= slack;
    const [w, h] = [width - MARGIN.left - MARGIN.right, height - MARGIN.top - MARGIN.bottom];
    return {
      low,
      high,
      ticks: logarithmic ? logTicks(alphas[alphas.length - 1], alphas[0]) : linearTicks(alphas[alphas.length - 1], alphas[0]),
      x: (alpha) => MARGIN.left + (last === first ? 0.5 : (place(alpha) - first) / (last - first)) * w,
      y: (value) => MARGIN.top + (1 - (value - low) / (high - low)) * h,
      inside: (alpha) => alpha !== null && place(alpha) >= first - 1e-9 && place(alpha) <= last + 1e-9,
    };
  }

  draw() {
    const width = Math.max(260, this.place.clientWidth);
    const height = Math.min(340, Math.max(220, width * 0.42));
    const svg = makeSvg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": this.curve.summary });
    const scale = this.scales(width, height);
    this.drawAxes(svg, scale, width, height);
    this.drawLines(svg, scale, width, height);
    this.place.replaceChildren(svg);
  }

  drawAxes(svg, scale, width, height) {
    const bottom = height - MARGIN.bottom;
    for (const tick of linearTicks(scale.low, scale.high, height < 260 ? 3 : 5)) {
      const y = scale.y(tick);
      svg.append(makeSvg("line", { class: "grid", x1: MARGIN.left, x2: width - MARGIN.right, y1: y, y2: y }));
      svg.append(makeSvg("text", { x: MARGIN.left - 8, y: y + 4, "text-anchor": "end" }, formatTick(tick)));
    }
    svg.append(makeSvg("line", { class: "axis", x1: MARGIN.left, x2: width - MARGIN.right, y1: bottom, y2: bottom }));
    let previous = -Infinity;
    for (const tick of [...scale.ticks].sort((a, b) => b - a)) {
      const x = scale.x(tick);
      if (x - previous < 44) continue;
      previous = x;
      svg.append(makeSvg("line", { class: "axis", x1: x, x2: x, y1: bottom, y2: bottom + 5 }));
      svg.append(makeSvg("text", { x, y: bottom + 19, "text-anchor": "middle" }, String(tick)));
    }
    svg.append(makeSvg("text", { x: width - MARGIN.right, y: height - 8, "text-anchor": "end" }, "penalty α, more edges →"));
    svg.append(makeSvg("text", { x: MARGIN.left, y: height - 8 }, this.curve.yLabel));
  }

  drawLines(svg, scale, width, height) {
    const { alphas, lines, band, limit, limitLabel, choice } = this.curve;
    const bottom = height - MARGIN.bottom;
    const known = (values) => alphas.map((alpha, k) => [alpha, values[k]]).filter(([, value]) => value !== null);
    const trace = (values) => known(values).map(([alpha, value]) => [scale.x(alpha), scale.y(value)]);
    const points = (values) => trace(values).map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`);
    if (band) svg.append(makeSvg("polygon", { class: "band", points: [...points(band[1]), ...points(band[0]).reverse()].join(" ") }));
    const taken = lines.flatMap((line) => pointsOn(trace(line.values)));
    if (limit !== undefined) {
      const y = scale.y(limit);
      svg.append(makeSvg("line", { class: "limit", x1: MARGIN.left, x2: width - MARGIN.right, y1: y, y2: y }));
      svg.append(makeSvg("text", { x: MARGIN.left + 6, y: y - 6 }, limitLabel));
      taken.push(...pointsOn([[MARGIN.left, y], [width - MARGIN.right, y]]));
      taken.push(...pointsOn([[MARGIN.left + 6, y - 10], [MARGIN.left + 6 + LETTER * limitLabel.length, y - 10]]));
    }
    for (const line of lines) svg.append(makeSvg("polyline", { class: line.kind, points: points(line.values).join(" ") }));
    const [x, y] = [scale.x(alphas[choice]), scale.y(lines[lines.length - 1].values[choice] ?? scale.low)];
    const now = scale.inside(this.now) ? scale.x(this.now) : null;
    if (now !== null) {
      svg.append(makeSvg("line", { class: "now", x1: now, x2: now, y1: MARGIN.top, y2: bottom }));
      taken.push(...pointsOn([[now, MARGIN.top], [now, bottom]]));
    }
    svg.append(makeSvg("circle", { class: "choice", cx: x, cy: y, r: 6.5 }));
    const frame = { left: 4, right: width - 4, top: MARGIN.top, bottom };
    const near = [18, -12, 36, -30, 54, -48, 90, -84].flatMap((down) => [[x + 11, y + down, "start"], [x - 11, y + down, "end"]]);
    const chosen = `α = ${formatAlpha(alphas[choice])}`;
    placeText(svg, [`selected: ${chosen}`, chosen], near, taken, frame, "strong");
    if (now === null) return;
    const beside = [bottom - 8, MARGIN.top + 10, (bottom + MARGIN.top) / 2].flatMap((at) => [[now + 6, at, "start"], [now - 6, at, "end"]]);
    placeText(svg, ["slider"], beside, taken, frame);
  }
}

const LETTER = 7.2; /* width of a letter, in pixels, at most */

/* Points on a line, two pixels apart. */
function pointsOn(line) {
  return line.slice(1).flatMap(([x, y], k) => {
    const [x0, y0] = line[k];
    const steps = Math.max(1, Math.round(Math.hypot(x - x0, y - y0) / 2));
    return Array.from({ length: steps }, (_, step) => [x0 + ((x - x0) * step) / steps, y0 + ((y - y0) * step) / steps]);
  });
}

/* Write one of the texts, at the first of these places at which it covers the fewest of the points that are taken. */
function placeText(svg, texts, places, taken, frame, kind = "") {
  const covered = (box) => {
    if (box.left < frame.left || box.right > frame.right || box.top < frame.top || box.bottom > frame.bottom) return Infinity;
    return taken.filter(([x, y]) => x > box.left && x < box.right && y > box.top && y < box.bottom).length;
  };
  const options = texts.flatMap((text) => places.map(([x, y, anchor]) => {
    const start = anchor === "start" ? x : x - LETTER * text.length;
    const box = { left: start, right: start + LETTER * text.length, top: y - 13, bottom: y + 4 };
    return { text, x, y, anchor, box, price: covered(box) };
  }));
  const chosen = options.reduce((best, option) => (option.price < best.price ? option : best));
  svg.append(makeSvg("text", { class: kind, x: chosen.x, y: chosen.y, "text-anchor": chosen.anchor }, chosen.text));
  const { left, right, top, bottom } = chosen.box;
  for (let height = top; height <= bottom; height += 4) taken.push(...pointsOn([[left, height], [right, height]]));
}

function formatTick(value) {
  return (Math.abs(value) >= 1e7 ? value.toExponential() : value.toString()).replaceAll("-", MINUS);
}

/* Number of edges along the slider, one step per alpha, filled up to where the slider stands. */
class Spark {
  constructor(svg) {
    this.svg = svg;
    this.index = 0;
    new ResizeObserver(() => this.draw()).observe(svg);
  }

  setNow(index) {
    this.index = index;
    this.draw();
  }

  draw() {
    const [width, height] = [this.svg.clientWidth, this.svg.clientHeight];
    if (width === 0) return;
    const most = Math.max(1, ...PATH.n_edges);
    const step = N_ALPHAS > 1 ? (width - 18) / (N_ALPHAS - 1) : 0; /* 18 pixels: the slider's thumb */
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.replaceChildren(
      ...PATH.n_edges.map((count, k) => {
        const tall = (count / most) * (height - 2);
        const bar = { x: 9 + (k - 0.5) * step + 0.5, y: height - tall, width: Math.max(1, step - 1), height: tall };
        return makeSvg("rect", { ...bar, class: k <= this.index ? "done" : "area" });
      }),
    );
  }
}
