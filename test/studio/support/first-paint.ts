/** When a page is painted for the first time. */

import { expectQuiet } from './tab.ts'
import type { BrowserInUse } from './tab.ts'

/** The page itself waits: to look again, a driver evaluates a string, which its policy forbids. */
const firstPaint = `new Promise((resolve) => {
  new PerformanceObserver((list, observer) => {
    for (const { startTime } of list.getEntriesByName('first-contentful-paint')) {
      observer.disconnect()
      resolve(startTime)
    }
  }).observe({ type: 'paint', buffered: true })
})`

/**
 * Milliseconds from the navigation to the first paint of an address, in a browser that has seen
 * nothing of it. A page of the API has no icon, and is blank.
 */
export async function firstPaintMs(browser: BrowserInUse, url: string): Promise<number> {
  const tab = await browser.open(url, { expected: /status of 404/ })
  const ms = await tab.page.evaluate<number>(firstPaint)
  expectQuiet(tab)
  await tab.close()
  return ms
}
