/** A screen at 200 %: nothing of it lies where nobody can scroll to. */

import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** 1280 pixels at 200 %. */
export const zoomed = { width: 640, height: 400, scale: 2 }

/** Says in words which controls and titles reach over an edge where nobody can scroll to them. */
const cutOffScript = `(() => {
  const wanted = 'a, button, input, select, textarea, h1, h2, h3, label, [role=tab], [role=row]'
  // A picture is moved, and texts for screen readers have no size.
  const excluded = '[aria-label="Graph of the assistant"] *, .unseen, .unseen *'
  const isShown = (element) =>
    element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) &&
    element.getBoundingClientRect().width > 1 && !element.matches(excluded)
  const edges = (element) => {
    for (let box = element.parentElement; box !== null; box = box.parentElement) {
      const { overflowX } = getComputedStyle(box)
      const isScrolled = ['auto', 'scroll'].includes(overflowX)
      if (isScrolled && box.scrollWidth > box.clientWidth) return [-Infinity, Infinity]
      const { left, right } = box.getBoundingClientRect()
      if (overflowX !== 'visible') return [Math.max(0, left), Math.min(innerWidth, right)]
    }
    return [0, innerWidth]
  }
  return [...document.querySelectorAll(wanted)].filter(isShown).flatMap((element) => {
    const { left, right } = element.getBoundingClientRect()
    const [least, most] = edges(element)
    if (left >= least - 1 && right <= most + 1) return []
    const name = element.getAttribute('aria-label') ?? element.textContent.slice(0, 40)
    return [element.localName + ' "' + name + '": ' + left + '–' + right + ' of ' + most]
  })
})()`

/** Fails if the page is wider than the window, or something in it is cut off. */
export async function expectNothingCutOff(page: Page, where: string): Promise<void> {
  await expect.poll(() => page.evaluate('document.documentElement.scrollWidth'), {
    message: where,
  }).toBe(zoomed.width)
  await expect.poll(() => page.evaluate(cutOffScript), { message: where }).toEqual([])
}
