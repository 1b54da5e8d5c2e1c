/**
 * A simulated world of replays: a thread of production with its log, a model, and revisions on
 * which its runs are replayed.
 */

import { systemEnv } from '../../../cluster/index.ts'
import { ReplayProcesses } from '../../../src/deployment/replay/replay-processes.ts'
import { replayRun } from '../../../src/deployment/replay/replay-run.ts'
import type { ReplayRunParts } from '../../../src/deployment/replay/replay-run.ts'
import type { ReplayProcess } from '../../../src/deployment/serving/serving.ts'
import type { RunVerdict } from '../../../src/deployment/replay/replay-record.ts'
import type { CheckpointSource, Execution, ExecutionListener,
  ExecutionOutcome } from '../../../src/graph/index.ts'
import { encodeBlock } from '../../../src/graph/recording/recording.ts'
import type { RecordedCall } from '../../../src/graph/recording/recording.ts'
import { ReplayGate } from '../../../src/graph/replay/replay-gate.ts'
import type { ThreadContext } from '../../../src/thread/context/thread-context.ts'
import { replayBase } from '../../../src/thread/queries/replay-base.ts'
import { recordedCall } from '../../unit/graph/replay/recorded-calls.ts'
import { settled, ThreadHouse } from '../../support/thread-house.ts'
import type { Scripted } from '../../support/scripted-host.ts'
import type { Chance } from '../chance.ts'
import { execute, siteOf } from './replayed-graph.ts'
import type { Code, Order } from './replayed-graph.ts'
import type { ReplayRuleName } from './replay-rule.ts'

/** What happened in a world. */
export interface ReplayOutcome {
  readonly findings: readonly string[]
  /** Runs with a verdict, by the verdict. */
  readonly verdicts: Readonly<Record<string, number>>
}

interface Ran {
  readonly runId: string
  readonly order: Order
  /** Steps in which it asked. */
  readonly asked: Set<number>
  readonly calls: RecordedCall[]
}

const [tenant, threadId] = ['t', 'thread']
/** Nothing takes so long. */
const limitMs = 600_000
const url = 'https://model.example.org/v1'
const compared: readonly string[] = ['same', 'same_result', 'diverged', 'fixed', 'failed']

/** Simulates a world, without one of the rules if it is named. */
export async function simulateReplays(chance: Chance,
  without?: ReplayRuleName): Promise<ReplayOutcome> {
  const world = new ReplayWorld(chance, without)
  try {
    await world.produce()
    return await world.replay()
  } finally {
    world.close()
  }
}

class ReplayWorld {
  readonly #chance: Chance
  readonly #without: ReplayRuleName | undefined
  readonly #house = new ThreadHouse()
  readonly #runs: Ran[] = []
  /** State at each checkpoint with which a run may have ended. */
  readonly #values = new Map<string, string>()
  #asked = 0
  #ids = 0

  constructor(chance: Chance, without: ReplayRuleName | undefined) {
    this.#chance = chance
    this.#without = without
  }

  close(): void {
    this.#house.dueWakes?.close()
    this.#house.expiries?.close()
  }

  /** Runs follow each other on the thread. Some wait already while the one before goes on. */
  async produce(): Promise<void> {
    const count = 2 + this.#chance.below(3)
    for (let at = 0; at < count; at++) {
      if (this.#runs.length <= at) await this.#begin()
      const scripted = this.#house.host.only
      if (at + 1 < count && this.#chance.flip(0.4)) await this.#begin()
      await this.#perform(this.#runs[at]!, scripted)
    }
  }

  /** Replays each run on a revision that is the same, or asks something else in one step. */
  async replay(): Promise<ReplayOutcome> {
    const findings: string[] = []
    const verdicts: Record<string, number> = {}
    const [before, rows] = [this.#asked, this.#house.log.rows.length]
    const code = { changedStep: this.#chance.below(3) }
    for (const ran of this.#runs) {
      const verdict = await this.#verdictOn(ran, code)
      verdicts[verdict.verdict] = (verdicts[verdict.verdict] ?? 0) + 1
      findings.push(...faultsOf(ran, code, verdict))
    }
    if (this.#asked > before) findings.push(`${this.#asked - before} calls left a replay`)
    if (this.#house.log.rows.length > rows) findings.push('rows of production are new')
    return { findings, verdicts }
  }

  async #begin(): Promise<void> {
    const order = { text: `order ${this.#runs.length}`, steps: 1 + this.#chance.below(3),
      fails: this.#chance.flip(0.3), isFlaky: this.#chance.flip(0.3) }
    const run = this.#house.run({ kwargs: { input: order } })
    this.#runs.push({ runId: run.runId, order, asked: new Set(), calls: [] })
    await this.#house.client.startRun(tenant, threadId, run)
    await settled()
  }

  /** Executes a run in production, and records its calls. */
  async #perform(ran: Ran, { execution, source, listener }: Scripted): Promise<void> {
    const outcome = await execute({ changedStep: 0 }, execution, source, {
      ask: async (step, request) => {
        ran.asked.add(step)
        const answer = this.#answer()
        ran.calls.push(
          recordedCall(ran.calls.length, request, { url, site: siteOf(step),
            answer: { bytes: answer.length, chunks: [Buffer.from(answer)], isCut: false } }),
        )
        return answer
      },
      put: async (steps, events) => {
        for (const step of steps) {
          if (step.$case !== 'checkpoint') continue
          const state = events.find(({ name }) => name === 'values')
          this.#values.set(step.value.id, state?.json ?? '{"log":[]}')
        }
        // Some rows have several steps.
        const landed = listener.steps({ steps, events })
        if (this.#chance.flip(0.7)) await landed
      },
      newId: () => this.#newId(),
    })
    this.#house.host.running.delete(execution.id)
    listener.ended(outcome)
    await settled()
  }

  /** The model answers otherwise each time. */
  #answer(): string {
    return `answer ${++this.#asked}`
  }

  #newId(): string {
    return `c${String(++this.#ids).padStart(8, '0')}`
  }

  async #verdictOn({ runId }: Ran, code: Code): Promise<RunVerdict> {
    const signal = new AbortController().signal
    const processes = new ReplayProcesses({ limitMs, signal, env: systemEnv(),
      deployment: {} as never, serving: {
        openReplay: (_, revision) =>
          Promise.resolve(this.#process(revision === 'next' ? code : { changedStep: 0 })),
      } })
    try {
      const { verdict } = await replayRun(this.#parts(), processes, { revision: 'next', sample: 1,
        graphId: null, sinceMs: null, limitMs, controls: this.#without !== 'control_first' }, {
        tenant,
        threadId,
        runId,
      })
      return verdict
    } finally {
      await processes.close()
    }
  }

  #parts(): ReplayRunParts {
    return {
      price: (_, usage) => usage,
      recordings: { labelledRecordings: async () => [], recordedBlocks: async ({ runId }) => {
        const { calls } = this.#runs.find((ran) => ran.runId === runId)!
        return [
          await encodeBlock({ runId, threadId, graphId: 'agent', attempt: 1, no: 0, startedAtMs: 1,
            isLast: true, isCut: false, node: '', calls }),
        ]
      } },
      threads: {
        replayBase: async (_tenant, _thread, runId, reading) => {
          const { tables, log, reads } = this.#house
          const [row, run] = await Promise.all([tables.threads.get(tenant, threadId),
            tables.runs.get(tenant, threadId, runId)])
          const context = { tenant, ports: { log, reads },
            threadLog: { state: { row }, durable: Promise.resolve() } } as unknown as ThreadContext
          const last = (await log.tail(row!.branch!))!.seq
          return await replayBase(context,
            this.#without === 'as_of_start' && reading.kind !== 'begin'
              ? { ...run!, firstSeq: last, runId: '', starts: 1 }
              : run!, reading)
        },
        state: (_tenant, _thread, { checkpointId }) =>
          Promise.resolve(`{"values":${this.#values.get(checkpointId ?? '')}}`),
      },
    }
  }

  #process(code: Code): ReplayProcess {
    return {
      graph: { describe: (graphId) => ({ graphId }) as never,
        execute: (execution, source, listener) =>
          void this.#execute(code, execution, source, listener) },
      close: () => Promise.resolve(),
    }
  }

  /** Executes a replay as its worker does: a call that is held ends it. */
  async #execute(code: Code, execution: Execution, source: CheckpointSource,
    listener: ExecutionListener): Promise<void> {
    const gate = new ReplayGate(execution.replay!, (text) => text)
    const outcome = await Promise.race([
      execute(code, execution, source, {
        ask: async (step, request) => {
          const body = Buffer.from(request)
          const decision = await gate.decide({ id: 1, client: 'fetch', method: 'POST', url,
            headers: [], body: { length: body.length, read: () => Promise.resolve(body) },
            site: { ...siteOf(step), checkpointNs: '', checkpointId: '', taskId: 'task' } })
          if (decision.kind === 'answer') return await textOf(decision.answer.body)
          if (decision.kind === 'pass' || this.#without === 'no_port') return this.#answer()
          return await new Promise<never>(() => {})
        },
        put: (steps, events) => listener.steps({ steps, events }),
        newId: () => this.#newId(),
      }),
      gate.stopped.then((): ExecutionOutcome => ({ status: 'error', waiting: false,
        interrupts: '{}', error: { error: 'ReplayStopped', message: 'It was stopped.' } })
      ),
    ])
    listener.ended({ ...outcome, replay: JSON.stringify(await gate.ended()) })
  }
}

async function textOf(body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** What a verdict says that is not so. */
function faultsOf({ order, asked }: Ran, { changedStep }: Code,
  { verdict, step, reason }: RunVerdict): string[] {
  const said = `${order.text}: ${verdict} at ${step}, ${reason}`
  // Without a call nothing of it can differ.
  if (order.isFlaky && asked.size > 0) return compared.includes(verdict) ? [`flaky ${said}`] : []
  const isChanged = asked.has(changedStep)
  if (isChanged) return verdict === 'diverged' && step === changedStep ? [] : [`changed ${said}`]
  return verdict === 'same' ? [] : [`unchanged ${said}`]
}
