/** What is compared: everything that can be seen of a thread, with names instead of ids. */

import { AssertionError } from 'node:assert'

import type { Part, Ran } from './place.ts'

const ids = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{32}\b/g

/** Names ids in the order in which they are seen, which is the same for server and twin. */
export class Names {
  readonly #names = new Map<string, string>()

  of(value: unknown): unknown {
    if (typeof value === 'string') return value.replaceAll(ids, (id) => this.#name(id))
    if (Array.isArray(value)) return value.map((item) => this.of(item))
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value).filter(([, member]) => member !== undefined)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [this.of(key), this.of(member)] as const)
    return Object.fromEntries(entries)
  }

  /**
   * What a run streamed, in order per namespace: the order between namespaces is chance, and so is
   * how far the others got when one threw. Ids that the state does not show are ignored.
   */
  seen({ parts, result }: Ran): unknown {
    // Intended: its values are those of its checkpoint; the state may have more.
    const { __interrupt__, __error__ } = result as Record<string, unknown>
    const answer = this.of({ __interrupt__, __error__ })
    if (parts.at(-1)?.event === 'error') return { error: parts.at(-1), answer }
    const named = <Seen>(it: Seen) =>
      JSON.parse(JSON.stringify(it)
        .replaceAll(ids, (id) => this.#names.get(id) ?? '#?')) as Seen
    // Grouped by id: namespaces that the state does not show have no names to tell them apart.
    const spaces = Map.groupBy(parts, ({ event }) => event.split('|').slice(1).join('|'))
    const seen = [...spaces].map(([space, own]) =>
      JSON.stringify([named(space), inTurns(own.map(named))])
    )
    return { seen: seen.sort().map((one) => JSON.parse(one) as unknown), answer }
  }

  #name(id: string): string {
    const known = this.#names.get(id) ?? `#${this.#names.size + 1}`
    this.#names.set(id, known)
    return known
  }
}

/**
 * Whether both failed, one of them of several errors at once: it is chance whether tasks that throw
 * beside each other do so in one turn, or the first one aborts the others.
 */
export function failedOfMany(...both: readonly Ran[]): boolean {
  const errors = both.map(({ result }) => (result as { __error__?: { error?: string } }).__error__)
  return errors.every(Boolean) && errors.some((each) => each?.error === 'AggregateError')
}

/** Sorts what tasks that ran in parallel streamed. */
function inTurns(parts: readonly Part[]): Part[] {
  let turn = 0
  const besides = ({ event, data }: Part) =>
    event.startsWith('updates') || Object.hasOwn(data as object, '__interrupt__')
  const turns = Map.groupBy(parts, (part) => besides(part) ? turn : ++turn)
  const keyOf = (part: Part) => JSON.stringify([besides(part), part])
  return [...turns.values()].flatMap((own) =>
    own.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  )
}

export function requireSame(served: unknown, twin: unknown): void {
  const found = differences(served, twin)
  if (found.length > 0) throw new AssertionError({ message: found.slice(0, seenMax).join('\n') })
}

const seenMax = 8

/** One line per difference between two values. */
function differences(served: unknown, twin: unknown, path = ''): string[] {
  if (Object.is(served, twin)) return []
  const bothObjects = [served, twin].every((side) => typeof side === 'object' && side !== null)
  if (!bothObjects || Array.isArray(served) !== Array.isArray(twin)) {
    return [`${path}: ${textOf(served)} served, ${textOf(twin)} in process`]
  }
  const [one, other] = [served, twin] as Record<string, unknown>[]
  return [...new Set([...Object.keys(one!), ...Object.keys(other!)])].flatMap((key) =>
    differences(one![key], other![key], `${path}/${key}`)
  )
}

function textOf(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 400 ? `${text.slice(0, 400)}…` : text
}
