/** Answers of the server of which a test changes a part, such as who the caller is. */

import type { Page } from 'playwright-core'

/** From now on, good answers at an address that fits have these members instead of their own. */
export async function changeAnswer(page: Page, url: string | RegExp,
  members: object): Promise<void> {
  await page.route(url, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...await response.json() as object, ...members } })
  })
}

/** From now on the server says that it asks for keys, and that this caller's may only read. */
export async function asReader(page: Page): Promise<void> {
  await changeAnswer(page, /\/info$/, { auth: 'keys' })
  await changeAnswer(page, /\/auth$/, { role: 'reader', method: 'key' })
}
