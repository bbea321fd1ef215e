// Pictures of what the extension draws, compared with those in test/pictures. CTXLS_RENEW=1 renews those.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { screenshots, until, type World } from './world.ts';

const kept = join(import.meta.dirname, '../pictures');

/** Stored pictures are half as wide and high as the screen: a letter can still be read, and a file has a few kilobytes. */
const stored = { scale: 0.5, type: 'image/webp', quality: 0.7 };

/**
 * Pictures are compared block by block, in the mean of each color. A block of 4 by 4 points differs where a mean is off by more than
 * 28 of 255: the edges of letters, which another version of the browser draws a little differently, stay below that.
 */
const block = { size: 4, off: 28 };

/** The largest share of blocks that may differ: an age or a clock time may be another one, a missing line is more than that. */
const tolerance = 0.015;

/** How long a view may take until it looks as it should, in milliseconds. */
const patience = 15_000;

/** So many views are waited for that long: when all look different, the test shall end. */
const mostWaits = 4;

/** The font of the stored pictures, by how wide a text is in the editor's font, in hundredths of its size. */
const font = { name: 'DejaVu Sans', text: 'Context window: 61 % full', width: 1_304 };

/** Takes pictures and compares them with those that are kept. */
export class Looks {
  readonly different: string[] = [];
  readonly #world: World;
  #canvas: Page | undefined;

  constructor(world: World) {
    this.#world = world;
  }

  /** Why this machine's pictures are others than the stored ones; "" where they are not. */
  async lack(): Promise<string> {
    const width = await (await this.#page()).evaluate(`(() => {
      const context = document.createElement('canvas').getContext('2d');
      context.font = '100px system-ui';
      return context.measureText(${JSON.stringify(font.text)}).width;
    })()`);
    if (Math.abs(Number(width) - font.width) < 1) return '';
    return `the stored pictures are drawn in ${font.name}, and this machine has another font: the text is ${width} wide`;
  }

  /** Waits until the place of one or more elements looks as it should. */
  async at(name: string, ...elements: Locator[]): Promise<void> {
    const file = join(kept, `${name}.webp`);
    const before = existsSync(file) ? readFileSync(file) : undefined;
    const began = performance.now();
    const waits = this.different.length < mostWaits ? patience : 0;
    for (let last: Buffer | undefined; ; ) {
      const shot = await this.#shot(elements);
      const { small, share } = await this.#compare(shot, before);
      if (share > tolerance) {
        // A view may be on its way: it is judged once it rests, and what is kept is not how it looks.
        const rests = last?.equals(shot) ?? false;
        last = shot;
        if (!rests || (!process.env.CTXLS_RENEW && performance.now() - began < waits)) continue;
        if (process.env.CTXLS_RENEW) writeFileSync(file, Buffer.from(small, 'base64'));
        else this.different.push(`${name}: ${(100 * share).toFixed(1)}% of it differs`);
      }
      this.most = Math.max(this.most, share > tolerance ? 0 : share);
      writeFileSync(join(screenshots, `${name}.png`), shot);
      return;
    }
  }

  /** The largest share of a picture that differed and was tolerated. */
  most = 0;

  /** A picture of the smallest rectangle that has all of the elements. */
  async #shot(elements: Locator[]): Promise<Buffer> {
    let clip: { x: number; y: number; width: number; height: number } | undefined;
    await until(async () => {
      const all = await Promise.all(elements.map(element => element.boundingBox()));
      const boxes = all.filter(box => box !== null && box.width > 0 && box.height > 0) as NonNullable<
        (typeof all)[0]
      >[];
      if (boxes.length < elements.length) return false;
      const [x, y] = [Math.min(...boxes.map(box => box.x)), Math.min(...boxes.map(box => box.y))];
      const width = Math.max(...boxes.map(box => box.x + box.width)) - x;
      clip = { x, y, width, height: Math.max(...boxes.map(box => box.y + box.height)) - y };
      return true;
    }, 'all that the picture is of');
    assert(clip);
    return this.#world.page.screenshot({ clip, animations: 'disabled', caret: 'hide' });
  }

  /** Makes a shot small, and returns the share of its blocks that differ from the picture that is kept. */
  async #compare(shot: Buffer, before: Buffer | undefined): Promise<{ small: string; share: number }> {
    const given = { stored, block, shot: shot.toString('base64'), before: before?.toString('base64') };
    return (await this.#page()).evaluate(`(${compare})(${JSON.stringify(given)})`);
  }

  /** The page in which pictures are read: none of the editor's. */
  async #page(): Promise<Page> {
    this.#canvas ??= await this.#world.page.context().browser()?.newPage();
    assert(this.#canvas);
    return this.#canvas;
  }
}

/** Runs in a page, which can read and scale pictures. */
const compare = `async ({ stored, block, shot, before }) => {
  const draw = async (base64, type, scale) => {
    const image = new Image();
    image.src = 'data:' + type + ';base64,' + base64;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = Math.round(image.width * scale);
    canvas.height = Math.round(image.height * scale);
    const context = canvas.getContext('2d', { willReadFrequently: true });
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return { canvas, width: canvas.width, height: canvas.height, data: context.getImageData(0, 0, canvas.width, canvas.height).data };
  };
  const now = await draw(shot, 'image/png', stored.scale);
  const small = now.canvas.toDataURL(stored.type, stored.quality).split(',')[1];
  const then = before && await draw(before, stored.type, 1);
  if (!then || Math.abs(then.width - now.width) > 2 || Math.abs(then.height - now.height) > 2) return { small, share: 1 };
  const { size, off } = block;
  let [blocks, differ] = [0, 0];
  for (let y = 0; y + size <= Math.min(now.height, then.height); y += size) {
    for (let x = 0; x + size <= Math.min(now.width, then.width); x += size) {
      const sum = [0, 0, 0];
      for (let dy = 0; dy < size; dy++) for (let dx = 0; dx < size; dx++) for (let c = 0; c < 3; c++) {
        sum[c] += now.data[4 * ((y + dy) * now.width + x + dx) + c] - then.data[4 * ((y + dy) * then.width + x + dx) + c];
      }
      blocks++;
      if (sum.some(d => Math.abs(d) / size ** 2 > off)) differ++;
    }
  }
  return { small, share: differ / blocks };
}`;
