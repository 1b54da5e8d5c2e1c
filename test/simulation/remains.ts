/** What the store holds of lists at the end, whether or not it can still be reached. */

import { ThreadRow } from '../../proto/gen/storage/v1/row.ts'
import { keyspace } from './cassandra.ts'
import type { SimulatedCassandra, SimulatedRow } from './cassandra.ts'
import { itemsIn } from './list-actor.ts'

export class Remains {
  readonly #rows: ReadonlyMap<string, ThreadRow>
  /** By list and run. */
  readonly #runs: ReadonlySet<string>
  /** By branch: where its log ends, apart from rows that deposed owners left. */
  readonly #ends: ReadonlyMap<string, number>
  /** By branch: the last row that a copy needs. */
  readonly #needed: ReadonlyMap<string, number>
  /** Branches that need others. */
  readonly #needy: ReadonlySet<string>
  /** Branches that are marked as dead: rows of them are needed, or a release has not ended. */
  readonly #marked: ReadonlySet<string>

  constructor(cassandra: SimulatedCassandra) {
    const all = (table: string, columns: string) =>
      cassandra.stored(`SELECT ${columns} FROM ${keyspace}.${table}`)
    this.#rows = new Map(
      all('thread_row', 'thread_id, body')
        .map((row) => [row['thread_id'] as string, ThreadRow.decode(row['body'] as Uint8Array)]),
    )
    const runKey = (row: SimulatedRow) => keyOf(row['thread_id'] as string, row['run_id'] as string)
    this.#runs = new Set(
      all('run', 'thread_id, run_id').map(runKey),
    )
    const log = all('log', 'branch_id, seq, epoch').filter(({ epoch }) => (epoch as bigint) > 0n)
    const upwards = log.sort((a, b) =>
      Number(a['epoch']) - Number(b['epoch'])
      || Number(a['seq']) - Number(b['seq'])
    )
    this.#ends = new Map(upwards.map((row) => [row['branch_id'] as string, Number(row['seq'])]))
    const needs = all('branch_need', 'ancestor, branch, through')
      .sort((a, b) => Number(a['through']) - Number(b['through']))
    this.#needed = new Map(
      needs.map((need) => [need['ancestor'] as string, Number(need['through'])]),
    )
    this.#needy = new Set(needs.map(({ branch }) => branch as string))
    this.#marked = new Set(
      all('branch', 'branch_id, dead').flatMap(({ branch_id: id, dead }) =>
        dead === true ? [id as string] : []
      ),
    )
  }

  /** The life in the row of the list. */
  lifeOf(list: string): string | undefined {
    return this.#rows.get(list)?.branch?.id
  }

  /** What is wrong with the row of a list whose current life is this one. */
  wrongRow(list: string, life: string, items: readonly string[]): string | undefined {
    const row = this.#rows.get(list)
    if (row === undefined) return 'it has no row'
    if (row.branch?.id !== life) return `its row is one of ${row.branch?.id}, not of ${life}`
    const [had, has] = [itemsIn(row.metadataJson).join(), items.join()]
    return had === has ? undefined : `its row has ${had}, it has ${has}`
  }

  hasRun(list: string, run: string): boolean {
    return this.#runs.has(keyOf(list, run))
  }

  /** What is still stored of a life that has ended and not needed by any copy. */
  ofDead(life: string): string | undefined {
    if (this.#needy.has(life)) return `the life ${life} is over and still needs another`
    const [end, needed] = [this.#ends.get(life) ?? 0, this.#needed.get(life) ?? 0]
    return end <= needed || (this.#marked.has(life) && this.#someUnmade)
      ? undefined
      : `${end} rows are stored of the life ${life}, which is over; ${needed} are needed`
  }

  /**
   * Whether a member died while it took back a copy that it had not made. Nobody else knows of such
   * a copy: docs/invariants.md says what is left.
   */
  get #someUnmade(): boolean {
    return [...this.#marked].some((branch) => !this.#ends.has(branch))
  }
}

function keyOf(list: string, run: string): string {
  return `${list}\n${run}`
}
