/** A store whose scans leave out all that a plan allows them to. */

import type { Plan, Range, RangeField, SpanHead, SpanStore } from '../../src/platform/index.ts'

/** The same store. A condition in a plan that is not necessary loses spans here. */
export function strictScan(store: SpanStore): SpanStore {
  return {
    ...store,
    async *scan(plan, after) {
      for await (const { heads, looked } of store.scan(plan, after)) {
        yield { heads: heads.filter((head) => meetsPlan(plan, head)), looked }
      }
    },
  }
}

function meetsPlan({ rootsOnly, terms, ranges, type, name }: Plan, head: SpanHead): boolean {
  return (!rootsOnly || head.root === true) && terms.every((term) => head.terms.includes(term)) &&
    ranges.every((range) => meetsRange(range, head)) && (type === null || head.type === type) &&
    (name === null || head.name === name)
}

function meetsRange({ field, op, value }: Range, head: SpanHead): boolean {
  const actual = valueOf(field, head)
  if (actual === null) return false
  if (op === '=') return actual === value
  if (op === '<' || op === '<=') return actual < value || (op === '<=' && actual === value)
  return actual > value || (op === '>=' && actual === value)
}

function valueOf(field: RangeField, head: SpanHead): number | null {
  if (field !== 'latencyUs') return head[field]
  return head.endUs === null ? null : head.endUs - head.startUs
}
