/** One span in one request of a client, read and checked. */

import type { RawOperation } from './body/request-body.ts'
import { HeddleError } from '../../errors.ts'
import type { PayloadPart } from '../spans/payload.ts'
import { payloadFields } from '../spans/payload.ts'
import { noFields } from '../spans/span.ts'
import type { SpanFields, SpanWrite, Uuid } from '../spans/span.ts'
import { filedStartUs } from '../spans/trace-place.ts'
import { readTimeUs } from '../spans/time.ts'
import { readUuid } from '../../uuid-bytes.ts'
import { readDottedOrder } from '../spans/dotted-order.ts'
import type { DottedOrder } from '../spans/dotted-order.ts'
import { firstTokenOf } from './first-token.ts'
import { jsonIn, NotJson, stringAt, visitMembers } from '../../json/index.ts'
import { readMetadata } from './metadata.ts'
import type { Metadata } from './metadata.ts'
import { readTags } from './tags.ts'
import { termsOfSpan } from './terms-of-span.ts'
import { noUsage, usageOfOutputs, withSums } from '../spans/usage.ts'
import type { Usage } from '../spans/usage.ts'

/** The project that an operation names. */
export type ProjectInput =
  | { readonly by: 'id'; readonly id: Uuid }
  | { readonly by: 'name'; readonly name: string }

/** Place of a span in its trace. Its text is null if readers make it. */
export type OrderInput = Omit<DottedOrder, 'text'> & { readonly text: string | null }

/** An operation, before it is known where its span is. Null is what it does not say. */
export interface Operation extends Pick<SpanWrite, 'kind' | 'terms' | 'indexed'> {
  readonly id: Uuid
  readonly order: OrderInput | null
  readonly trace: Uuid | null
  readonly parent: Uuid | null
  readonly startUs: number | null
  readonly project: ProjectInput | null
  /** All but those that say where it is in its trace. */
  readonly fields: SpanFields
  readonly members: PayloadPart['members']
  /** Usage as the client sent it: sums are in the fields. */
  readonly usage: Usage
  /** Sentences about parts that were too long and were cut. */
  readonly cut: readonly string[]
}

/** Members that an operation may have. */
const membersMax = 1000
/** Characters of a name. */
const nameMax = 1000

const [quote, letterN] = [34, 110]

/** Members that the head keeps, or that a reader works out. */
const inHead = new Set(['id', 'trace_id', 'dotted_order', 'parent_run_id', 'name', 'run_type',
  'start_time', 'end_time', 'session_id', 'session_name', 'address', 'reference_example_id',
  'status', 'execution_order', 'child_execution_order'])
const inPayload: ReadonlySet<string> = new Set(payloadFields.filter((name) => name !== 'rest'))

/** Values by their names, as valid JSON. Nulls are left out: they say nothing. */
type Values = ReadonlyMap<string, Buffer>

/** Reads an operation. Throws `invalid`, with a message that quotes nothing of it. */
export function readOperation(raw: RawOperation): Operation {
  const values = valuesOf(raw)
  const id = raw.id === null ? uuidIn(values, 'id') : readUuid(raw.id) ?? null
  if (id === null) throw invalid('id', 'is no UUID')
  const orderText = textIn(values, 'dotted_order')
  const said = orderText === null ? null : readDottedOrder(orderText)
  if (said !== null && said.id !== id) throw invalid('dotted_order', 'ends with another id')
  const [trace, parent] = [uuidIn(values, 'trace_id'), uuidIn(values, 'parent_run_id')]
  const startUs = timeIn(values, 'start_time')
  const order = orderIn({ id, said, trace, parent, startUs, filedUs: raw.filedUs })
  const cut: string[] = []
  const metadata = readMetadata(values.get('extra'), cut)
  const usage = usageIn(values, metadata)
  const fields = fieldsOf(values, metadata, withSums(usage), cut)
  const { terms, indexed } = termsOfSpan({ ...fields, tags: readTags(values.get('tags'), cut),
    metadata: metadata.scalars })
  return { kind: raw.kind, id, order, trace, parent, startUs, project: projectIn(values), fields,
    terms, indexed, members: membersOf(values), usage, cut }
}

/** Fields of an operation that decide the place of its span. */
interface PlaceInput extends Pick<Operation, 'id' | 'trace' | 'parent' | 'startUs'> {
  readonly said: DottedOrder | null
  /** Of OpenTelemetry: where its trace is filed. */
  readonly filedUs: number | undefined
}

/**
 * The order of an operation. One that does not begin with its trace says nothing of where the trace
 * is filed: such traces are those of OpenTelemetry, also where their spans come by another way. A
 * segment alone is what readers make of the start, so it is not kept.
 */
function orderIn({ id, said, trace, parent, startUs, filedUs }: PlaceInput): OrderInput | null {
  const isElsewhere = said !== null && trace !== null && trace !== said.trace
  const traceStartUs = filedUs ?? (isElsewhere ? filedStartUs(trace) : undefined)
  if (traceStartUs === undefined) return said
  const start = said?.startUs ?? startUs
  const own = trace ?? said?.trace
  if (start === null || own === undefined) return said
  return { id, startUs: start, trace: own, traceStartUs,
    parent: filedUs === undefined ? parent ?? said!.parent : parent,
    text: said === null || said.parent === null ? null : said.text }
}

function valuesOf({ kind, main, apart }: RawOperation): Values {
  const values = new Map<string, Buffer>()
  const add = (name: string, bytes: Buffer) => {
    if (!isNull(bytes)) values.set(name, bytes)
  }
  let members = 0
  valid('The operation', () =>
    visitMembers(main, ({ name, from, to }) => {
      if (++members > membersMax) throw invalid('The operation', 'has too many members')
      add(name, main.subarray(from, to))
    }))
  for (const [name, bytes] of apart) {
    add(name, valid(inPayload.has(name) ? name : 'A part', () => jsonIn(bytes)))
  }
  // A client that creates a span before it ends has these already, and empty.
  if (kind === 'post' && !values.has('end_time')) {
    for (const name of ['outputs', 'events']) if (isEmpty(values.get(name))) values.delete(name)
  }
  return values
}

function valid<T>(what: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof NotJson) throw invalid(what, 'is no valid JSON')
    throw error
  }
}

/** Types of runs. */
const runTypes = new Set(['chain', 'llm', 'tool', 'retriever', 'embedding', 'prompt', 'parser'])

function typeIn(values: Values): string | null {
  const type = textIn(values, 'run_type')?.toLowerCase() ?? null
  if (type === null || type === '' || runTypes.has(type)) return type
  throw invalid('run_type', `is none of ${[...runTypes].join(', ')}`)
}

/** True if it may be a call of a model, for its type is not known. Only models use tokens. */
function mayBeModel(type: string | null): boolean {
  return type === null || type === 'llm'
}

/**
 * Usage of an operation. Where the type is not known, only what names tokens is looked into. The
 * client for Python puts the usage in outputs into the metadata as well, also if a chain passes on
 * what its model said.
 */
function usageIn(values: Values, metadata: Metadata): Usage {
  const outputs = values.get('outputs')
  const type = typeIn(values)
  if (mayBeModel(type)) {
    return (outputs && usageOfOutputs(outputs)) ?? metadata.usage ?? noUsage
  }
  const isPassedOn = type === 'chain' && metadata.usage !== undefined && outputs !== undefined &&
    usageOfOutputs(outputs) !== undefined
  return isPassedOn ? noUsage : metadata.usage ?? noUsage
}

function fieldsOf(values: Values, metadata: Metadata, usage: Usage, cut: string[]): SpanFields {
  const name = textIn(values, 'name')
  const type = typeIn(values)
  if (name !== null && name.length > nameMax) cut.push(`name: cut to ${nameMax} characters.`)
  const events = values.get('events')
  const hasFailed = values.has('error') && values.get('error')!.length > '""'.length
  return { ...noFields, ...usage, name: name?.slice(0, nameMax) ?? null, type,
    endUs: timeIn(values, 'end_time'), failed: hasFailed || null,
    firstTokenUs: (mayBeModel(type) && events ? firstTokenOf(events) : undefined) ?? null,
    thread: metadata.thread, example: uuidIn(values, 'reference_example_id') }
}

function projectIn(values: Values): ProjectInput | null {
  const id = uuidIn(values, 'session_id')
  if (id !== null) return { by: 'id', id }
  const address = textIn(values, 'address')
  const name = address ? projectOfAddress(address) : textIn(values, 'session_name')
  if (name === null || name === '') return null
  if (name.length > nameMax) throw invalid('session_name', `has more than ${nameMax} characters`)
  return { by: 'name', name }
}

/** The project of an address: `<agent>/<environment>`; the address itself in other forms. */
export function projectOfAddress(address: string): string {
  const [, agent, environment] = /^lrn:agents\/([^/]+)\/environments\/([^/]+)$/.exec(address) ?? []
  return agent === undefined ? address : `${agent}/${environment}`
}

function membersOf(values: Values): PayloadPart['members'] {
  const members: Record<string, Buffer> = {}
  const rest: Buffer[] = []
  for (const [name, bytes] of values) {
    if (inPayload.has(name)) members[name] = bytes
    else if (!inHead.has(name) && !(name === 'child_runs' && isEmpty(bytes))) {
      rest.push(Buffer.from(`${rest.length === 0 ? '{' : ','}${JSON.stringify(name)}:`), bytes)
    }
  }
  if (rest.length > 0) members.rest = Buffer.concat([...rest, Buffer.from('}')])
  return members
}

function textIn(values: Values, name: string): string | null {
  const bytes = values.get(name)
  if (bytes === undefined) return null
  if (bytes[0] !== quote) throw invalid(name, 'is no text')
  return stringAt(bytes, 0, bytes.length)
}

function uuidIn(values: Values, name: string): Uuid | null {
  const text = textIn(values, name)
  if (text === null || text === '') return null
  const id = readUuid(text)
  if (id === undefined) throw invalid(name, 'is no UUID')
  return id
}

function timeIn(values: Values, name: string): number | null {
  const bytes = values.get(name)
  if (bytes === undefined) return null
  const us = readTimeUs(bytes.length < 100 ? JSON.parse(bytes.toString()) : undefined)
  if (us === undefined) throw invalid(name, 'is no time')
  return us
}

function invalid(name: string, what: string): HeddleError {
  return new HeddleError('invalid', `${name} ${what}.`)
}

function isNull(bytes: Buffer): boolean {
  return bytes[0] === letterN
}

function isEmpty(bytes: Buffer | undefined): boolean {
  return bytes !== undefined && bytes.length < 100 &&
    /^(?:\{\s*\}|\[\s*\])$/.test(bytes.toString('latin1'))
}
