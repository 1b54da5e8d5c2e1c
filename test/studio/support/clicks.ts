/** Counts the clicks that a job takes: those of a person, not those that a script makes. */

import type { Page } from 'playwright-core'

/** Begins at 0. Resolves with the clicks since then. */
export async function countClicks(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(`globalThis.clicksOfTest = 0
    addEventListener('click', ({ isTrusted }) => { if (isTrusted) clicksOfTest++ }, true)`)
  return () => page.evaluate<number>('clicksOfTest')
}
