/** Replays over stores in memory, with processes that do what a test says. */

import type { RunRow } from '../../../../proto/gen/storage/v1/row.ts'
import type { ModelPrice } from '../../../../src/api/index.ts'
import { replaysOver } from '../../../../src/deployment/index.ts'
import type { MemberReplays, Replay, ReplaysParts } from '../../../../src/deployment/index.ts'
import type { Execution, ExecutionListener } from '../../../../src/graph/index.ts'
import type { ReplayReport } from '../../../../src/graph/replay/replay-report.ts'
import { encodeBlock } from '../../../../src/graph/recording/recording.ts'
import { labelText } from '../../../../src/graph/recording/run-label.ts'
import type { StatelessRun } from '../../../../src/graph/recording/stateless-run.ts'
import { HeddleError } from '../../../../src/errors.ts'
import type { ReplayBegin } from '../../../../src/thread/index.ts'
import { systemEnv } from '../../../../cluster/index.ts'
import { eventually } from '../../../support/eventually.ts'
import { memoryCatalogs } from '../../../support/memory-catalogs.ts'
import { memoryDeployments } from '../../../support/memory-deployments.ts'
import { memoryDocuments } from '../../../support/memory-documents.ts'
import { recordedCall } from '../../graph/replay/recorded-calls.ts'

/** The report of a replay in which all went well. */
export const quiet: ReplayReport = { answered: 1, moved: [], missing: [], recordedTokens: [],
  tokens: [], stop: null }

/** Ends an execution with these values and this report. */
export function endWith(listener: ExecutionListener, values: object,
  report: Partial<ReplayReport> = {}, waiting = false): void {
  void listener.steps({ steps: [],
    events: [{ name: 'values', json: JSON.stringify(values), valuesOf: '', durable: false }] })
  listener.ended({ status: 'success', waiting, interrupts: '{}', error: null,
    replay: JSON.stringify({ ...quiet, ...report }) })
}

/** Stops an execution at a call that was not recorded. */
export function stopAtCall(listener: ExecutionListener, report: Partial<ReplayReport> = {}): void {
  const asked = { site: { step: 1, nodes: ['ask'] }, method: 'POST', url: 'https://a.example',
    text: 'x' }
  endWith(listener, {}, { ...report, stop: { kind: 'call', asked, recorded: null } })
}

/** What a process does with an execution. */
export type Does = (revision: string, execution: Execution, listener: ExecutionListener) => void

/** Replays of a deployment with recorded runs. */
export class ReplayWorld {
  readonly env = systemEnv({ level: 'silent' })
  readonly catalogs = memoryCatalogs(this.env)
  readonly documents = memoryDocuments()
  readonly records = memoryDeployments().records
  /** Runs, newest first, by their ids. */
  readonly runs = new Map<string,
    Partial<ReplayBegin> & { readonly isCut?: boolean; readonly isRecorded?: boolean;
      readonly isGone?: boolean; /** Starts of which calls are recorded; by default the first. */
      readonly recorded?: readonly number[] }>()
  /** Recordings of stateless runs whose threads are gone, by the ids of the runs. */
  readonly stateless = new Map<string,
    Partial<StatelessRun> & { readonly parts?: number; readonly isCut?: boolean }>()
  /** Revisions of processes that were started, in order. */
  readonly started: string[] = []
  /** Executions, as `r1 run`. */
  readonly executed: string[] = []
  readonly kept: string[] = []
  /** Awaited while an experiment is kept. */
  beforeKept: (id: string) => Promise<unknown> = () => Promise.resolve()
  /** The head of each thread, packed; empty for none. */
  head = ''
  /** Nodes that the recorded runs have left: those that wait for a person have some. */
  next: readonly string[] = []
  /** Prices of models. */
  prices: readonly ModelPrice[] = []
  /** Of the questions for blocks. */
  readonly limits: (number | undefined)[] = []
  open = 0
  does: Does = (_revision, _execution, listener) => endWith(listener, { a: 1 })
  refused: string | undefined
  members = new Set(['m1'])

  /** The replays of a member, or of one that has started anew. */
  member(self = 'm1'): MemberReplays {
    return replaysOver(this.#parts(self))
  }

  /** The deployment, with revisions r1 and r2. */
  async deployment() {
    const deployment = await this.records.create({ name: 'shop', tenant: 'acme' } as never)
    return deployment
  }

  async ended(replays: MemberReplays, deployment: Parameters<MemberReplays['get']>[0],
    { id }: Pick<Replay, 'id'>) {
    return await eventually(async () => {
      const seen = await replays.get(deployment, id)
      if (seen.replay.phase === 'running') throw new Error('It is under way.')
      return seen
    })
  }

  #parts(self: string): ReplaysParts {
    return {
      env: this.env,
      prices: { list: async () => this.prices },
      catalogs: this.catalogs,
      documents: this.documents,
      records: { revision: async (_, name) => ({ name, state: 'ready' }) as never },
      self: () => self,
      isMember: (id) => this.members.has(id),
      keep: async ({ id }) => {
        this.kept.push(id)
        await this.beforeKept(id)
        return { id, discard: async () => void this.kept.splice(this.kept.indexOf(id), 1) }
      },
      runIndex: {
        search: async () => ({ next: undefined,
          rows: [...this.runs].map(([runId, { status = 'success', revision = 'r1' }]) =>
            ({ threadId: `t-${runId}`, runId, status, revision,
              planJson: '{"graphId":"agent"}' }) as unknown as RunRow
          ) }),
      },
      recordings: {
        labelledRecordings: async ({ limit }) =>
          [...this.stateless].slice(0, limit).map((
            [runId, { status = 'success', revision = 'r1' }],
          ) => ({ startedAtMs: 1,
            label: labelText({ runId, graphId: 'agent', revision, status })! })
          ),
        recordedBlocks: async ({ runId, limit }) => {
          this.limits.push(limit)
          const own = this.stateless.get(runId)
          if (own) return await statelessBlocks(runId, own)
          const { isCut = false, isRecorded = true, recorded = [1] } = this.runs.get(runId) ?? {}
          return await Promise.all(
            (isRecorded ? recorded : []).map((start) =>
              encodeBlock({ runId, threadId: '', graphId: 'agent', attempt: 1, start, no: 0,
                startedAtMs: start, isLast: true, isCut, node: '',
                calls: [recordedCall(0, `start ${start}`)] })
            ),
          )
        },
      },
      threads: {
        replayBase: async (_tenant, _thread, runId, { kind }) => {
          const { isCut: _c, isRecorded: _r, recorded: _s, isGone, ...begin } =
            this.runs.get(runId) ?? {}
          if (isGone || this.stateless.has(runId)) throw new HeddleError('not_found')
          return kind === 'begin' ? { begin: { ...usual, ...begin } } : { packed: this.head }
        },
        state: async () => JSON.stringify({ values: { a: 1 }, next: this.next }),
      },
      serving: { openReplay: async (_, revision) => {
        if (revision === this.refused) throw new HeddleError('graph_failed', 'It is broken.')
        this.started.push(revision)
        this.open += 1
        return {
          graph: { describe: (graphId: string) => ({ graphId }) as never,
            execute: (execution, _source, listener) => {
              this.executed.push(`${revision} ${execution.runId}`)
              this.does(revision, execution, listener)
            } },
          close: async () => void (this.open -= 1),
        }
      } },
    }
  }
}

const usual: ReplayBegin = { graphId: 'agent', headId: null, startedAtMs: 1, status: 'success',
  errorJson: '', finalCheckpointId: 'c1', starts: 1, revision: 'r1',
  request: { kind: 'run', input: '{}', command: null, asked: null, config: '{}', context: null,
    streamModes: ['values'], streamSubgraphs: false, interruptBefore: null, interruptAfter: null,
    durability: 'async', checkpoint: null, emitted: [] } }

/** A block for each of its parts. Only the last one has the run, unless that did not fit. */
async function statelessBlocks(runId: string,
  { parts = 1, isCut = false, ...run }: Partial<StatelessRun> & { readonly parts?: number;
    readonly isCut?: boolean }): Promise<readonly Uint8Array[]> {
  const whole: StatelessRun = { revision: 'r1', request: usual.request as StatelessRun['request'],
    status: 'success', error: null, values: '{"a":1}', ...run }
  return await Promise.all(
    Array.from({ length: parts },
      (_, part) =>
        encodeBlock({ runId, threadId: runId, graphId: 'agent', attempt: 1, no: 0, isLast: true,
          isCut, startedAtMs: part + 1, node: '', calls: [recordedCall(0, `part ${part}`)],
          ...!isCut && part === 0 && { run: Buffer.from(JSON.stringify(whole)) } })),
  )
}
