/** Pictures of the documentation: taken by night, and kept with HEDDLE_PICTURES=1. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import type { Page } from 'playwright-core'
import { expect } from 'vitest'

import { isNight } from '../../support/repeats.ts'

const folder = join(import.meta.dirname, '../../../docs/pictures')
const isMade = process.env['HEDDLE_PICTURES'] === '1'
/** By day `first-minute.test.ts` walks the same ways. */
export const isWalked = isNight || isMade

/** Takes a picture, and keeps it if that is wished. The one that is kept has the same size. */
export async function picture(page: Page, name: string): Promise<void> {
  const file = join(folder, `${name}.png`)
  const taken = await page.screenshot({ animations: 'disabled' })
  if (isMade) writeFileSync(file, taken)
  expect(sizeOf(readFileSync(file))).toEqual(sizeOf(taken))
}

/** The kept picture is as large as a window, and loads soon. */
export function expectKept(name: string): void {
  const kept = readFileSync(join(folder, `${name}.png`))
  expect(sizeOf(kept)).toEqual([1_280, 800])
  expect(kept.length).toBeLessThan(200_000)
}

/** Width and height, from the header of a PNG. */
const sizeOf = (png: Buffer) => [png.readUInt32BE(16), png.readUInt32BE(20)]
