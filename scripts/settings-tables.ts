/** The tables of the settings page, from the declaration of the settings. Pure. */

import { knownSettings } from '../src/settings/known-settings.ts'
import { settingGroups } from '../src/settings/setting.ts'
import type { Setting } from '../src/settings/setting.ts'

const [begin, end] = [
  '<!-- The tables come from src/settings/known-settings.ts: npm run generate writes them. -->',
  '<!-- The end of the tables. -->',
]

/** The page with its tables renewed. Throws an Error if the page has no place for them. */
export function withTables(page: string): string {
  const [before, rest = ''] = page.split(begin)
  const [, after] = rest.split(end)
  if (after === undefined) throw new Error(`The page of settings must have the lines ${begin} …`)
  return `${before}${begin}\n\n${tables()}\n${end}${after}`
}

function tables(): string {
  const settings: readonly Setting<unknown>[] = Object.values(knownSettings)
  return Object.entries(settingGroups).map(([name, { heading, pages }]) => {
    const links = pages.map((page) => `[\`${page}.md\`](${page}.md)`).join(', ')
    const rows = settings.filter(({ group }) => group === name).map(rowOf).join('')
    return `## ${heading}\n\nMore: ${links}.\n\n| option | variable | what it does | default |\n` +
      `|---|---|---|---|\n${rows}`
  }).join('\n')
}

function rowOf({ flags, variable, message, usual, kind: { choices = [] } }: Setting<unknown>) {
  const words = choices.map((word) => `\`${word}\``)
  const isSaid = words.every((word) => message.includes(word))
  const what = isSaid ? message : `${message} One of ${words.join(', ')}.`
  return `| \`${flags}\` | \`${variable}\` | ${what} | ${usual} |\n`
}
