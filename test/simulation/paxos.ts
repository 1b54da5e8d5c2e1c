/**
 * A compare-and-set as Cassandra does it: prepare, propose and commit over the replicas of one
 * partition. What only one replica accepted may be completed by the next proposer.
 */

import { compareCells } from './cql.ts'
import type { Cell, Change } from './cql.ts'
import { mergedRow } from './merge.ts'
import { nodeNumbers, once, quorum } from './network.ts'
import type { Network } from './network.ts'
import { textOf } from './replica.ts'
import type { Mutation, PaxosState, StoredCells } from './replica.ts'

export interface Swap {
  readonly changes: readonly Change[]
  /** The changes, once it is known when they happen. */
  mutation(timestamp: bigint): Mutation
  readonly partition: readonly Cell[]
  /** The key of the row that the condition is about. */
  readonly key: readonly Cell[]
}

export type SwapOutcome = { readonly applied: boolean; readonly found: StoredCells | undefined }

export interface PaxosOptions {
  readonly network: Network
  readonly coordinator: number
  readonly swap: Swap
  readonly timeoutMs: number
  /** Whether it waits for a quorum to have committed. */
  readonly commitsSurely: boolean
  /** Undefined if the outcome is unknown. */
  done(outcome: SwapOutcome | undefined): void
}

interface Refused {
  readonly refusedFor: number
}

interface Promised {
  readonly refusedFor: undefined
  readonly node: number
  readonly accepted: PaxosState['accepted']
  readonly committed: PaxosState['committed']
  readonly current: StoredCells | undefined
}

export function compareAndSet(options: PaxosOptions): void {
  const { network: { world }, timeoutMs } = options
  const done = once(options.done)
  world.after(timeoutMs, () => done(undefined))
  new Round({ ...options, done }, () => done.done).prepare(0)
}

class Round {
  readonly #options: PaxosOptions
  readonly #ended: () => boolean

  constructor(options: PaxosOptions, ended: () => boolean) {
    this.#options = options
    this.#ended = ended
  }

  prepare(floor: number): void {
    if (this.#ended()) return
    const { network, coordinator, swap } = this.#options
    const ballot = network.ballot(coordinator, floor)
    const promises: Promised[] = []
    let highest = ballot
    const go = once(() => this.#go(ballot, promises.slice(0, quorum)))
    const again = once(() => this.#again(highest))
    let refusals = 0
    for (const node of nodeNumbers) {
      network.ask(coordinator, node, (replica): Promised | Refused => {
        const state = this.#stateAt(node)
        if (ballot <= state.promised) return { refusedFor: state.promised }
        state.promised = ballot
        const question = { table: swap.changes[0]!.table, columns: everyColumn, where: [],
          times: new Map(), reversed: false, limit: Infinity, highest: false }
        const rows = replica.read(question).get(textOf(swap.partition))?.rows
        const current = rowOf(rows, swap.key)
        const { accepted, committed } = state
        return { refusedFor: undefined, node, accepted, committed, current }
      }, (answer) => {
        if (answer.refusedFor !== undefined) {
          highest = Math.max(highest, answer.refusedFor)
          if (++refusals === quorum) again()
        } else if (promises.push(answer) === quorum) go()
      })
    }
  }

  #go(ballot: number, promises: readonly Promised[]): void {
    const committed = newest(promises.map((each) => each.committed))
    const accepted = newest(promises.map((each) => each.accepted))
    if (accepted && accepted.ballot > (committed?.ballot ?? 0)) {
      // Another proposer did not finish this one: complete it first.
      this.#propose(ballot, accepted.mutation, () => this.prepare(ballot))
      return
    }
    const behind = promises.filter((each) =>
      (each.committed?.ballot ?? 0) <
        (committed?.ballot ?? 0)
    )
    if (behind.length > 0) {
      this.#commit(committed!, behind.map(({ node }) => node), behind.length, () =>
        this.#decide(ballot, promises, committed))
    } else this.#decide(ballot, promises, committed)
  }

  #decide(ballot: number, promises: readonly Promised[], committed: PaxosState['committed']): void {
    if (this.#ended()) return
    const { swap, done } = this.#options
    const { table } = swap.changes[0]!
    const known = committed?.mutation.rows.find((row) => sameKey(row.key, swap.key))
    const rows = [...promises.map(({ current }) => current), known]
    const found = mergedRow(rows.filter((row) => row !== undefined))
    if (!matches(swap.changes, found)) return done({ applied: false, found })
    const mutation = { ...swap.mutation(BigInt(ballot)), table }
    this.#propose(ballot, mutation, () => done({ applied: true, found }))
  }

  #propose(ballot: number, mutation: Mutation, decided: () => void): void {
    const { network, coordinator, done } = this.#options
    let accepts = 0
    let refusals = 0
    for (const node of nodeNumbers) {
      network.ask(coordinator, node, () => {
        const state = this.#stateAt(node)
        if (ballot < state.promised) return false
        state.promised = ballot
        state.accepted = { ballot, mutation }
        return true
      }, (accepted) => {
        if (accepted) accepts++
        else refusals++
        if (accepted && accepts === quorum) {
          const { commitsSurely } = this.#options
          const decision = { ballot, mutation }
          if (commitsSurely) this.#commit(decision, nodeNumbers, quorum, decided)
          else this.#commitLater(decision, decided)
        }
        if (refusals === nodeNumbers.length) this.#again(ballot)
        else if (refusals >= quorum) done(undefined)
      })
    }
  }

  #commit(decision: NonNullable<PaxosState['committed']>, nodes: readonly number[], needed: number,
    committed: () => void): void {
    const { network, coordinator } = this.#options
    let acknowledged = 0
    for (const node of nodes) {
      network.ask(coordinator, node, (replica) => {
        const state = this.#stateAt(node)
        replica.apply(decision.mutation)
        if ((state.committed?.ballot ?? 0) < decision.ballot) state.committed = decision
        if ((state.accepted?.ballot ?? 0) <= decision.ballot) state.accepted = undefined
      }, () => {
        if (++acknowledged === needed) committed()
      }, true)
    }
  }

  /** One node commits now, the others some time later. */
  #commitLater(decision: NonNullable<PaxosState['committed']>, decided: () => void): void {
    const { world } = this.#options.network
    const [first, ...others] = world.chance.shuffled(nodeNumbers)
    this.#commit(decision, [first!], 1, decided)
    world.after(world.chance.between(100, 2_000), () => this.#commit(decision, others, 1, () => {}))
  }

  #again(floor: number): void {
    const { world } = this.#options.network
    world.after(world.chance.between(2, 30), () => this.prepare(floor))
  }

  #stateAt(node: number): PaxosState {
    const { network, swap } = this.#options
    return network.replicas[node]!.paxos(swap.changes[0]!.table, swap.partition)
  }
}

/** The columns of rows with conditions. */
const everyColumn = ['state', 'address', 'started', 'fenced_by', 'epoch', 'session', 'name',
  'value']

function rowOf(rows: readonly StoredCells[] | undefined, key: readonly Cell[]):
  | StoredCells
  | undefined {
  return rows?.find((row) => sameKey(row.key, key))
}

function sameKey(a: readonly Cell[], b: readonly Cell[]): boolean {
  return a.every((cell, i) => compareCells(cell, b[i]) === 0)
}

function newest<Decision extends { readonly ballot: number }>(
  decisions: readonly (Decision | undefined)[],
): Decision | undefined {
  return decisions.reduce((best, each) => ((each?.ballot ?? 0) > (best?.ballot ?? 0) ? each : best),
    undefined)
}

function matches(changes: readonly Change[], found: StoredCells | undefined): boolean {
  return changes.every(({ condition }) => {
    if (condition === undefined) return true
    if (condition === 'absent') return found === undefined
    return found !== undefined &&
      condition.every(({ column, value }) =>
        compareCells(found.cells.get(column)?.value, value) === 0
      )
  })
}
