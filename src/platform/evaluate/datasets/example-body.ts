/** Examples in requests: JSON in which inputs and outputs stay as they came. */

import { HeddleError } from '../../../errors.ts'
import { isObject, itemsAt, jsonIn, NotJson, visitMembers } from '../../../json/index.ts'
import type { Uuid } from '../../spans/span.ts'
import { readTimeUs } from '../../spans/time.ts'
import { readUuid } from '../../../uuid-bytes.ts'
import { metadataMax, splitsIn } from './example-change.ts'
import type { ExampleInput, KeptFiles, MetadataOperation } from './sent/example-edit.ts'

/** An example in a body. */
export interface SentExample {
  readonly id: Uuid | null
  readonly dataset: Uuid | null
  readonly said: ExampleInput
}

/** Examples, and operations, of one request. */
const [examplesMax, operationsMax] = [10_000, 50]

/** The examples in a body: one, or a list of them. Throws `malformed`, `invalid` or `too_large`. */
export function examplesIn(body: Buffer): readonly SentExample[] {
  const json = readable(() => jsonIn(body))
  if (json[0] !== '['.charCodeAt(0)) return [exampleIn(json)]
  const sent: SentExample[] = []
  for (const { from, to } of itemsAt(json, 0)) {
    if (sent.length === examplesMax) {
      throw new HeddleError('too_large', `A request may have ${examplesMax} examples.`)
    }
    sent.push(exampleIn(json.subarray(from, to)))
  }
  return sent
}

/** The example in these bytes. */
export function exampleIn(json: Buffer): SentExample {
  const members = new Map<string, unknown>()
  const payload = new Map<string, Buffer | null>()
  readable(() =>
    visitMembers(json, ({ name, from, to }) => {
      const value = json.subarray(from, to)
      if (name === 'inputs' || name === 'outputs') {
        const isNull = value.toString('latin1', 0, 4) === 'null'
        payload.set(name, isNull ? null : Buffer.from(value))
      } else {
        members.set(name, JSON.parse(value.toString()))
      }
    })
  )
  const [inputs, outputs] = [payload.get('inputs'), payload.get('outputs')]
  return {
    id: idIn(members, 'id'),
    dataset: idIn(members, 'dataset_id'),
    said: {
      ...saidIn(members),
      ...inputs && { inputs },
      ...outputs && { outputs },
    },
  }
}

/** Operations on metadata: `{example_ids, operations}`. */
export function metadataChangeIn(
  body: Buffer,
): { readonly ids: readonly Uuid[]; readonly operations: readonly MetadataOperation[] } {
  const value = readable(() => JSON.parse(body.toString()) as unknown)
  if (!isObject(value)) throw wrong('body', 'an object')
  const { example_ids: ids, operations } = value
  if (!Array.isArray(operations) || operations.length > operationsMax) {
    throw wrong('operations', `a list of up to ${operationsMax}`)
  }
  return { ids: idsIn('example_ids', ids), operations: operations.map(operationOf) }
}

/** The ids in a list. */
export function idsIn(name: string, value: unknown): readonly Uuid[] {
  if (!Array.isArray(value) || value.length > examplesMax) {
    throw wrong(name, `a list of up to ${examplesMax} UUIDs`)
  }
  return [...new Set(value.map((each) => readUuid(each) ?? fail(wrong(name, 'UUIDs'))))]
}

/** Runs a function, and says that it is no JSON what it cannot read. */
export function readable<Result>(read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    if (error instanceof NotJson || error instanceof SyntaxError) throw new HeddleError('malformed')
    throw error
  }
}

function saidIn(members: ReadonlyMap<string, unknown>): ExampleInput {
  const metadata = members.get('metadata')
  const splits = splitsIn(members.get('split') ?? members.get('splits'))
  const created = members.get('created_at')
  const sourceRun = idIn(members, 'source_run_id')
  const runFiles = members.get('use_source_run_attachments')
  const operations = members.get('attachments_operations')
  return {
    ...isPresent(metadata) && { metadata: metadataIn(metadata) },
    ...splits && { splits },
    ...isPresent(created) &&
      { createdUs: readTimeUs(created) ?? fail(wrong('created_at', 'a time')) },
    ...sourceRun !== null && { sourceRun },
    ...members.get('use_source_run_io') === true && { usesRun: true },
    ...runFiles === true && { runFiles: true as const },
    ...Array.isArray(runFiles) && { runFiles: runFiles.map(String) },
    ...isObject(operations) && { kept: keptIn(operations) },
  }
}

/** Reads which attachments stay and which get new names; both default to none. */
export function keptIn({ rename, retain }: Readonly<Record<string, unknown>>): KeptFiles {
  return {
    rename: isObject(rename)
      ? Object.fromEntries(Object.entries(rename).map(([from, to]) => [from, String(to)]))
      : {},
    retain: Array.isArray(retain) ? retain.map(String) : [],
  }
}

function metadataIn(value: unknown): Readonly<Record<string, unknown>> {
  if (!isObject(value)) throw wrong('metadata', 'an object')
  if (JSON.stringify(value).length <= metadataMax) return value
  throw wrong('metadata', `at most ${metadataMax / 1024} KB of JSON`)
}

function operationOf(value: unknown): MetadataOperation {
  if (!isObject(value)) throw wrong('operations', 'objects')
  const { key, operation, values } = value
  if (typeof key !== 'string' || key === '' || key.length > 255) {
    throw wrong('operations.key', 'a text of up to 255 characters')
  }
  const kinds = { set: 'set', array_add: 'add', array_remove: 'remove' } as const
  const name = String(operation).toLowerCase()
  if (!Object.hasOwn(kinds, name)) {
    throw wrong('operations.operation', 'SET, ARRAY_ADD or ARRAY_REMOVE')
  }
  const list = Array.isArray(values) ? values.map(String) : []
  if (list.length > 1_000) throw wrong('operations.values', 'up to 1000 texts')
  return { key, operation: kinds[name as keyof typeof kinds], value: value['value'] ?? null,
    values: list }
}

function idIn(members: ReadonlyMap<string, unknown>, name: string): Uuid | null {
  const value = members.get(name)
  if (!isPresent(value)) return null
  return readUuid(value) ?? fail(wrong(name, 'a UUID'))
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}

function wrong(field: string, expected: string): HeddleError {
  return new HeddleError('invalid', `${field}: expected ${expected}.`)
}

function fail(error: HeddleError): never {
  throw error
}
