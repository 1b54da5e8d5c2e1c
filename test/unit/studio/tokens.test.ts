/** Every pair of colours that the Studio uses can be read, by day and by night. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

const text = readFileSync(join(import.meta.dirname, '../../../src/studio/design/tokens.css'),
  'utf8')
const tokens = new Map(
  [...text.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);/g)]
    .map(([, name, light, dark]) => [name!, { light: light!, dark: dark! }] as const),
)
tokens.set('on-indigo', { light: '#ffffff', dark: '#ffffff' })

/** The luminance of a colour, from WCAG 2.2. */
function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const share = parseInt(colour.slice(at, at + 2), 16) / 255
    return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
}

function contrast(one: string, other: string): number {
  const [low, high] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
  return (high! + 0.05) / (low! + 0.05)
}

const grounds = ['ground', 'surface', 'raised', 'sunken', 'hover']
const inks = ['ink', 'ink-2', 'ink-3']
const dyes = ['indigo', 'teal', 'weld', 'madder', 'woad']
const pairs = [
  ...inks.flatMap((ink) => grounds.map((ground) => [ink, ground, 4.5] as const)),
  ...dyes.flatMap((dye) =>
    ['ground', 'surface', 'raised', `${dye}-wash`].map((ground) => [dye, ground, 4.5] as const)
  ),
  ...dyes.map((dye) => ['ink', `${dye}-wash`, 4.5] as const),
  ['on-indigo', 'indigo-fill', 4.5] as const,
  ['on-indigo', 'indigo-fill-hover', 4.5] as const,
  ...['ground', 'surface', 'raised'].map((ground) => ['control', ground, 3] as const),
]

describe('the colours', () => {
  it.each(pairs)('%s on %s has a contrast of %d', (ink, ground, least) => {
    for (const scheme of ['light', 'dark'] as const) {
      expect(contrast(tokens.get(ink)![scheme], tokens.get(ground)![scheme]))
        .toBeGreaterThanOrEqual(least)
    }
  })
})
