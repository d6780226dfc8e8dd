/** Makes pictures as large as models look at them, in formats that every model server takes. */
const MAX_SIDE = 1_568;
const MAX_BYTES = 1_500_000;
const QUALITY = 0.88;

/** The file itself where nothing is to be done or the browser cannot read it: the server says why, then. */
export async function shrinkImage(file: File): Promise<File> {
  const picture = await createImageBitmap(file, { imageOrientation: "from-image" }).catch(() => null);
  if (!picture) return file;
  try {
    const scale = Math.min(1, MAX_SIDE / Math.max(picture.width, picture.height));
    // A photo is always written anew: that turns it upright and leaves out where it was taken.
    if (file.type === "image/png" && scale === 1 && file.size <= MAX_BYTES) return file;
    const [width, height] = [picture.width, picture.height].map((side) =>
      Math.max(1, Math.round(side * scale)),
    );
    const blob = await encoded(picture, width ?? 1, height ?? 1, file.type === "image/jpeg");
    const ending = blob.type === "image/png" ? ".png" : ".jpg";
    return new File([blob], file.name.replace(/\.[^.]*$/, "") + ending, { type: blob.type });
  } finally {
    picture.close();
  }
}

/** Screenshots stay sharp as PNG, unless that is too large. */
async function encoded(picture: ImageBitmap, width: number, height: number, photo: boolean): Promise<Blob> {
  if (!photo) {
    const sharp = await drawn(picture, width, height).convertToBlob({ type: "image/png" });
    if (sharp.size <= MAX_BYTES) return sharp;
  }
  return drawn(picture, width, height, "#fff").convertToBlob({ type: "image/jpeg", quality: QUALITY });
}

function drawn(picture: ImageBitmap, width: number, height: number, ground?: string): OffscreenCanvas {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d");
  if (!context) throw new Error("no canvas");
  if (ground) {
    context.fillStyle = ground;
    context.fillRect(0, 0, width, height);
  }
  context.imageSmoothingQuality = "high";
  context.drawImage(picture, 0, 0, width, height);
  return canvas;
}
