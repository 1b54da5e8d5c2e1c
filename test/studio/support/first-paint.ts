/** When a page was painted for the first time. */

import type { Page } from 'playwright-core'

/**
 * Milliseconds from the navigation of a page to its first paint. The page itself waits: a driver
 * that looks again would evaluate a string, which the page's security policy forbids.
 */
export function firstPaintIn(page: Page): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    new PerformanceObserver((list, observer) => {
      for (const { startTime } of list.getEntriesByName('first-contentful-paint')) {
        observer.disconnect()
        resolve(startTime)
      }
    }).observe({ type: 'paint', buffered: true })
  })`)
}
