/* Drawn elements, marks of groups, and files for the reader. */

const SVG = "http://www.w3.org/2000/svg";

function makeSvg(tag, attributes = {}, text = null) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== null) element.textContent = text;
  return element;
}

/* Hand a file to the reader without asking a server. */
function saveBlob(blob, filename) {
  const link = make("a", { download: filename });
  link.href = URL.createObjectURL(blob);
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/* Outline of a group's mark around (0, 0): shapes say the same as colors for those who cannot tell them apart. */
const SHAPES = ["circle", "square", "diamond", "triangle", "hexagon"];

function shapeOf(node) {
  const number = HAS_GROUPS ? NODES.groups[node] : -1;
  return number >= 0 ? SHAPES[number % SHAPES.length] : "circle";
}

/* Corners on the unit circle, scaled so that all shapes look equally large; null for a circle. */
const CORNERS = { circle: null, square: regular(4, 45, 1.22), diamond: regular(4, 0, 1.3), triangle: regular(3, 90, 1.42), hexagon: regular(6, 0, 1.12) };

function regular(count, degrees, scale) {
  return Array.from({ length: count }, (_, k) => {
    const angle = ((degrees + (360 * k) / count) * Math.PI) / 180;
    return [scale * Math.cos(angle), -scale * Math.sin(angle)];
  });
}

function makeShape(shape, color) {
  const svg = makeSvg("svg", { viewBox: "-10 -10 20 20", "aria-hidden": "true" });
  const corners = CORNERS[shape];
  if (corners === null) svg.append(makeSvg("circle", { r: 6.5, fill: color }));
  else svg.append(makeSvg("polygon", { points: corners.map(([x, y]) => `${6.5 * x},${6.5 * y}`).join(" "), fill: color }));
  return svg;
}
