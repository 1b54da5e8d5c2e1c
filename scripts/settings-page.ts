/** Writes the tables of docs/operate/settings.md; part of `npm run generate`. */

import { readFileSync, writeFileSync } from 'node:fs'

import { withTables } from './settings-tables.ts'

const page = new URL('../docs/operate/settings.md', import.meta.url)
writeFileSync(page, withTables(readFileSync(page, 'utf8')))
