/** A screen as it looks by day and by night, wide and on a phone. */

import { expect } from 'vitest'

import { expectQuiet } from './tab.ts'
import type { BrowserInUse, Tab } from './tab.ts'

/** Opens an address, waits for it in each look, and looks for violations of accessibility. */
export async function expectGoodLooks(browser: BrowserInUse, url: string,
  ready: (tab: Tab) => Promise<unknown>): Promise<void> {
  const tab = await browser.open(url, { reducedMotion: true })
  for (const width of [1280, 390]) {
    await tab.page.setViewportSize({ width, height: 800 })
    for (const colorScheme of ['light', 'dark'] as const) {
      await tab.page.emulateMedia({ colorScheme })
      await ready(tab)
      expect(await tab.violations()).toEqual([])
    }
  }
  expectQuiet(tab)
  await tab.close()
}
