// Short names for the classes of the Studio's sheets: hashes take a tenth of the built sheet. Plain
// JavaScript, as every file of scripts/setup.mjs: Node 20 reads it as well.

import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** A class or a set of key frames, where a sheet says what it looks like. */
const mentioned = /\.([a-z][\w-]*)|@keyframes\s+([\w-]+)/gi

const letters = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'

/** `h` and a number. Words would do as well, but blockers of advertisements hide some of them. */
function shortName(at) {
  let text = letters[at % letters.length]
  for (let rest = Math.floor(at / letters.length); rest > 0;
    rest = Math.floor(rest / letters.length)) text = letters[rest % letters.length] + text
  return `h${text}`
}

/** Names by sheet and class: the same in every build of the same sheets. */
export function namesOf(sheets) {
  const names = new Map()
  for (const [sheet, text] of Object.entries(sheets).toSorted(([a], [b]) => a < b ? -1 : 1)) {
    for (const [, className, frames] of text.replaceAll(/\/\*.*?\*\//gs, '').matchAll(mentioned)) {
      const key = `${sheet} ${className ?? frames}`
      if (!names.has(key)) names.set(key, shortName(names.size))
    }
  }
  return names
}

/** Text of each sheet with classes of its own, by its path in a folder. */
export const sheetsIn = (folder) =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.module.css'))
      .map((path) => [path, readFileSync(join(folder, path), 'utf8')]),
  )
