/** The page of settings is generated from their declaration, and so is the help of the command. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, it } from 'vitest'

import { withTables } from '../../../scripts/settings-tables.ts'
import { knownSettings } from '../../../src/settings/known-settings.ts'
import { root } from '../../support/source-tree.ts'

const page = readFileSync(join(root, 'docs/operate/settings.md'), 'utf8')

it('The page of settings has the tables that `npm run generate` writes.', () => {
  expect(page).toBe(withTables(page))
})

it('The page of settings has each setting once, with its words.', () => {
  for (const { flags, variable } of Object.values(knownSettings)) {
    expect(page.split(`| \`${flags}\` | \`${variable}\` |`)).toHaveLength(2)
  }
  expect(page).toContain('One of `debug`, `info`, `warn`, `error`, `silent`.')
})

it('A page without a place for the tables is refused.', () => {
  expect(() => withTables('# All settings\n')).toThrow('must have the lines')
})
