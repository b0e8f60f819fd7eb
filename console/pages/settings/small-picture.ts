/** A picture cut to a square and made small in the browser, so that visitors load little. */
const SIDE_PX = 128;
/** As the service takes at most, as text. */
const MOST_CHARACTERS = 53_000;

/** `data:image/png;base64,…`, or WebP where that is too large; null: the browser cannot read the file. */
export async function smallPicture(file: File): Promise<string | null> {
  // No address is made of the file: the page's policy would not show it.
  const image = await createImageBitmap(file).catch(() => null);
  if (image === null) return null;
  const side = Math.min(image.width, image.height);
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = SIDE_PX;
  const [left, top] = [(image.width - side) / 2, (image.height - side) / 2];
  canvas.getContext('2d')!.drawImage(image, left, top, side, side, 0, 0, SIDE_PX, SIDE_PX);
  const png = canvas.toDataURL('image/png');
  return png.length <= MOST_CHARACTERS ? png : canvas.toDataURL('image/webp', 0.85);
}
