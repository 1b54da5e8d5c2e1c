/** Faults that scripts plant in the files of a checkout to see which test finds them. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import type { Fault } from './fault-list.ts'

/**
 * Plants a fault in a checkout. Returns a function that removes it. Throws if the list does not fit
 * the file any more.
 */
export function plantFault(root: string, { name, file, before, after }: Fault): () => void {
  const path = join(root, file)
  const text = readFileSync(path, 'utf8')
  const times = text.split(before).length - 1
  if (times !== 1) throw new Error(`${name}: ${file} has the text ${times} times.`)
  writeFileSync(path, text.replace(before, () => after))
  return () => writeFileSync(path, text)
}

/** Returns the faults with one of the texts in their name or file; all without a text. */
export function chooseFaults(faults: readonly Fault[], texts: readonly string[]): readonly Fault[] {
  return faults.filter(({ name, file }) =>
    texts.length === 0 || texts.some((text) => name.includes(text) || file.includes(text))
  )
}
