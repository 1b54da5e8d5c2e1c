/** A screen as it looks in each colour and each width. */

import { expect } from 'vitest'

import { isNight } from '../../support/repeats.ts'
import { expectQuiet } from './tab.ts'
import type { BrowserInUse, Tab } from './tab.ts'

/** Each colour and each width; every-view.night.ts has each colour in each width. */
export const looks: readonly { readonly colours: 'light' | 'dark'; readonly width: number }[] = [
  { colours: 'light', width: 1_280 },
  { colours: 'dark', width: 390 },
]

/**
 * Opens an address, waits for it in each look, and looks for violations of accessibility. By day in
 * one look: a phone in the dark shows most faults, and access.test.ts sees each screen in two.
 */
export async function expectGoodLooks(browser: BrowserInUse, url: string,
  ready: (tab: Tab) => Promise<unknown>): Promise<void> {
  const tab = await browser.open(url, { reducedMotion: true })
  for (const { colours: colorScheme, width } of isNight ? looks : looks.slice(1)) {
    await tab.page.setViewportSize({ width, height: 800 })
    await tab.page.emulateMedia({ colorScheme })
    await ready(tab)
    expect(await tab.violations()).toEqual([])
  }
  expectQuiet(tab)
  await tab.close()
}
