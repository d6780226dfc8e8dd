import type { Point } from "../notes";
import type { Edge } from "./map-canvas";
import { COLOURS, colourOf, isVisible, toScreen, type Viewport } from "./viewport";

/** Draws the points and lines of the map on a canvas: elements would make every step of a drag slow. */
export interface Picture {
  points: readonly Point[];
  edges: readonly Edge[];
  tags: readonly string[];
  only: string | null;
}

const SMALL_DOTS_FROM = 400;
const NAMES = [...Array(COLOURS).keys(), "none"].map((name) => `kn-colour-${name}`);

interface Palette {
  dots: Map<string, string>;
  line: string;
}

/** The colours of the theme, as the stylesheet has them. */
function paletteOf(canvas: HTMLCanvasElement): Palette {
  const probe = document.createElement("span");
  canvas.after(probe);
  const dots = new Map(
    NAMES.map((name) => {
      probe.className = `kn-dot ${name}`;
      return [name, getComputedStyle(probe).backgroundColor];
    }),
  );
  probe.className = "kn-edge";
  const line = getComputedStyle(probe).stroke;
  probe.remove();
  return { dots, line };
}

/** How much of the map is drawn beyond the picture on each side, as a share of the picture. */
const BEYOND = 0.5;

/**
 * A function that shows the picture at a viewport. More than what is visible is drawn, so that a drag or a zoom only
 * moves what is drawn already; `final` draws it anew, and sharp.
 */
export function drawing(
  canvas: HTMLCanvasElement,
  picture: Picture,
): (viewport: Viewport, final: boolean) => void {
  const draw = painter(canvas, picture);
  let drawn: Viewport | null = null;
  return (viewport, final) => {
    const { x, y, zoom } = drawn ?? viewport;
    const ratio = viewport.zoom / zoom;
    const [dx, dy] = [viewport.x - x * ratio, viewport.y - y * ratio];
    const covered = (1 + 2 * BEYOND) * ratio - Math.max(Math.abs(dx), Math.abs(dy)) >= 1;
    if (final || !drawn || !covered) {
      draw(viewport);
      drawn = viewport;
      canvas.style.transform = "";
    } else {
      const share = 50 / (1 + 2 * BEYOND); // of the canvas, for one unit of the viewport
      canvas.style.transform = `translate(${dx * share}%, ${dy * share}%) scale(${ratio})`;
    }
  };
}

/** Each colour is a small image, drawn once and then copied. */
function painter(canvas: HTMLCanvasElement, picture: Picture): (viewport: Viewport) => void {
  const context = canvas.getContext("2d");
  const density = devicePixelRatio || 1;
  const { dots, line } = paletteOf(canvas);
  const [size, opacity] = picture.points.length > SMALL_DOTS_FROM ? [8, 0.7] : [13, 0.85];
  const images = new Map([...dots].map(([name, colour]) => [name, dotImage(colour, size, density)]));
  const half = size / 2 + 1;
  const colours = picture.points.map((point) => images.get(colourOf(point, picture.tags)));
  const isShown = (point: Point | undefined) => !picture.only || point?.tags.includes(picture.only);
  return (viewport) => {
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!context || !width || !height) return;
    resize(canvas, width * density, height * density);
    const place = (point: Point) => {
      const { x, y } = toScreen(point, viewport);
      return [((x + BEYOND) * width) / (1 + 2 * BEYOND), ((y + BEYOND) * height) / (1 + 2 * BEYOND)] as const;
    };
    context.setTransform(density, 0, 0, density, 0, 0);
    context.clearRect(0, 0, width, height);
    context.beginPath();
    for (const [from, to] of picture.edges) {
      const [a, b] = [picture.points[from], picture.points[to]];
      if (!a || !b || !isShown(a) || !isShown(b)) continue;
      context.moveTo(...place(a));
      context.lineTo(...place(b));
    }
    context.globalAlpha = 0.45;
    context.strokeStyle = line;
    context.stroke();
    picture.points.forEach((point, at) => {
      const image = colours[at];
      if (!image || !isVisible(point, viewport, 2 * BEYOND + 0.05)) return;
      const [x, y] = place(point);
      context.globalAlpha = isShown(point) ? opacity : 0.12;
      context.drawImage(image, x - half, y - half, 2 * half, 2 * half);
    });
  };
}

function resize(canvas: HTMLCanvasElement, width: number, height: number): void {
  if (canvas.width !== Math.round(width)) canvas.width = Math.round(width);
  if (canvas.height !== Math.round(height)) canvas.height = Math.round(height);
}

function dotImage(colour: string, size: number, density: number): HTMLCanvasElement {
  const image = document.createElement("canvas");
  image.width = image.height = (size + 2) * density;
  const context = image.getContext("2d");
  if (!context) return image;
  context.scale(density, density);
  context.fillStyle = colour;
  context.beginPath();
  context.arc(size / 2 + 1, size / 2 + 1, size / 2, 0, 2 * Math.PI);
  context.fill();
  return image;
}
