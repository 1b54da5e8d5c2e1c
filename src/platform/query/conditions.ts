/** Combines the bounds and conditions of a question into one filter. */

import { readUuid } from '../../uuid-bytes.ts'
import type { RunsQuestion } from './question.ts'
import type { Comparison, Filter, NumberField, TextField } from './filter/filter.ts'
import { readFilter, readWords } from './filter/read-filter.ts'

const root: Filter = { kind: 'root' }

/** The bounds and the filter of a question together. Throws `malformed` for a bad filter. */
export function conditionsOf(question: RunsQuestion): Filter {
  const { trace, parent, type, fromUs, toUs, endFromUs, endToUs, failed, rootsOnly, isRoot,
    examples, text, filter, version } = question
  return { kind: 'all', of: [
    ...equal('trace', trace),
    ...equal('parent', parent),
    ...equal('type', type?.toLowerCase()),
    ...bound('startUs', 'gte', fromUs),
    ...bound('startUs', 'lt', toUs),
    ...bound('endUs', 'gte', endFromUs),
    ...bound('endUs', 'lt', endToUs),
    ...failed === undefined ? [] : failure(failed, version),
    ...rootsOnly === true || isRoot === true ? [root] : [],
    ...isRoot === false ? [{ kind: 'not', of: root } satisfies Filter] : [],
    ...examples === undefined
      ? []
      : [{ kind: 'any', of: examples.flatMap((each) => equal('example', each)) } satisfies Filter],
    ...text === undefined ? [] : [readWords(text)],
    ...optionalFilter(filter),
  ] }
}

/** The filter of a text; empty for a blank text. */
export function optionalFilter(text: string | undefined): readonly Filter[] {
  return text === undefined || text.trim() === '' ? [] : [readFilter(text)]
}

/** Filter for failed or successful spans. In the second API, a successful span must have ended. */
function failure(failed: boolean, version: 1 | 2): readonly Filter[] {
  const error: Filter = { kind: 'present', field: 'error' }
  if (failed) return [error]
  return [{ kind: 'not', of: error },
    ...version === 2 ? [{ kind: 'present', field: 'endUs' } satisfies Filter] : []]
}

function equal(field: TextField, value: string | undefined): readonly Filter[] {
  if (value === undefined) return []
  return [{ kind: 'text', field, op: 'eq', value: field === 'type'
    ? value
    : readUuid(value) ?? value }]
}

function bound(field: NumberField, op: Comparison, value: number | undefined): readonly Filter[] {
  return value === undefined ? [] : [{ kind: 'number', field, op, value }]
}
