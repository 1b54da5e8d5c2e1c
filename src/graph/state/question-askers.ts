/** The subgraphs that ask the questions of a thread, as the saver of an execution sees them. */

import type { CheckpointPendingWrite } from '@langchain/langgraph-checkpoint'

/** Name of the channel in which the engine keeps questions. */
export const interruptChannel = '__interrupt__'

/**
 * Namespaces by interrupt id. The engine writes a question in the graph that asked it and then in
 * each graph around that one: the innermost has the longest namespace.
 */
export class QuestionAskers {
  #byId: Map<string, string> | undefined

  /** Takes what a subgraph wrote on the channel of questions. */
  see(ns: string, value: unknown): void {
    const byId = this.#byId ??= new Map<string, string>()
    for (const { id } of interruptsIn(value)) {
      if (id !== undefined && ns.length > (byId.get(id) ?? '').length) byId.set(id, ns)
    }
  }

  /** Takes the writes that wait on a checkpoint of a subgraph. */
  seeAll(ns: string, writes: readonly CheckpointPendingWrite[]): void {
    for (const [, channel, value] of writes) if (channel === interruptChannel) this.see(ns, value)
  }

  /** Those of the given interrupts that a subgraph asked; empty if the root asked all. */
  of(interrupts: readonly unknown[]): { readonly askers?: Readonly<Record<string, string>> } {
    const byId = this.#byId
    if (byId === undefined) return {}
    const found = interruptsIn(interrupts).flatMap(({ id = '' }) => {
      const ns = byId.get(id)
      return ns === undefined ? [] : [[id, ns] as const]
    })
    return found.length > 0 ? { askers: Object.fromEntries(found) } : {}
  }
}

function interruptsIn(value: unknown): { readonly id?: string }[] {
  return [value].flat(2).filter((each) => typeof each === 'object' && each !== null)
}
