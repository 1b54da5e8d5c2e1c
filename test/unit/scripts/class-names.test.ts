/** Names of the classes of the Studio in its built sheet. */

import { expect, it } from 'vitest'

const script = new URL('../../../scripts/class-names.mjs', import.meta.url).href
const { namesOf } = await import(script) as {
  readonly namesOf: (sheets: Readonly<Record<string, string>>) => ReadonlyMap<string, string>
}

it('gives each class of each sheet a short name of its own, whatever the order', () => {
  const sheets = {
    'b.module.css': '.row > .name, .row:hover { color: red } @keyframes turn { to { top: .5px } }',
    'a.module.css': '/* .gone is none. */ .row { animation: turn } .second-line { top: 0 }',
  }
  const names = namesOf(sheets)
  expect([...names]).toEqual([['a.module.css row', 'h0'], ['a.module.css second-line', 'h1'], [
    'b.module.css row',
    'h2',
  ], ['b.module.css name', 'h3'], ['b.module.css turn', 'h4']])
  expect(namesOf(Object.fromEntries(Object.entries(sheets).toReversed()))).toEqual(names)
})

it('stays short for as many classes as there will ever be', () => {
  const sheet = Array.from({ length: 3_000 }, (_, at) => `.class${at} {}`).join('\n')
  const names = [...namesOf({ 'a.module.css': sheet }).values()]
  expect(new Set(names)).toHaveLength(3_000)
  expect(names.every((name) => /^h[0-9a-z]{1,2}$/i.test(name))).toBe(true)
})
