/** Waits until something has left a page. */

import type { Locator } from 'playwright-core'

/**
 * Resolves when it is on the page no more and no dialog is open: to Playwright, as to a screen
 * reader, all that stands behind an open dialog is gone already.
 */
export async function gone(what: Locator): Promise<void> {
  await what.page().getByRole('dialog').waitFor({ state: 'detached' })
  await what.waitFor({ state: 'detached' })
}
