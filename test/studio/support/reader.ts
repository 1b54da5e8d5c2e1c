/** A caller who may only read, for a page of a server that asks nobody who they are. */

import type { Page } from 'playwright-core'

/** From now on the server says that it asks for keys, and that this caller's may only read. */
export async function asReader(page: Page): Promise<void> {
  await page.route(/\/info$/, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...await response.json() as object, auth: 'keys' } })
  })
  await page.route(/\/auth$/, (route) => route.fulfill({ json: { role: 'reader' } }))
}
