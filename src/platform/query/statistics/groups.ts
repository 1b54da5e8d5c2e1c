/** Groups of spans: by name or type, by tag, or by the value of a key of their metadata. */

import { metadataOf } from '../payload/content.ts'
import type { Content } from '../payload/content.ts'
import type { Payloads } from '../payload/payloads.ts'
import { isKeptKey } from '../../spans/otel-keys.ts'
import type { SpanHead, Term } from '../../spans/span.ts'
import { termOf } from '../../spans/term.ts'
import type { GroupBy } from '../question.ts'
import type { Counter } from './count.ts'
import type { CellKey } from './roll-up.ts'
import { addHead, addTally, emptyTally } from './tally.ts'
import type { KeptTally, Tally } from './tally.ts'

/** Values of a key that are known by their term. */
const knownMax = 1_000
/** Characters of the name of a group. */
const nameMax = 1_000

/** True if roll-ups can tell the groups. */
export function areOfCells({ attribute }: GroupBy): boolean {
  return attribute === 'name' || attribute === 'run_type'
}

/** The groups that a span is in. */
export type GroupsOf = (heads: readonly SpanHead[]) => Promise<readonly (readonly string[])[]>

/** Finds the groups of spans. Payloads are opened where the head does not tell. */
export function groupsOf({ attribute, path = '' }: GroupBy, payloads: Payloads): GroupsOf {
  if (attribute === 'tag') {
    return (heads) => namesIn(payloads, heads, tagsOf)
  }
  if (attribute === 'metadata') return metadataGroups(path, payloads)
  return async (heads) => heads.map((head) => [cellGroup(attribute, head)])
}

/** The group of a cell. */
function cellGroup(attribute: GroupBy['attribute'],
  { name, type }: Pick<CellKey, 'name' | 'type'>): string {
  return (attribute === 'name' ? name : type) ?? ''
}

/** The first groups that are found. Spans of other groups are not counted. */
export class GroupNames {
  readonly #names = new Set<string>()
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  /** True if the group is counted. */
  admits(group: string): boolean {
    if (this.#names.size < this.#max) this.#names.add(group)
    return this.#names.has(group)
  }
}

/** Tallies spans by group, up to the bound on groups. */
export class GroupTallies implements Counter {
  readonly tallies = new Map<string, Tally>()
  readonly #attribute: GroupBy['attribute']
  readonly #groupsOf: GroupsOf
  readonly #names: GroupNames

  constructor(attribute: GroupBy['attribute'], groups: GroupsOf, names: GroupNames) {
    this.#attribute = attribute
    this.#groupsOf = groups
    this.#names = names
  }

  cell(_startUs: number, key: CellKey | undefined, tally: KeptTally): void {
    if (key === undefined) return
    const own = this.#of(cellGroup(this.#attribute, key))
    if (own !== undefined) addTally(own, tally)
  }

  async heads(heads: readonly SpanHead[]): Promise<void> {
    const groups = await this.#groupsOf(heads)
    for (const [index, head] of heads.entries()) {
      for (const group of groups[index]!) {
        const tally = this.#of(group)
        if (tally !== undefined) addHead(tally, head)
      }
    }
  }

  #of(group: string): Tally | undefined {
    const found = this.tallies.get(group)
    if (found !== undefined || !this.#names.admits(group)) return found
    const made = emptyTally()
    this.tallies.set(group, made)
    return made
  }
}

/** The groups with the most spans. */
export function largest(tallies: ReadonlyMap<string, Tally>,
  limit: number): readonly (readonly [string, Tally])[] {
  return [...tallies].toSorted(([a, one], [b, other]) =>
    other.count - one.count || (a < b ? -1 : 1)
  ).slice(0, limit)
}

function tagsOf(content: Content): readonly string[] {
  const tags = content.value('tags')
  return Array.isArray(tags) ? [...new Set(tags.flatMap(groupName))] : []
}

async function namesIn(payloads: Payloads, heads: readonly SpanHead[],
  namesOf: (content: Content) => readonly string[]): Promise<(readonly string[])[]> {
  const names: (readonly string[])[] = []
  for await (const [, content] of payloads.of(heads)) names.push(namesOf(content))
  return names
}

/** A value that was seen before is known by its term, and its payload stays closed. */
function metadataGroups(key: string, payloads: Payloads): GroupsOf {
  const groupIn = (content: Content) => groupName(metadataOf(content)[key])
  if (isKeptKey(key)) return (heads) => namesIn(payloads, heads, groupIn)
  const known = new Map<Term, string>()
  const hasKey = termOf.metadataKey(key)
  return async (heads) => {
    const groups = heads.map(({ terms }) => {
      if (!terms.includes(hasKey)) return []
      const term = terms.find((each) => known.has(each))
      return term === undefined ? undefined : [known.get(term)!]
    })
    const open = heads.filter((_, index) => groups[index] === undefined)
    const opened = await namesIn(payloads, open, groupIn)
    for (const [group] of opened) {
      if (group !== undefined && known.size < knownMax) {
        known.set(termOf.metadata(key, group), group)
      }
    }
    return groups.map((group) => group ?? opened.shift()!)
  }
}

/** A scalar as a name, as filters compare it. */
function groupName(value: unknown): readonly string[] {
  const isScalar = typeof value === 'string' || typeof value === 'number' ||
    typeof value === 'boolean'
  return isScalar ? [String(value).slice(0, nameMax)] : []
}
