/** Writes an experiment that ran elsewhere: its examples, then its runs with their scores. */

import { FairSemaphore } from '../../../../../cluster/index.ts'
import { HeddleError } from '../../../../errors.ts'
import { namedId } from '../../../records/catalog/named-id.ts'
import type { ExampleWrites } from '../example-calls.ts'
import { experimentIn, runOf } from './experiment-upload.ts'
import type { ExperimentForm, ExperimentRow, ExperimentWrites } from './experiment-upload.ts'
import type { Uuid } from '../../../spans/span.ts'
import type { RawFeedback } from '../../../ingest/body/request-body.ts'
import { ingestOperations } from '../../../ingest/ingest-request.ts'
import type { OperationsJob, RequestParts } from '../../../ingest/ingest-request.ts'
import { inTurn } from '../../../calls/in-turn.ts'
import type { BodyJob, LongBodies } from '../../../calls/long-bodies.ts'

/** Experiments that are read or written at once: each has a body in memory. */
const atOnce = { inAll: 2, each: 1, waiting: 200, waitingEach: 20,
  full: 'Too many experiments wait to be written: send this one again in a moment.' } as const
/** Rows that are written together. */
const rowsOfWrite = 250
/** Bytes from which on a body is read where it holds up nobody. */
const longBytes = 64 * 1024

/** A long body with an experiment, for a thread that reads it. */
export interface ExperimentJob extends BodyJob {
  readonly kind: 'experiment'
  readonly formOnly: boolean
}

/** Dependencies of the calls that write experiments, with the reader of long bodies. */
export interface ExperimentParts extends RequestParts {
  readonly longBodies: LongBodies<OperationsJob | ExperimentJob>
}

/** The handlers of `ExperimentWrites`, for at most two experiments at once. */
export function experimentWrites(parts: ExperimentParts,
  { ensureExamples }: Pick<ExampleWrites, 'ensureExamples'>): ExperimentWrites {
  const turns = new FairSemaphore(atOnce)
  return {
    readExperiment: ({ tenant, body }) =>
      inTurn(turns, tenant, async () => (await read(parts, tenant, { body, formOnly: true })).form),
    addExperiment: ({ tenant, dataset, project, body }) =>
      inTurn(turns, tenant, async () => {
        const { form, rows } = await read(parts, tenant, { body, formOnly: false })
        await ensureExamples({ tenant, dataset, examples: examplesOf(rows) })
        for (let at = 0; at < rows.length; at += rowsOfWrite) {
          await writeRows(parts, { tenant, project, at, rows: rows.slice(at, at + rowsOfWrite) })
        }
        const feedback = form.scores.map((score, index) =>
          feedbackOf(score, namedId('uploadedRun', `${project} summary ${index}`), {
            session_id: project,
          })
        )
        await write(parts, tenant, { operations: [], feedback })
      }),
  }
}

async function read({ longBodies }: ExperimentParts, tenant: string,
  { body, formOnly }: Omit<ExperimentJob, 'kind'>) {
  if (body.byteLength < longBytes) {
    return experimentIn(Buffer.from(body.buffer, body.byteOffset, body.byteLength))
  }
  let form: ExperimentForm | undefined
  const rows: ExperimentRow[] = []
  for await (const part of longBodies.read(tenant, { kind: 'experiment', body, formOnly })) {
    if (form === undefined) form = part as ExperimentForm
    else rows.push(...part as ExperimentRow[])
  }
  return { form: form!, rows }
}

/** Each example once: it may have several runs. */
function examplesOf(rows: readonly ExperimentRow[]) {
  return [...new Map(rows.map((row) => [row.id, row])).values()].map((
    { id, inputs, expected },
  ) => ({
    id,
    said: { inputs: Buffer.from(inputs),
      ...expected !== null && { outputs: Buffer.from(expected) } },
  }))
}

async function writeRows(parts: RequestParts, { tenant, project, at, rows }: {
  readonly tenant: string
  readonly project: Uuid
  /** The place of the first row among all. */
  readonly at: number
  readonly rows: readonly ExperimentRow[]
}): Promise<void> {
  const runs = rows.map((row, index) => ({ row,
    id: namedId('uploadedRun', `${project} ${at + index}`) })
  )
  await write(parts, tenant, {
    operations: runs.map(({ row, id }) => runOf(row, { id, project })),
    feedback: runs.flatMap(({ row: { scores }, id }) =>
      scores.map((score, index) =>
        feedbackOf(score, namedId('uploadedRun', `${id} score ${index}`), { run_id: id,
          trace_id: id, session_id: project })
      )
    ),
  })
}

function feedbackOf(score: string, id: Uuid, place: Readonly<Record<string, string>>): RawFeedback {
  return { id, json: Buffer.from(JSON.stringify({ ...JSON.parse(score) as object, ...place, id })) }
}

/** All was checked before, so that nothing is rejected but what is deleted meanwhile. */
async function write(parts: RequestParts, tenant: string,
  said: Pick<Parameters<typeof ingestOperations>[2], 'operations' | 'feedback'>): Promise<void> {
  const call = { tenant, form: 'batch', contentType: 'application/json' } as const
  const { rejected: [first] } = await ingestOperations(parts, call, { ...said, files: [],
    rejected: [] })
  if (first !== undefined) throw new HeddleError('not_found', first.reason)
}
