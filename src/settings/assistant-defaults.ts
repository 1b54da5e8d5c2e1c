/** Defaults of the graphs' own assistants, read from JSON. Pure. */

import type { Kind } from './setting-kind.ts'

/** Config and context of the assistant of a graph. */
export interface AssistantDefaults {
  readonly config: Readonly<Record<string, unknown>>
  /** Any JSON; `{}` if none is given. */
  readonly context: unknown
}

/**
 * Defaults by graph id: `{"agent": {"configurable": {…}, "context": {…}}}`. All of an entry but
 * `context` is its config. Faults name fields, not values, as there may be secrets among them.
 */
export const assistantDefaults: Kind<ReadonlyMap<string, AssistantDefaults>> = {
  read(text) {
    const entries = entriesOf(text)
    if (entries === undefined) {
      return { faults: ['must be a JSON object from graph ids to {"configurable": …, ' +
        '"context": …}'] }
    }
    const faults = entries.flatMap(([graphId, entry]) => faultsOf(graphId, entry))
    if (faults.length > 0) return { faults }
    return { value: new Map(entries.map(([graphId, entry]) => {
      const { context = {}, ...config } = isObject(entry) ? entry : {}
      return [graphId, { config, context }]
    })) }
  },
}

/** Rules for the known fields of a config: the same as in requests. */
const fields: Readonly<Record<string, readonly [rule: string, isGood: (it: unknown) => boolean]>> =
  {
    tags: ['a list of texts', (it) => Array.isArray(it) && it.every((tag) => isText(tag))],
    recursion_limit: ['a whole number from 1', isCount],
    max_concurrency: ['a whole number from 1', isCount],
    configurable: ['an object', isObject],
    metadata: ['an object', isObject],
  }

function entriesOf(text: string): [string, unknown][] | undefined {
  try {
    const parsed: unknown = JSON.parse(text)
    return isObject(parsed) ? Object.entries(parsed) : undefined
  } catch {
    return undefined
  }
}

function faultsOf(graphId: string, entry: unknown): string[] {
  if (!isObject(entry)) return [`must have an object at ${graphId}`]
  return Object.entries(entry).flatMap(([name, value]) => {
    const [rule, isGood] = Object.hasOwn(fields, name) ? fields[name]! : ['', () => true]
    return isGood(value) ? [] : [`must have ${rule} at ${graphId}.${name}`]
  })
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 1
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
