/** The scripts that set up a fresh clone. */

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'

const folder = resolve(import.meta.dirname, '../../../scripts')

it('are plain JavaScript, since the Node that runs npm may be 20', () => {
  const found = ['setup.mjs']
  // The list grows while it is walked.
  for (const name of found) {
    if (!name.endsWith('.mjs')) continue
    const text = readFileSync(resolve(folder, name), 'utf8')
    const more = [...text.matchAll(/(?:from|import\() ?'\.\/([^']+)'/g)].map(([, path]) => path!)
    found.push(...more.filter((path) => !found.includes(path)))
  }
  expect(found).toContain('studio.mjs')
  expect(found.filter((name) => !name.endsWith('.mjs'))).toEqual([])
})
