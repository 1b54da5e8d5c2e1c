/** A model of Cassandra for the store: three replicas, quorums, read repair, and failures. */

import { Interpreter, marker } from './cql.ts'
import type { Cell, Change, Question, TableShape } from './cql.ts'
import { merged } from './merge.ts'
import { Network, nodeNumbers, once, quorum } from './network.ts'
import { compareAndSet } from './paxos.ts'
import type { SwapOutcome } from './paxos.ts'
import type { Mutation, PartitionRows, StoredCells } from './replica.ts'
import type { World } from './world.ts'

export const keyspace = 'simulated'

/** Behaviour of Cassandra that removing a rule can switch off. */
export interface CassandraHabits {
  readonly readRepair: boolean
  /** The end of a session is committed on a quorum before it is answered. */
  readonly fenceOnQuorum: boolean
}

export interface Query {
  readonly cql: string
  readonly params: readonly Cell[]
  /** The driver's timestamp, for changes that have none of their own. */
  readonly stamp: bigint
}

/**
 * timeout      it may have been done, or may be done later
 * unavailable  nothing was sent to a replica
 */
export type Failure = 'timeout' | 'unavailable'

export interface Result {
  readonly rows: readonly SimulatedRow[]
  readonly pageState: string | null
}

export type Answer = Result | Failure

const writeTimeoutMs = 800
const readTimeoutMs = 800
const swapTimeoutMs = 1_200
/** After this time a read asks the third replica as well. */
const speculateMs = 40

/** Columns are properties, as in a row of the driver. */
export class SimulatedRow {
  [column: string]: unknown

  constructor(columns: readonly (readonly [string, Cell])[]) {
    for (const [name, value] of columns) this[name] = value ?? null
  }

  keys(): string[] {
    return Object.keys(this)
  }
}

const empty: Result = { rows: [], pageState: null }

export class SimulatedCassandra {
  readonly world: World
  readonly network: Network
  readonly #habits: CassandraHabits
  readonly #interpreter = interpreter

  constructor(world: World, habits: CassandraHabits) {
    this.world = world
    this.network = new Network(world)
    this.#habits = habits
  }

  /** A page of a read. */
  read(node: number, query: Omit<Query, 'stamp'>,
    page: { readonly size: number; readonly state?: string },
    answer: (answer: Answer) => void): void {
    const question = this.#interpreter.question(query.cql, query.params)
    const limit = Math.min(question.limit, page.size + 1)
    const after = page.state === undefined ? undefined : decodeKey(page.state)
    this.#read(node, { ...question, limit }, after, (partitions) => {
      if (typeof partitions === 'string') return answer(partitions)
      const all = partitions.flatMap(({ partition, rows }) =>
        rows.map((row) => ({ partition, row }))
      )
      if (question.highest) return answer({ rows: [highestOf(question, all)], pageState: null })
      const seen = all.slice(0, page.size)
      answer({
        rows: seen.map(({ partition, row }) => rowFor(question, partition, row)),
        pageState: all.length > page.size && question.limit > page.size
          ? encodeKey(seen.at(-1)!.row.key)
          : null,
      })
    })
  }

  /** The merged rows of a table on all replicas, read by the test directly and in no time. */
  stored(cql: string): SimulatedRow[] {
    const question = this.#interpreter.question(cql, [])
    const answers = this.network.replicas.map((replica) => replica.read(question))
    return merged(answers, question).partitions.flatMap(({ partition, rows }) =>
      rows.map((row) => rowFor(question, partition, row))
    )
  }

  /** All of them change one partition. */
  change(node: number, queries: readonly Query[], answer: (answer: Answer) => void): void {
    const changes = queries.map(({ cql, params, stamp }) => {
      const change = this.#interpreter.change(cql, params)
      return { ...change, timestamp: change.timestamp ?? stamp }
    })
    if (changes.some(({ condition }) => condition !== undefined)) {
      return this.#swap(node, changes, answer)
    }
    this.#write(node, mutationOf(changes), answer)
  }

  #write(node: number, mutation: Mutation, received: (answer: Answer) => void): void {
    const { network, world } = this
    const answer = once(received)
    if (this.#tooFew(node)) return answer('unavailable')
    let acknowledged = 0
    for (const each of nodeNumbers) {
      network.ask(node, each, (replica) => replica.apply(mutation), () => {
        if (++acknowledged === quorum) answer(empty)
      }, true)
    }
    world.after(writeTimeoutMs, () => answer('timeout'))
  }

  #read(node: number, question: Question, after: readonly Cell[] | undefined,
    received: (answer: readonly PartitionRows[] | Failure) => void): void {
    const { network, world } = this
    const answer = once(received)
    if (this.#tooFew(node)) return answer('unavailable')
    const said: { node: number; found: ReadonlyMap<string, PartitionRows> }[] = []
    const ask = (each: number) =>
      network.ask(node, each, (replica) => replica.read(question, after), (found) => {
        if (said.push({ node: each, found }) === quorum) this.#merge(node, question, said, answer)
      })
    const order = world.chance.shuffled(nodeNumbers)
    for (const each of order.slice(0, quorum)) ask(each)
    world.after(speculateMs, () => {
      if (said.length < quorum) ask(order[quorum]!)
    })
    world.after(readTimeoutMs, () => answer('timeout'))
  }

  #merge(node: number, question: Question,
    said: readonly { node: number; found: ReadonlyMap<string, PartitionRows> }[],
    answer: (partitions: readonly PartitionRows[]) => void): void {
    const two = said.slice(0, quorum)
    const { partitions, repairs } = merged(two.map(({ found }) => found), question)
    const behind = two.flatMap((each, i) =>
      repairs[i]!.map((mutation) => ({ node: each.node, mutation }))
    )
    if (behind.length === 0 || !this.#habits.readRepair || !question.table.readRepair) {
      return answer(partitions)
    }
    let repaired = 0
    for (const { node: each, mutation } of behind) {
      this.network.ask(node, each, (replica) => replica.apply(mutation), () => {
        if (++repaired === behind.length) answer(partitions)
      })
    }
  }

  #swap(coordinator: number, changes: readonly Change[], received: (answer: Answer) => void): void {
    const answer = once(received)
    if (this.#tooFew(coordinator)) return answer('unavailable')
    const { table } = changes[0]!
    const { partition, rows: [row] } = mutationOf(changes, 0n)
    compareAndSet({
      network: this.network,
      coordinator,
      timeoutMs: swapTimeoutMs,
      commitsSurely: this.#habits.fenceOnQuorum || !changes.some(isFence),
      swap: { changes, partition, key: row!.key,
        mutation: (timestamp) => mutationOf(changes, timestamp) },
      done: (outcome) =>
        answer(outcome === undefined
          ? 'timeout'
          : { rows: [swapRow(table, partition, changes, outcome)], pageState: null }),
    })
  }

  /** Whether the coordinator notices that it reaches too few replicas; it does only sometimes. */
  #tooFew(node: number): boolean {
    const reached = nodeNumbers.filter((each) => each === node || this.network.reaches(node, each))
    return reached.length < quorum && this.world.chance.flip(0.6)
  }
}

/** Shared by all worlds: it has no state. */
const interpreter = new Interpreter(keyspace)

function mutationOf(changes: readonly Change[], timestamp?: bigint): Mutation {
  const { table } = changes[0]!
  const valueIn = ({ values }: Change, column: string) =>
    values.find(([name]) => name === column)?.[1]
  const partition = table.partition.map((column) => valueIn(changes[0]!, column))
  const stampOf = (change: Change) => {
    const stamp = timestamp ?? change.timestamp
    if (stamp === undefined) throw new Error('a plain write has a timestamp of its own')
    return stamp
  }
  const graves = changes.flatMap((
    change,
  ) => (change.range ? [{ range: change.range, timestamp: stampOf(change) }] : []))
  const rows = changes.filter(({ range }) => range === undefined).map((change): StoredCells => {
    const stamp = stampOf(change)
    const keys = [...table.partition, ...table.clustering]
    const cells = change.values.filter(([name, value]) =>
      !keys.includes(name) &&
      value !== undefined
    )
    const all = change.inserts ? [[marker, true] as const, ...cells] : cells
    return {
      key: table.clustering.map((column) => valueIn(change, column)),
      cells: new Map(all.map(([name, value]) => [name, { value, timestamp: stamp }])),
    }
  })
  return { table, partition, rows, graves }
}

function rowFor({ table, columns, times }: Question, partition: readonly Cell[],
  { key, cells }: StoredCells): SimulatedRow {
  return new SimulatedRow(columns.map((column) => {
    const timed = times.get(column)
    if (timed !== undefined) {
      const cell = cells.get(timed)
      return [column, cell?.value == null ? null : cell.timestamp]
    }
    const [inPartition, inKey] = [table.partition.indexOf(column), table.clustering.indexOf(column)]
    if (inPartition >= 0) return [column, partition[inPartition]]
    if (inKey >= 0) return [column, key[inKey]]
    return [column, cells.get(column)?.value]
  }))
}

/** An empty row if there are no rows. */
function highestOf({ columns }: Question,
  all: readonly { readonly row: StoredCells }[]): SimulatedRow {
  const [column] = columns as [string]
  const values = all.map(({ row }) => row.cells.get(column)?.value as bigint)
  const highest = values.length === 0 ? null : values.reduce((a, b) => (b > a ? b : a))
  return new SimulatedRow([[column, highest]])
}

function swapRow({ partition: names }: TableShape, partition: readonly Cell[],
  changes: readonly Change[], { applied, found }: SwapOutcome): SimulatedRow {
  if (applied || found === undefined) return new SimulatedRow([['[applied]', applied]])
  const [{ condition } = {}] = changes
  const seen = condition === 'absent' || condition === undefined
    ? [...names.map((name, i) => [name, partition[i]] as const),
      ...[...found.cells].filter(([name]) => name !== marker)
        .map(([name, { value }]) => [name, value] as const)]
    : condition.map(({ column }) => [column, found.cells.get(column)?.value] as const)
  return new SimulatedRow([['[applied]', false], ...seen])
}

function isFence({ values }: Change): boolean {
  return values.some(([column]) => column === 'fenced_by')
}

function encodeKey(key: readonly Cell[]): string {
  return JSON.stringify(key.map((cell) => typeof cell === 'bigint' ? { big: String(cell) } : cell))
}

function decodeKey(state: string): Cell[] {
  return (JSON.parse(state) as unknown[]).map((cell) => (typeof cell === 'object' && cell !== null
    ? BigInt((cell as { big: string }).big)
    : cell as Cell)
  )
}
