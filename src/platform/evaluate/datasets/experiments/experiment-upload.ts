/**
 * An experiment that ran elsewhere, in one body: a dataset, its examples, their runs, and scores.
 * Inputs and outputs stay as they came.
 */

import { createHash } from 'node:crypto'

import { HeddleError } from '../../../../errors.ts'
import { isObject, itemsAt, jsonIn, visitMembers } from '../../../../json/index.ts'
import { configIn, feedbackOf } from '../../../records/feedback/feedback-row.ts'
import type { RawOperation } from '../../../ingest/body/request-body.ts'
import { readOperation } from '../../../ingest/operation.ts'
import type { Uuid } from '../../../spans/span.ts'
import { readTimeUs } from '../../../spans/time.ts'
import { readUuid } from '../../../../uuid-bytes.ts'
import { readable } from '../example-body.ts'
import type { DatasetPlace } from '../example-place.ts'

/** Rows of an experiment, scores of a row, scores in all, and keys with a configuration. */
const [rowsMax, rowScoresMax, scoresMax, configsMax] = [10_000, 100, 50_000, 100]
/** Characters of names, of descriptions, and of the metadata of the experiment. */
const [nameMax, descriptionMax, metadataMax] = [1_000, 10_000, 48 * 1024]

/** Members of an uploaded experiment besides its rows: its name, times, dataset and scores. */
export interface ExperimentForm {
  readonly name: string
  readonly description: string | null
  readonly startMs: number
  readonly endMs: number
  /** JSON of an object. */
  readonly metadataJson: string
  readonly dataset: { readonly id: Uuid | null; readonly name: string | null;
    readonly description: string | null }
  /** JSON of each score of the experiment as a whole. */
  readonly scores: readonly string[]
  /** Configuration of each feedback key, from the scores that give one; 100 keys at most. */
  readonly configs: readonly { readonly feedback_key: string;
    readonly feedback_config: Readonly<Record<string, unknown>> }[]
  /** The same for a body that is sent again. */
  readonly content: string
}

/** One example and its run. Values are JSON texts, as they came. */
export interface ExperimentRow {
  readonly id: Uuid
  readonly inputs: string
  readonly expected: string | null
  readonly actual: string | null
  readonly metadata: string | null
  /** Members of the run: its name, its error and its times. */
  readonly run: Readonly<Record<string, unknown>>
  readonly scores: readonly string[]
}

/** Calls to the ingest thread that read and write a whole experiment. */
export interface ExperimentWrites {
  /** Reads the body without its rows; the rows are checked too. */
  readExperiment(
    call: { readonly tenant: string; readonly body: Uint8Array },
  ): Promise<ExperimentForm>
  /** Sent again for the same project, nothing is there twice. */
  addExperiment(
    call: DatasetPlace & { readonly project: Uuid; readonly body: Uint8Array },
  ): Promise<void>
}

/** The form and the rows. All is checked. Throws `malformed`, `invalid` or `too_large`. */
export function experimentIn(
  body: Buffer,
): { readonly form: ExperimentForm; readonly rows: readonly ExperimentRow[] } {
  const members = membersOf('The body', readable(() => jsonIn(body)))
  const whole = new Members('', members)
  const name = whole.text('experiment_name', nameMax) ?? missing('experiment_name')
  const configs = new Map<string, Readonly<Record<string, unknown>>>()
  const counted = { scores: 0 }
  const results = listOf('results', members.get('results') ?? missing('results'), rowsMax)
  const rows = results.map((json, index) =>
    rowOf(`results[${index}]`, json, { name, configs, counted })
  )
  requireSame(rows)
  const scores = scoresIn('summary_experiment_scores', members.get('summary_experiment_scores'), {
    configs,
    counted,
  })
  const dataset = { id: whole.uuid('dataset_id'), name: whole.text('dataset_name', nameMax),
    description: whole.text('dataset_description', descriptionMax) }
  if (dataset.id === null && !dataset.name?.trim()) throw wrong('dataset_name', 'it or dataset_id')
  const times = { startMs: whole.timeMs('experiment_start_time'),
    endMs: whole.timeMs('experiment_end_time') }
  if (times.endMs < times.startMs) throw wrong('experiment_end_time', 'a time after its start')
  return { rows,
    form: { name, ...times, dataset, scores,
      description: whole.text('experiment_description', descriptionMax),
      metadataJson: whole.object('experiment_metadata', metadataMax) ?? '{}',
      configs: [...configs].map(([key, config]) => ({ feedback_key: key,
        feedback_config: config })
      ), content: createHash('sha256').update(body).digest('hex') } }
}

/** The run of a row: a root, with the id and the project that it gets. */
export function runOf({ id: example, inputs, actual, metadata, run }: ExperimentRow,
  { id, project }: { readonly id: Uuid; readonly project: Uuid }): RawOperation {
  const parts = { inputs, outputs: actual, extra: metadata && `{"metadata":${metadata}}` }
  return {
    kind: 'post',
    id,
    main: Buffer.from(
      JSON.stringify({ ...run, run_type: 'chain', trace_id: id, session_id: project,
        reference_example_id: example }),
    ),
    apart: new Map(
      Object.entries(parts).flatMap(([name, text]) =>
        text === null ? [] : [[name, Buffer.from(text)] as const]
      ),
    ),
  }
}

interface RowParts {
  readonly name: string
  readonly configs: Map<string, Readonly<Record<string, unknown>>>
  readonly counted: { scores: number }
}

function rowOf(place: string, json: Buffer, parts: RowParts): ExperimentRow {
  const members = membersOf(place, json)
  const own = new Members(`${place}.`, members)
  const error = own.text('error', Infinity)
  const row: ExperimentRow = {
    id: own.uuid('row_id') ?? missing(`${place}.row_id`),
    inputs: own.object('inputs') ?? missing(`${place}.inputs`),
    expected: own.object('expected_outputs'),
    actual: own.object('actual_outputs'),
    metadata: own.object('run_metadata'),
    run: { name: own.text('run_name', nameMax) || parts.name, ...error !== null && { error },
      start_time: own.time('start_time'), end_time: own.time('end_time') },
    scores: scoresIn(`${place}.evaluation_scores`, members.get('evaluation_scores'), parts),
  }
  // What cannot be taken in is refused before anything is written.
  try {
    readOperation(runOf(row, { id: row.id, project: row.id }))
  } catch (error) {
    const { code, message } = HeddleError.from(error)
    throw new HeddleError(code, `${place}: ${message}`)
  }
  return row
}

function scoresIn(place: string, json: Buffer | undefined,
  { configs, counted }: Omit<RowParts, 'name'>): readonly string[] {
  return (json === undefined ? [] : listOf(place, json, rowScoresMax)).map((each, index) => {
    if (++counted.scores > scoresMax) {
      throw new HeddleError('too_large', `An experiment may have ${scoresMax} scores.`)
    }
    const text = each.toString()
    const score: unknown = JSON.parse(text)
    if (!isObject(score)) throw wrong(`${place}[${index}]`, 'an object')
    try {
      feedbackOf('', { ...score, id: anyId, run_id: anyId }, 0)
    } catch (error) {
      throw HeddleError.from(error).code !== 'invalid'
        ? error
        : new HeddleError('invalid', `${place}[${index}].${HeddleError.from(error).message}`)
    }
    const config = configIn(score)
    if (config && configs.size < configsMax) configs.set(String(score['key']), config)
    return text
  })
}

const anyId = '00000000-0000-4000-8000-000000000000'

/** An example may have several runs, all with the same inputs and outputs expected. */
function requireSame(rows: readonly ExperimentRow[]): void {
  const known = new Map<Uuid, ExperimentRow>()
  for (const row of rows) {
    const { inputs, expected } = known.get(row.id) ?? row
    if (inputs !== row.inputs || expected !== row.expected) {
      throw wrong(`results: row_id ${row.id}`, 'the same inputs and expected_outputs each time')
    }
    known.set(row.id, row)
  }
}

type Values = ReadonlyMap<string, Buffer>

/** Members of an object as bytes. Nulls are left out. */
function membersOf(place: string, json: Buffer): Values {
  if (json[0] !== '{'.charCodeAt(0)) throw wrong(place, 'an object')
  const members = new Map<string, Buffer>()
  readable(() =>
    visitMembers(json, ({ name, from, to }) => {
      const value = json.subarray(from, to)
      if (!value.equals(nothing)) members.set(name, value)
    })
  )
  return members
}

const nothing = Buffer.from('null')

function listOf(place: string, json: Buffer, max: number): readonly Buffer[] {
  if (json[0] !== '['.charCodeAt(0)) throw wrong(place, 'a list')
  const items: Buffer[] = []
  for (const { from, to } of itemsAt(json, 0)) {
    if (items.length === max) throw new HeddleError('too_large', `${place}: there may be ${max}.`)
    items.push(json.subarray(from, to))
  }
  return items
}

/** Reads members, and names those that are wrong. */
class Members {
  readonly #prefix: string
  readonly #values: Values

  constructor(prefix: string, values: Values) {
    this.#prefix = prefix
    this.#values = values
  }

  text(name: string, max: number): string | null {
    const value = this.#parsed(name)
    if (value === null) return null
    if (typeof value === 'string' && value.length <= max) return value
    throw wrong(this.#prefix + name,
      max === Infinity ? 'a text' : `a text of up to ${max} characters`)
  }

  uuid(name: string): Uuid | null {
    const value = this.#parsed(name)
    if (value === null) return null
    return readUuid(value) ?? fail(wrong(this.#prefix + name, 'a UUID'))
  }

  /** The time as it was sent. */
  time(name: string): unknown {
    const value = this.#parsed(name)
    if (value !== null && readTimeUs(value) !== undefined) return value
    throw wrong(this.#prefix + name, 'a time')
  }

  timeMs(name: string): number {
    return Math.floor(readTimeUs(this.time(name))! / 1_000)
  }

  /** The JSON of an object. */
  object(name: string, max = Infinity): string | null {
    const value = this.#values.get(name)
    if (value === undefined) return null
    if (value[0] === '{'.charCodeAt(0) && value.length <= max) return value.toString()
    throw wrong(this.#prefix + name,
      max === Infinity ? 'an object' : `an object of up to ${max / 1024} KB`)
  }

  #parsed(name: string): unknown {
    const value = this.#values.get(name)
    return value === undefined ? null : JSON.parse(value.toString()) as unknown
  }
}

function missing(field: string): never {
  throw new HeddleError('invalid', `${field}: it is missing.`)
}

function wrong(field: string, expected: string): HeddleError {
  return new HeddleError('invalid', `${field}: expected ${expected}.`)
}

function fail(error: HeddleError): never {
  throw error
}
