/** The subgraphs of a run and how each of them stands, as the records of its log say. Pure. */

import { namespaceAround } from '../../checkpoint/index.ts'
import type { RecordOf } from '../../checkpoint/index.ts'

/** A subgraph that is `running` stands as its run does. */
export interface SubgraphStatus {
  readonly ns: string
  readonly status: 'running' | 'completed' | 'failed' | 'interrupted'
}

/** The graph of a run and its subgraphs; `isCut` if there may be more. */
export interface RunGraphs {
  readonly graphId: string
  readonly graphs: readonly SubgraphStatus[]
  readonly isCut: boolean
}

/** Subgraphs of a run that are named. */
export const subgraphsMax = 1_000

/** Takes the records of a log in order. A subgraph is known by its first checkpoint. */
export class GraphFold {
  readonly #runId: string
  readonly #graphs = new Map<string, SubgraphStatus['status']>()
  /** Running subgraphs, by the namespace of the graph around them. */
  readonly #inside = new Map<string, Set<string>>()
  /** Runs of a thread write one after another: writes are those of the run that was named last. */
  #isOwn: boolean
  #isCut: boolean

  /** `isBegun`: the run began before the first record that is taken. */
  constructor(runId: string, isBegun: boolean) {
    this.#runId = runId
    this.#isOwn = isBegun
    this.#isCut = isBegun
  }

  get answer(): Omit<RunGraphs, 'graphId'> {
    return { graphs: [...this.#graphs].map(([ns, status]) => ({ ns, status })), isCut: this.#isCut }
  }

  take(records: readonly RecordOf[]): void {
    for (const { $case, value } of records) {
      if ($case === 'runStarted') this.#isOwn = value.runId === this.#runId
      if ($case === 'checkpoint' && value.runId === this.#runId) this.#checkpoint(value.ns)
      if ($case === 'writes' && this.#isOwn && value.effect === undefined) {
        this.#taskEnded(value.ns, value.taskId, value.writes.map(({ channel }) => channel))
      }
    }
  }

  /** The superstep of a graph is done: none of its tasks has failed, and none asks. */
  #checkpoint(ns: string): void {
    for (const inner of this.#inside.get(ns) ?? []) this.#graphs.set(inner, 'completed')
    this.#inside.delete(ns)
    if (ns !== '') this.#running(ns)
  }

  #running(ns: string): void {
    if (this.#graphs.size >= subgraphsMax && !this.#graphs.has(ns)) {
      this.#isCut = true
      return
    }
    this.#graphs.set(ns, 'running')
    const around = namespaceAround(ns)
    const inside = this.#inside.get(around) ?? new Set()
    this.#inside.set(around, inside.add(ns))
  }

  #taskEnded(around: string, taskId: string, channels: readonly string[]): void {
    const inside = this.#inside.get(around)
    const ended = [...inside ?? []].filter((ns) => ns.endsWith(`:${taskId}`))
    for (const ns of ended) {
      inside!.delete(ns)
      this.#graphs.set(ns, statusAfter(channels))
    }
  }
}

function statusAfter(channels: readonly string[]): SubgraphStatus['status'] {
  if (channels.includes('__error__')) return 'failed'
  return channels.includes('__interrupt__') ? 'interrupted' : 'completed'
}
