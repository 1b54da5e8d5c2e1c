/** The texts of a lock file, whatever its form: names, versions, places. Pure. */

import { parseAllDocuments } from 'yaml'

import { RevisionError } from '../revision-error.ts'
import { isYarnTwo } from './install-command.ts'
import type { LockFile } from './install-command.ts'

/** All texts, and each with all keys. Throws RevisionError for a file that cannot be read. */
export function textsOfLock({ name, text }: LockFile): readonly string[] {
  try {
    if (name.endsWith('.json')) return textsOf(JSON.parse(text))
    if (name === 'pnpm-lock.yaml' || isYarnTwo(text)) return textsOf(documentsOf(text))
  } catch {
    throw new RevisionError('no_install', `${name} of the project cannot be read.`)
  }
  // In the others no text is longer than a line.
  return text.split(/\r\n?|\n/).map(unescaped)
}

/** The keys and the texts of a value, at any depth. */
export function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap(textsOf)
  return Object.entries(value).flatMap(([key, each]) => [key, ...textsOf(each)])
}

function documentsOf(text: string): unknown[] {
  return parseAllDocuments(text, { schema: 'failsafe' }).map((document) => {
    if (document.errors.length > 0) throw document.errors[0]!
    return document.toJS() as unknown
  })
}

function unescaped(line: string): string {
  return line.replaceAll(/\\u([0-9a-f]{4})|\\x([0-9a-f]{2})|\\([^ux])/gi,
    (_, four?: string, two?: string, plain?: string) =>
      plain ?? String.fromCharCode(Number.parseInt(four ?? two!, 16)))
}
